"""Proofs on every declared machine, for any content of its queues and counters; and edited rows that are refuted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.model.checking.alphabet import COLOURS, letters
from turncheck.model.checking.proofs import PROOFS
from turncheck.model.checking.symbolic import Refutation, Symbols, rows_of, z3
from turncheck.model.checking.theorems.theorem import prove
from turncheck.model.declaration.contexts import Slots, Symbolic
from turncheck.model.declaration.machine import NativeRow
from turncheck.model.declaration.proof_roles import CallRoles, ProofRoles
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import HISTORY, Effect, Pop, Register
from turncheck.model.machines.registry import MACHINES, PROOF_ROLES

Effects = Sequence[str]

_NO_FOLLOW_UPS = {"what-waits-is-promoted", "queued-is-never-steered"}
VACUOUS = {
    "request_cycle": {"asked-before-awaited", "rounds-bounded"},
    "event_flow": _NO_FOLLOW_UPS,
    "conversation": {*_NO_FOLLOW_UPS, "rounds-bounded", "call-ids-are-new"},
    "engine": _NO_FOLLOW_UPS,
    "collation": {*PROOFS} - {"late-changes-nothing"},
    "interaction": {"rounds-bounded", "call-ids-are-new"},
}
"""Machine → the theorems that speak of nothing that it has: 24 of 91."""


def refuted(proof: str, roles: ProofRoles) -> list[Refutation]:
    return list(PROOFS[proof].refutations(roles))


def says(proof: str, roles: ProofRoles) -> set[str]:
    """Return the refuted claims, as text."""
    return {one.claim for one in refuted(proof, roles)}


def edited(name: str, event: str, change: Mapping[str, str | None], **effects: Effect) -> ProofRoles:
    """A machine in whose rows of an event some effects are exchanged for others, or left out."""
    roles = PROOF_ROLES[name]

    def row(old: NativeRow) -> NativeRow:
        changed = [change.get(one, one) for one in old[5] or ()]
        return [*old[:5], [one for one in changed if one is not None]] if old[0] == event else old

    machine = roles.machine
    return replace(
        roles,
        machine=replace(machine, table=[*map(row, machine.table)], effects={**machine.effects, **effects}),
    )


def added(name: str, event: str, dest: str, more: Effects) -> ProofRoles:
    """A machine in whose rows of an event to a state some effects come last."""
    roles = PROOF_ROLES[name]
    table = [
        [*row[:5], [*(row[5] or ()), *more]] if (row[0], row[2]) == (event, dest) else row
        for row in roles.machine.table
    ]
    return replace(roles, machine=replace(roles.machine, table=table))


@dataclass(frozen=True)
class PopNewest(Pop):
    """Last in, first out."""

    def change(self, symbolic: Symbolic) -> None:
        queue: Slots = self.register.term(symbolic)
        symbolic.registers[self.into.name] = queue.values[queue.tail - 1]
        symbolic.registers[self.register.name] = replace(queue, tail=queue.tail - 1)


NEWEST = PopNewest(Register("queue"), into=Register("root"))


def test_every_machine_has_its_claims() -> None:
    assert MACHINES.keys() <= PROOF_ROLES.keys()


@pytest.mark.parametrize("name", PROOF_ROLES)
def test_claims_speak_of_what_the_machine_declares(name: str) -> None:
    roles = PROOF_ROLES[name]
    machine = roles.machine
    effects = {*roles.run.begins, *roles.run.ends, *(one for ways in roles.messages.taken.values() for one in ways)}
    effects |= {one for dropped in roles.messages.drops.values() for one in dropped}
    guards = {one for both in roles.run.awaited.values() for guards in both for one in guards}
    registers = {
        *roles.messages.queues,
        *roles.calls.registers,
        *roles.unbounded_counters,
        *roles.calls.single.values(),
    }
    events = {
        *roles.messages.taken,
        *roles.messages.drops,
        *roles.run.awaited,
        *(one for ones in roles.run.answers.values() for one in ones),
    }
    assert effects <= machine.effects.keys()
    assert guards | ({roles.run.closed} - {None}) <= machine.guards.keys()
    assert registers <= machine.registers.keys()
    assert events <= machine.events.keys()
    assert {
        *roles.run.active,
        *roles.run.data_dependent,
        *roles.run.answers,
        *roles.calls.empty,
        *roles.calls.single,
    } <= {*machine.states}


@pytest.mark.parametrize("proof", PROOFS)
@pytest.mark.parametrize("name", PROOF_ROLES)
def test_it_is_proved_where_there_is_something_to_prove(name: str, proof: str) -> None:
    found = prove(PROOFS[proof], PROOF_ROLES[name])
    assert found.refutations == ()
    assert found.standing == ("vacuous" if proof in VACUOUS.get(name, ()) else "proved")


def test_a_vacuous_theorem_is_not_proved() -> None:
    roles = PROOF_ROLES["request_cycle"]
    without_calls = replace(roles, calls=CallRoles())
    assert [prove(PROOFS["calls-answered"], one).standing for one in (roles, without_calls)] == ["proved", "vacuous"]


@pytest.mark.parametrize("name", PROOF_ROLES)
def test_no_row_is_ruled_out_by_what_is_assumed(name: str) -> None:
    ruled_out = [one.row for one in rows_of(PROOF_ROLES[name]) if not any(one.refute("", z3.BoolVal(val=False)))]
    assert [f"{row.source}: {row.label}" for row in ruled_out] == []


# ---- teeth: one terminal ----


def test_a_second_terminal_in_a_row_is_refuted() -> None:
    assert says("one-terminal", added("request_cycle", "run-stop", "idle", ["close"])) == {"a run ends once"}


def test_a_terminal_of_the_idle_is_refuted() -> None:
    assert says("one-terminal", edited("request_cycle", "text", {"reject_outside_run": "close"})) == {"a run ends once"}


def test_a_run_that_goes_idle_without_a_terminal_is_refuted() -> None:
    silent = edited("engine", "client-gone", {"done_interrupted": None})
    assert says("one-terminal", silent) == {"a run is open where its state says so"}


def test_a_terminal_amid_a_run_is_refuted() -> None:
    assert says("one-terminal", edited("conversation", "retry-due", {"ask": "interrupt"})) == {
        "a run is open where its state says so"
    }


def test_a_run_that_begins_amid_another_is_refuted() -> None:
    assert says("one-terminal", edited("request_cycle", "user-message", {"append_steer": "open_direct"})) == {
        "a run begins when none is open"
    }


@pytest.mark.parametrize(
    ("event", "change"),
    [
        ("refused", {"exceed_calls": "deny", "exceed_rounds": "deny"}),  # a denial of a call ends its turn
        ("model-stop", {"deny": "complete"}),
        ("model-stop", {"deny": "exceed_calls"}),
        ("model-failure", {"fail_provider": "deny"}),
    ],
)
def test_a_turn_that_ends_as_denied_for_no_denial_of_it_is_refuted(event: str, change: dict[str, str | None]) -> None:
    """And so is a denied one that ends otherwise (TM-2.4, TM-D1)."""
    assert says("right-reason", edited("turn", event, change))


def test_a_turn_that_is_finished_and_stays_open_is_refuted() -> None:
    assert says("one-terminal", edited("turn", "recorded", {"close": None})) == {
        "a run is open where its state says so"
    }


# ---- teeth: first in, first out, without loss ----


def test_last_in_first_out_is_refuted() -> None:
    newest = edited("request_cycle", "run-stop", {"promote": "promote_newest"}, promote_newest=NEWEST)
    assert "queue is first in, first out, without loss" in says("first-in-first-out", newest)


def test_a_message_that_is_popped_and_overwritten_is_refuted() -> None:
    roles = PROOF_ROLES["request_cycle"]
    rows = [
        [*row[:5], ["promote", *(row[5] or ())]] if "promote" in (row[5] or ()) else row for row in roles.machine.table
    ]
    twice = replace(roles, machine=replace(roles.machine, table=rows))
    assert "queue is first in, first out, without loss" in says("first-in-first-out", twice)


def test_a_queue_that_is_forgotten_unseen_is_refuted() -> None:
    silent = edited("request_cycle", "run-stop", {"drop": None})
    assert says("first-in-first-out", silent) == {"queue is first in, first out, without loss"}


def test_the_same_queue_forgotten_by_a_declared_policy_is_not() -> None:
    silent = edited("request_cycle", "run-stop", {"drop": None})
    declared = replace(silent, messages=replace(silent.messages, drops={"run-stop": ("forget_queue",)}))
    assert says("first-in-first-out", declared) == set()


def test_text_that_is_forgotten_before_it_is_said_is_refuted() -> None:
    assert says("first-in-first-out", edited("engine", "stream-end", {"say": None})) == {
        "item is first in, first out, without loss"
    }


# ---- teeth: no message lost or doubled ----


def test_a_dropped_message_is_refuted() -> None:
    assert says("no-message-lost", edited("request_cycle", "user-message", {"enqueue": None})) == {
        "a message is taken once"
    }


def test_a_message_that_steers_and_waits_is_refuted() -> None:
    double = edited("request_cycle", "user-message", {"wait": "append_steer"})
    assert says("no-message-lost", double) == {"a message is taken once"}


# ---- teeth: every call answered ----


def test_a_call_that_nobody_remarks_on_at_the_stop_is_refuted() -> None:
    silent = edited("request_cycle", "run-stop", {"remark_unanswered": None})
    assert "every call is answered before the stop" in says("calls-answered", silent)


def test_a_call_that_is_overwritten_by_the_next_is_refuted() -> None:
    assert "no call is forgotten" in says("calls-answered", edited("turn", "tool-return", {"answer": None}))


@pytest.mark.parametrize(
    ("event", "effect"), [("abort", "cut"), ("abort", "skip_calls"), ("tool-return", "skip_calls")]
)
def test_a_call_that_an_abort_or_a_steer_forgets_is_refuted(event: str, effect: str) -> None:
    assert "no call is forgotten" in says("calls-answered", edited("interaction", event, {effect: None}))


def test_a_steer_that_is_taken_and_not_read_is_refuted() -> None:
    assert says("first-in-first-out", edited("interaction", "model-stop", {"read_steers": None})) == {
        "steers is first in, first out, without loss"
    }


def test_calls_that_are_skipped_too_late_are_refuted() -> None:
    late = edited("engine", "client-gone", {"skip_call": "done_interrupted", "done_interrupted": "skip_call"})
    assert "every call is answered before the stop" in says("calls-answered", late)


def test_calls_that_outlive_their_run_are_refuted() -> None:
    kept = edited("request_cycle", "run-stop", {"forget_calls": None})
    assert "no call is left where none may be" in says("calls-answered", kept)


@pytest.mark.parametrize(
    ("name", "event", "change"),
    [
        ("turn", "tool-return", {"forget_call": "answer"}),
        ("engine", "tool-output", {"status_done": "result"}),
        ("engine", "tool-output", {"answer_call": None}),
        ("request_cycle", "tool-result", {"answer_call": None}),
    ],
)
def test_a_call_that_is_answered_twice_is_refuted(name: str, event: str, change: dict[str, str | None]) -> None:
    assert "a call is answered once" in says("calls-answered", edited(name, event, change))


def test_what_is_assumed_and_does_not_hold_at_the_start_is_refuted() -> None:
    turn = PROOF_ROLES["turn"]
    roles = replace(turn, run=replace(turn.run, active=("idle", *turn.run.active)))
    assert "what is assumed holds at the start" in says("one-terminal", roles)


# ---- teeth: never stuck ----


@pytest.mark.parametrize(
    ("name", "event", "counts"),
    [("interaction", "retryable-failure", "try_again"), ("conversation", "retryable-failure", "try_again")],
)
def test_a_retry_without_end_is_refuted(name: str, event: str, counts: str) -> None:
    assert "a measure decreases" in says("never-stuck", edited(name, event, {counts: None}))


@pytest.mark.parametrize(
    ("name", "event", "counts"),
    [
        ("engine", "stream-end", "count_round"),
        ("event_flow", "tool-result", "next_iteration"),
        ("turn", "model-stop", "count_round"),
    ],
)
def test_rounds_without_end_are_refuted(name: str, event: str, counts: str) -> None:
    assert says("rounds-bounded", edited(name, event, {counts: None})) == {"rounds are bounded"}


def test_a_count_that_begins_anew_in_mid_run_is_refuted() -> None:
    assert says("rounds-bounded", edited("engine", "tool-output", {"status_done": "first_round"})) == {
        "rounds are bounded"
    }


def test_a_promotion_that_takes_nothing_from_the_queue_is_refuted() -> None:
    assert "a measure decreases" in says("never-stuck", edited("request_cycle", "run-stop", {"promote": None}))


def test_a_state_that_nothing_leads_out_of_is_refuted() -> None:
    roles = PROOF_ROLES["turn"]
    deaf: list[NativeRow] = [
        ["recorded", "record", None, [], [], ["ignore"]],
        *(row for row in roles.machine.table if (row[0], row[1]) != ("recorded", "record")),
    ]
    stuck = replace(roles, machine=replace(roles.machine, table=deaf))
    assert Refutation("some answer leads on", "record") in refuted("never-stuck", stuck)


def test_a_refutation_names_the_row_and_registers_that_lead_there() -> None:
    (found, *_) = refuted("calls-answered", edited("request_cycle", "run-stop", {"remark_unanswered": None}))
    assert found.row.startswith("active: run-stop")
    assert "calls" in found.why


# ---- the prover's rendering agrees with Python ----


class Known(Symbols):
    """The prover's context where everything is known."""

    def __init__(self, roles: ProofRoles, stepper: Stepper) -> None:
        super().__init__(roles.machine, {})
        self.known = stepper.context
        self.at = z3.IntVal(stepper.context.at)
        kinds = roles.machine.registers
        self.registers = {name: self.made(kinds[name], value) for name, value in self.known.registers.items()}

    def made(self, kind: str, value: Any) -> Any:
        if kind == "number":
            return self.literal(value)
        array = self.nothing()
        for key, one in value.items() if kind == "map" else enumerate(value):
            array = z3.Store(array, self.literal(key), self.literal(one))
        return array if kind == "map" else Slots(array, z3.IntVal(0), z3.IntVal(len(value)))

    def field(self, name: str) -> Any:
        return self.literal(getattr(self.known.event, name))

    def table(self, name: str, *, keyed: bool = False) -> Any:
        return self.made("map" if keyed else "number", self.known.tables[name])

    def same(self, kind: str, rendered: Any, value: Any) -> bool:
        """Return whether a rendered register holds the same value as Python's."""
        if kind != "map":
            held = rendered if kind == "queue" else Slots(z3.K(z3.IntSort(), rendered), z3.IntVal(0), z3.IntVal(1))
            wanted = [self.literal(one) for one in (value if kind == "queue" else [value])]
            slots = [z3.simplify(held.values[held.head + slot]) for slot in range(len(wanted))]
            return bool(z3.simplify(held.tail - held.head).as_long() == len(wanted) and slots == wanted)
        keys = {*value, *COLOURS, "other"}
        return all(z3.is_true(z3.simplify(rendered[self.literal(key)] == self.literal(value.get(key)))) for key in keys)


@pytest.mark.parametrize("name", PROOF_ROLES)
def test_the_provers_rendering_does_what_python_does(name: str) -> None:
    roles = PROOF_ROLES[name]
    machine = roles.machine

    @settings(max_examples=10, deadline=None, database=None, derandomize=True)
    @given(st.sampled_from(roles.tables), st.lists(st.integers(0, 999), min_size=10, max_size=25))
    def agree(tables: Mapping[str, Any], word: list[int]) -> None:
        stepper = Stepper(machine, tables)
        alphabet = letters(roles, tables)
        for at, number in enumerate(word):
            letter = alphabet[number % len(alphabet)].now(stepper.context.registers)
            row = stepper.row(letter.symbol, letter.event, at)
            symbols = Known(roles, stepper)
            for guard in (machine.guards[one] for one in row.guards):
                assert z3.is_true(z3.simplify(guard.formula(symbols))) == guard.holds(stepper.context)
            for effect in row.effects:
                machine.effects[effect].change(symbols)
            stepper.take(letter.symbol, letter.event, at)
            for register, kind in machine.registers.items():
                if kind == HISTORY:
                    continue  # no guard reads it, and no proof knows it
                assert symbols.same(kind, symbols.registers[register], stepper.context.registers[register]), register

    agree()
