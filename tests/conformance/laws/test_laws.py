"""Laws on projectors: they never raise, on any observation, and never alarm at a right one."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.protocol.collator import COLLATOR_CAPABILITIES
from turncheck.adapters.protocol.messages import (
    CAPABILITIES,
    DEPTH_POLICY,
    RUNTIME_CAPABILITIES,
    RUNTIME_POLICIES,
    SYSTEM_POLICY,
    Profile,
)
from turncheck.adapters.protocol.projector import read_projection
from turncheck.adapters.targets.reference_projector import PROFILE
from turncheck.conformance.generation.logs import cases
from turncheck.conformance.laws.law import Finding, LawsOn, Witness
from turncheck.conformance.laws.projector.subject import Experiment
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.observe.projector_trace import ProjectorTrace
from turncheck.conformance.verify.subjects.projector import without
from turncheck.conformance.verify.subjects.subject import missing
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import VALUES, Policies
from turncheck.model.core.projection import project
from turncheck.model.core.provider_limits import BACKOFF, SHARE
from turncheck.model.machines.registry import MACHINES

VIEWS = [frozenset(views) for views in (("steps", "rounds"), ("steps",), ("rounds",), ())]
FAR = 10**30
ODD = (-FAR, -70, -2, -1, 0, 1, 2, 5, 70, FAR)


def projected(events, policies):
    return project([judge(event) for event in events], policies)


def laid_over(parts):
    """The events of parts of which each begins at a position, where an earlier part may have been already."""
    log: list[Any] = []
    for start, part in parts:
        log[start:] = part
    return log


def experiment(case, first, views):
    """Of a target that yields *first* for the log, and is right about all others."""

    def observe(events):
        return first if events == case.log else without(projected(events, case.policies), views)

    return Experiment(
        log=case.log,
        policies=case.policies,
        cuts=case.cuts,
        first=first,
        observe=observe,
        elsewhere=observe,
        declared=lambda: first,
        fed=lambda parts, asking: observe([event for part in parts for event in part]),
        fed_from=lambda parts: observe(laid_over(parts)),
        input_changed=lambda: False,
    )


def judged(case, observed, views=VIEWS[0]):
    events = tuple(map(judge, case.log))
    trace = ProjectorTrace(events, case.policies, observed, without(projected(case.log, case.policies), views), views)
    for law in selected(["projector"]):
        if law.kind == "relation":
            yield from ((law.name, item) for item in law.judge(experiment(case, observed, views)))
        elif not missing(law, Profile(("projector",), tuple(views))):
            yield from ((law.name, item) for item in law.judge(trace))


@st.composite
def weird(draw, projection):
    """The projection as JSON with a few values changed, doubled, left out or swapped."""
    value = msgspec.to_builtins(projection)
    for _ in range(draw(st.integers(1, 4))):
        spots = list(_spots(value))
        if spots:
            holder, key = draw(st.sampled_from(spots))
            _change(draw, holder, key)
    return value


def _spots(value):
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _spots(inner)


def _change(draw, holder, key):
    old = holder[key]
    if isinstance(old, list):
        holder[key] = draw(st.sampled_from([[], old + old, old[::-1], old[1:]]))
    elif isinstance(old, int) or old is None:
        holder[key] = draw(st.sampled_from(ODD))
        if key in ("stop", "reason", "text", "result"):
            holder[key] = draw(st.sampled_from([None, *ODD]) if key != "reason" else st.sampled_from([None, "error"]))
    elif isinstance(old, str) and key in ("kind", "reason"):
        others = ("direct", "followUp") if old in ("direct", "followUp") else ("completed", "interrupted", "error")
        holder[key] = draw(st.sampled_from(others)) if "at" not in holder else old
    elif isinstance(holder, list):
        holder.insert(draw(st.integers(0, len(holder))), old)


def read(value):
    """Read a projection as the adapter reads a target's answer."""
    return read_projection(msgspec.Raw(msgspec.json.encode(value)), PROFILE)


