"""The machine ``turn``, all of it explored to a bound, and the theorem of X-1 with its teeth."""

from dataclasses import replace
from functools import cache

import pytest
from driven_turn import CLOSED, Driven
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.observe.projector_trace import ProjectorTrace
from turncheck.model.checking.alphabet import alphabet
from turncheck.model.checking.explore import explore
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.machines.turn import DEFAULTS, SPEC

SETTINGS = settings(max_examples=60, deadline=None, database=None, derandomize=True)
SMALL = dict(DEFAULTS, max_calls=1, max_rounds=1, token_bound=2)
"""Bounds that an exploration reaches."""


def core(value, row, outputs, *_):
    """The core as it sees the refined log: whether a run is open, how many calls are, and how many messages wait."""
    active, calls, waiting = value
    for output in outputs:
        match output.name:
            case "message" | "late-message":
                waiting += active and "keep_steer" not in row.effects
                active = True
            case "request" | "text" | "reasoning" | "call" | "result" | "failure" | "refusal" if not active:
                raise ValueError(f"outside-run: {output.name}")
            case "call":
                calls += 1
            case "result" | "failure" | "refusal":
                calls -= 1
            case "skip":
                calls -= (output.arguments[0] >= 0) + len(output.arguments[1])
            case "finish":
                if not active:
                    raise ValueError("outside-run: finish")
                if calls:
                    raise ValueError("unanswered-call")
                active, waiting = waiting > 0, max(waiting - 1, 0)
        if calls < 0:
            raise ValueError("unknown-call")
    return active, calls, waiting


def explored(spec=SPEC, bound=2):
    letters = [one for one in alphabet(spec, SMALL) if getattr(one.event, "key", None) != "blue"]
    return explore(spec, SMALL, bound=bound, letters=letters, beside=core, start=(False, 0, 0))


@cache
def everything():
    return explored()


def test_nothing_that_a_machine_is_told_breaks_a_promise_or_the_core():
    """A second terminal of a turn would (TM-3.1), and a call without its result."""
    assert everything().violation is None


def test_the_exploration_is_of_the_stated_size():
    assert (everything().states, everything().transitions) == (3605, 100940)


@pytest.mark.parametrize("name", SPEC.sometimes)
def test_what_sometimes_holds_occurs(name):
    assert name in everything().seen


def edited(event, source, change):
    """The machine with the effects of some rows changed."""

    def effects(row):
        fits = row[0] == event and source in SPEC.sources(row[1])
        return [*row[:5], change(row[5])] if fits else row

    return replace(SPEC, table=[effects(row) for row in SPEC.table])


def rerouted(effect, dest, then):
    """The machine with another end of the rows that have *effect*."""
    rows = [[*row[:2], dest, *row[3:5], then] if effect in (row[5] or ()) else row for row in SPEC.table]
    return replace(SPEC, table=rows)


DOUBLES = {
    "a turn ends twice": edited("recorded", "record", lambda then: [*then, "finish"]),
    "a recovery leaves calls unanswered": edited(
        "restart", "down", lambda then: [one for one in then if one != "skip"]
    ),
    "a timeout leaves calls unanswered": edited(
        "timeout", "execute", lambda then: [one for one in then if one != "skip"]
    ),
    "a waiting message is dropped": edited("inbound", "decide", lambda then: [one for one in then if one != "collect"]),
    "a result comes twice": edited("tool-return", "execute", lambda then: ["answer", *then]),
    "a turn works without the lock": edited("locked", "lock", lambda then: ["load"]),
    "a denied turn goes on to run its calls": rerouted("deny", "approve", ["take_call", "count_call", "approve"]),
    "a turn goes on after its terminal": edited("responded", "respond", lambda then: [*then, "finish"]),
}


@pytest.mark.parametrize("name", sorted(set(DOUBLES) - {"a waiting message is dropped"}))
def test_a_wrong_row_is_found(name):
    assert explored(DOUBLES[name], bound=1).violation is not None


# ---- X-1 on long runs ----

WORK = ("valid", "locked", "loaded", "text", "call", "model-stop", "approved", "tool-return", *CLOSED)
SYMBOLS = st.one_of(
    st.sampled_from(WORK), st.sampled_from([*WORK, "inbound", "inbound"]), st.sampled_from(sorted(SPEC.events))
)
NEXT = {
    "receive": "valid",
    "lock": "locked",
    "understand": "loaded",
    "approve": "approved",
    "execute": "tool-return",
    "respond": "responded",
    "record": "recorded",
    "down": "restart",
    "torn": "restart",
}


def long_run(spec, data, while_active):
    """A run in which every other event is the one that is waited for, and its refined log."""
    turn = Driven(spec, while_active=while_active, max_calls=3, max_rounds=3, token_bound=50)
    for _ in range(data.draw(st.integers(0, 60))):
        awaited = NEXT.get(turn.machine.state)
        symbol = awaited if awaited and data.draw(st.booleans()) else data.draw(SYMBOLS)
        number = str(len(turn.told))
        turn.tell(
            symbol,
            id=number,
            text=f"text {number}",
            delivery=data.draw(st.sampled_from([None, None, "steer", "followUp"])),
            key=data.draw(st.sampled_from([None, None, "k", "l"])),
            call_id=data.draw(st.sampled_from(["a", "b", "c"])),
            tool="read",
            decision=data.draw(st.sampled_from(["allow", "allow", "allow", "deny-call", "deny-turn"])),
            tokens=data.draw(st.sampled_from([0, 1, 50])),
        )
    return turn


def broken(turn, while_active):
    """The anomalies of the refined log and the laws that it breaks; ``truncated`` is no fault while the run goes on."""
    policies = Policies(while_active=while_active)
    events = tuple(map(judge, turn.log))
    seen = project(events, policies)
    anomalies = [one.kind for one in seen.anomalies if one.kind != "truncated"]
    trace = ProjectorTrace(events, policies, seen, seen)
    laws = [
        law.name
        for law in selected(["projector"])
        if law.kind == "log"
        for found in law.judge(trace)
        if isinstance(found, Finding)
    ]
    return anomalies + laws


@pytest.mark.parametrize("while_active", ["followUp", "steer"])
def test_every_log_that_the_machine_can_emit_is_accepted_by_the_core(while_active):
    @SETTINGS
    @given(st.data())
    def go(data):
        assert broken(long_run(SPEC, data, while_active), while_active) == []

    go()


def test_a_message_that_is_dropped_is_found_in_what_the_core_still_holds():
    @settings(SETTINGS, phases=[Phase.generate])  # that it is found counts, not the shortest run
    @given(st.data())
    def go(data):
        turn = long_run(DOUBLES["a waiting message is dropped"], data, "followUp")
        waiting = project(tuple(map(judge, turn.log)), Policies()).queued
        assert len(waiting) == len(turn.machine.context.registers["queue"])

    with pytest.raises(AssertionError):
        go()
