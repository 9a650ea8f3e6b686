"""X-1: whatever a machine is told, the core accepts the log that its outputs refine to, and every law holds of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.observe.projector_trace import ProjectorTrace
from turncheck.model.checking import oracle as interpreter
from turncheck.model.checking.alphabet import Letter, letters
from turncheck.model.checking.explore import Violation, explore
from turncheck.model.checking.refinement import Core, acceptance
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.proof_roles import ProofRoles, Refine
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Emit, Output
from turncheck.model.machines.registry import PROOF_ROLES

REFINED = {name: roles for name, roles in PROOF_ROLES.items() if roles.refine}
ON_TRACES = [law for law in selected(["projector"]) if law.kind == "log"]
SETTINGS = settings(max_examples=40, deadline=None, database=None, derandomize=True)
RUN = st.integers(min_value=0, max_value=10_000)


def policies(tables: Mapping[str, Any]) -> Policies:
    return Policies(while_active=tables.get("while_active", "followUp"))


def logged(roles: ProofRoles, tables: Mapping[str, Any], word: Sequence[int]) -> tuple[str, list[dict[str, Any]]]:
    """The state after a word, and its log. The word numbers the letters; three of four are none that is ignored."""
    assert roles.refine is not None
    stepper, log, told = Stepper(roles.machine, tables), [], {}
    alphabet = letters(roles, tables)
    for at, number in enumerate(word):
        now = [letter.now(stepper.context.registers) for letter in alphabet]
        heard = [one for one in now if {*stepper.row(one.symbol, one.event).effects} - {*roles.run.ignores}]
        chosen = heard if number % 4 else now
        letter = chosen[number // 4 % len(chosen)]
        told[at] = letter.event
        stepper.take(letter.symbol, letter.event, at)
        log += roles.refine(stepper.outputs, told)
    return stepper.state, log


@pytest.mark.parametrize("name", REFINED)
def test_long_runs_are_accepted_and_every_law_holds_of_them(name: str) -> None:
    roles = REFINED[name]

    @SETTINGS
    @given(st.sampled_from(roles.tables), st.lists(RUN, min_size=100, max_size=200))
    def holds(tables: Mapping[str, Any], word: list[int]) -> None:
        state, log = logged(roles, tables, word)
        events = tuple(map(judge, log))
        observed = project(events, policies(tables))
        allowed = set() if state in roles.machine.final else {"truncated"}
        assert {anomaly.kind for anomaly in observed.anomalies} <= allowed
        trace = ProjectorTrace(events, policies(tables), observed, interpreter.project(events, policies(tables)))
        found = [(law.name, item) for law in ON_TRACES for item in law.judge(trace)]
        assert [(law, item) for law, item in found if isinstance(item, Finding)] == []

    holds()


@pytest.mark.parametrize("name", REFINED)
def test_long_runs_reach_closed_cycles(name: str) -> None:
    """Else the theorem would be vacuous."""
    roles = REFINED[name]
    closed: list[int] = []

    @SETTINGS
    @given(st.lists(RUN, min_size=100, max_size=200))
    def count(word: list[int]) -> None:
        _, log = logged(roles, roles.tables[0], word)
        closed.append(sum(event["type"] == "run-stop" for event in log))

    count()
    assert max(closed) >= 3


@pytest.mark.parametrize("name", REFINED)
def test_the_log_shows_what_the_theorems_speak_of(name: str) -> None:
    """Work comes from the outputs that the roles name, calls from those that make them, and a stop from an end."""
    roles = REFINED[name]
    refine = roles.refine
    assert refine is not None
    emits = {one: effect.output for one, effect in roles.machine.effects.items() if isinstance(effect, Emit)}
    ends = {emits[one] for one in roles.run.ends}
    work: set[str] = set()
    made: set[str] = set()
    stops: set[str] = set()

    def look(_: Any, __: Row, outputs: Sequence[Output], told: Mapping[int, Any]) -> None:
        for output in outputs:
            events = refine([output], told)
            work.update(output.name for event in events if event["type"] in {"agent-output", "tool-result"})
            made.update(output.name for event in events if event.get("kind") == "tool-call")
            stops.update(output.name for event in events if event["type"] == "run-stop")

    for tables in roles.tables:
        explore(
            roles.machine,
            tables,
            letters=letters(roles, tables),
            bound=1,
            unbounded_counters=roles.unbounded_counters,
            beside=look,
        )
    assert work == {*roles.run.logged}
    assert made == {*roles.calls.makes}
    assert stops == ends


def rewritten(refine: Refine, change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Refine:
    """A refinement with other events in the place of each."""
    return lambda outputs, told: [made for event in refine(outputs, told) for made in change(event)]


def is_(event: dict[str, Any], kind: str) -> bool:
    return bool(event["type"] == kind)


WRONG: dict[str, tuple[str, Callable[[dict[str, Any]], list[dict[str, Any]]]]] = {
    "stops twice": ("outside-run", lambda event: [event] * (2 if is_(event, "run-stop") else 1)),
    "never stops": ("a run is open", lambda event: [] if is_(event, "run-stop") else [event]),
    "loses the result": ("unanswered-call", lambda event: [] if is_(event, "tool-result") else [event]),
    "doubles the result": ("duplicate-result", lambda event: [event] * (2 if is_(event, "tool-result") else 1)),
    "loses the call": ("unknown-call", lambda event: [] if event.get("kind") == "tool-call" else [event]),
    "says no text": ("malformed", lambda event: [{key: event[key] for key in event if key != "text"}]),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", REFINED)
def test_a_wrong_refinement_is_refuted(name: str, wrong: str) -> None:
    roles, (says, change) = REFINED[name], WRONG[wrong]
    assert roles.refine is not None
    tables = roles.tables[0]
    beside = acceptance(roles.machine, rewritten(roles.refine, change), policies(tables))
    found = explore(
        roles.machine,
        tables,
        letters=letters(roles, tables),
        unbounded_counters=roles.unbounded_counters,
        beside=beside,
        start=Core(),
    )
    assert found.violation is not None
    assert says in found.violation.promise


def test_a_second_terminal_in_a_row_is_refuted_by_the_shortest_path() -> None:
    roles = PROOF_ROLES["engine"]
    assert roles.refine is not None
    rows = [
        [*row[:5], [*(row[5] or ()), "done_interrupted"]] if row[0] == "provider-error" else row
        for row in roles.machine.table
    ]
    machine = replace(roles.machine, table=rows)
    found = explore(machine, roles.tables[0], beside=acceptance(machine, roles.refine), start=Core())
    assert found.violation == Violation(
        "X-1: outside-run at {'type': 'run-stop', 'reason': 'interrupted', 'detail': 'client gone'}",
        ("provider-error(message=red)",),
    )


def test_the_core_beside_a_machine_keeps_no_positions() -> None:
    core = Core().after({"type": "user-message", "text": "one"}, Policies())
    called = core.after({"type": "agent-output", "kind": "tool-call", "callId": "c", "tool": "ls"}, Policies())
    assert called == Core("active", frozenset({("c", False)}), 0)


def test_the_core_beside_a_machine_says_what_it_does_not_accept() -> None:
    with pytest.raises(ValueError, match="X-1: outside-run"):
        Core().after({"type": "run-stop", "reason": "completed"}, Policies())


def test_a_letter_shows_what_its_registers_hold() -> None:
    roles = PROOF_ROLES["conversation"]
    given_ = letters(roles, roles.tables[0])
    answer: Letter = next(letter for letter in given_ if letter.symbol == "model-stop")
    assert answer.now({"asked": 7}).event.answers == 7