@given(st.data(), cases())
@settings(max_examples=100, deadline=None, database=None)
def test_no_law_raises_on_a_weird_projection(data, case):
    observed = read(data.draw(weird(projected(case.log, case.policies))))
    assert all(isinstance(item, Finding | Witness) for _, item in judged(case, observed))


@given(st.data(), cases())
@settings(max_examples=60, deadline=None, database=None)
def test_whatever_is_changed_in_a_projection_breaks_a_law(data, case):
    right = projected(case.log, case.policies)
    observed = read(data.draw(weird(right)))
    broken = {name for name, item in judged(case, observed) if isinstance(item, Finding)}
    assert bool(broken) == (observed != right)


@given(cases())
@settings(max_examples=60, deadline=None, database=None)
def test_no_law_alarms_at_the_reference_whichever_views_it_has(case):
    right = projected(case.log, case.policies)
    found = [
        (views, name, item)
        for views in VIEWS
        for name, item in judged(case, without(right, views), views)
        if isinstance(item, Finding)
    ]
    assert found == []


def test_a_projection_of_another_log_breaks_laws_and_raises_nothing():
    @given(cases(), cases())
    @settings(max_examples=60, deadline=None, database=None)
    def swapped(case, other):
        found = projected(other.log, other.policies)
        broken = any(isinstance(item, Finding) for _, item in judged(case, found))
        assert broken == (found != projected(case.log, case.policies))

    swapped()


def test_every_law_names_its_clauses_and_its_evidence():
    assert [law.name for law in LAWS.values() if not (law.clauses and law.evidence and law.says)] == []


def known_needs():
    """Each need that a profile can meet, as laws write it."""
    policies = (*RUNTIME_POLICIES, *VALUES, SYSTEM_POLICY, DEPTH_POLICY, BACKOFF, SHARE)
    named = [*(f"policy {name}" for name in policies), *(f"machine {name}" for name in MACHINES)]
    return {
        *CAPABILITIES,
        *RUNTIME_CAPABILITIES,
        *COLLATOR_CAPABILITIES,
        "machine",
        "input any",
        *(f"policy {name}={value}" for name, values in RUNTIME_POLICIES.items() for value in values),
        *named,
    }


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_law_needs_what_a_profile_can_declare(law):
    assert {one for need in law.needs for one in need.split(" or ")} <= known_needs()


def test_the_changelog_names_each_law_that_came_after_the_first_version():
    changes = (Path(__file__).parents[3] / "CHANGELOG.md").read_text("utf-8")
    assert [law.name for law in LAWS.values() if law.since != "0.1" and f"`{law.name}`" not in changes] == []


def test_a_law_is_declared_by_its_function():
    @LawsOn("log", "log")("Z-1", evidence="an event", needs=("feed",), since="7.1")
    def nothing_is_lost(_):
        """Nothing is lost.

        More words.
        """
        yield Witness()

    assert (nothing_is_lost.name, nothing_is_lost.says) == ("nothing-is-lost", "Nothing is lost")
    assert (nothing_is_lost.clauses, nothing_is_lost.needs, nothing_is_lost.since) == (("Z-1",), ("feed",), "7.1")
    assert [*nothing_is_lost.judge(None)] == [Witness()]


def test_laws_are_reported_in_the_order_in_which_they_are_declared():
    names = list(LAWS)
    assert names[:4] == ["total", "deterministic", "hash-seed", "one-terminal"]
    assert names.index("equals-reference") + 1 == names.index("run-never-stuck")
    assert names[-1] == "truncated"


def test_laws_on_an_empty_log_have_nothing_to_find():
    case = type("Case", (), {"log": [], "policies": Policies(), "cuts": []})
    assert [item for _, item in judged(case, Projection((), (), (), ())) if isinstance(item, Finding)] == []


def test_laws_are_selected_by_a_glob():
    assert [law.name for law in selected(["projector"], ["opaque-*"])] == ["opaque-ids", "opaque-texts"]


def test_a_glob_that_fits_no_law_is_refused():
    with pytest.raises(ValueError, match="no law on a projector is called 'truncated'"):
        selected(["projector"], ["truncated"])
