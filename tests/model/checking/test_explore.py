"""Every declared machine, explored to its bound: how far that goes, that its promises hold, and that they can fail."""

from dataclasses import replace
from functools import cache

import pytest

from turncheck.model.checking.alphabet import Letter, alphabet, letters, positions
from turncheck.model.checking.explore import Exploration, Violation, explore
from turncheck.model.checking.refinement import Core, acceptance
from turncheck.model.core.policies import Policies
from turncheck.model.declaration.machine import Machine
from turncheck.model.machines.registry import MACHINES, PROOF_ROLES
from turncheck.model.machines.request_cycle import SPEC, TABLE, tables

TABLES = tables(Policies())

SIZES = {
    # machine: (bound, states, transitions, states beyond the bound), all tables together
    "request_cycle": (3, 786, 11790, 270),
    "interaction": (2, 48568, 1019928, 67824),
    "turn": (2, 16250, 487500, 12510),
    "conversation": (3, 3362, 107584, 4608),
    "engine": (3, 1308, 43164, 2880),
    "event_flow": (3, 1176, 22344, 1216),
    "collation": (2, 557, 13368, 36),
}
"""Measured: at each bound every row is taken, and all that holds sometimes does. On one busy core 18 s for the turn,
12 s for interaction, 3 s for the conversation, 2 s for the engine."""


@cache
def explored(name: str) -> list[Exploration]:
    """A machine under all its tables, the core beside it where it has a refinement."""
    roles, bound = PROOF_ROLES[name], SIZES[name][0]
    found = []
    for chosen in roles.tables:
        policies = Policies(while_active=chosen.get("while_active", "followUp"))
        beside = acceptance(roles.machine, roles.refine, policies) if roles.refine else None
        alphabet_ = letters(roles, chosen)
        found.append(
            explore(
                roles.machine,
                chosen,
                bound=bound,
                letters=alphabet_,
                unbounded_counters=roles.unbounded_counters,
                beside=beside,
                start=Core() if beside else None,
            )
        )
    return found


def core(number: int, effects: list[str]) -> Machine:
    """The core with other effects in one row."""
    return replace(SPEC, table=[[*row[:5], effects] if at == number else row for at, row in enumerate(TABLE)])


def shown(*given: Letter) -> list[str]:
    return [str(letter) for letter in given]


def test_every_machine_is_explored() -> None:
    assert MACHINES.keys() <= SIZES.keys() == PROOF_ROLES.keys()


@pytest.mark.parametrize("name", SIZES)
def test_no_promise_is_broken(name: str) -> None:
    assert [one.violation for one in explored(name) if one.violation] == []


@pytest.mark.parametrize("name", SIZES)
def test_the_exploration_is_as_large_as_it_was(name: str) -> None:
    found = explored(name)
    counted = [
        sum(counts) for counts in zip(*((one.states, one.transitions, one.beyond) for one in found), strict=True)
    ]
    assert (SIZES[name][0], *counted) == SIZES[name]


@pytest.mark.parametrize("name", SIZES)
def test_what_sometimes_holds_occurs(name: str) -> None:
    assert set().union(*(one.seen for one in explored(name))) == PROOF_ROLES[name].machine.sometimes.keys()


@pytest.mark.parametrize("name", SIZES)
def test_every_row_is_taken(name: str) -> None:
    taken = set().union(*(one.rows for one in explored(name)))
    assert [f"{row.source}: {row.label}" for row in PROOF_ROLES[name].machine.rows if row not in taken] == []


def test_a_row_that_forgets_too_little_is_found_by_the_shortest_path() -> None:
    forgetful = core(14, ["remark_unanswered", "close"])
    assert explore(forgetful, TABLES).violation == Violation(
        "an idle agent has no call",
        ("user-message(delivery=steer)", "tool-call(call_id=red)", "run-stop(reason=completed)"),
    )


def test_what_waits_out_of_order_is_found() -> None:
    backwards = replace(
        SPEC, always={"the oldest is the first": lambda _, data: list(data["queue"]) == sorted(data["queue"])[::-1]}
    )
    found = explore(backwards, TABLES)
    assert found.violation is not None
    assert len(found.violation.path) == 3


def test_below_its_bound_a_machine_is_vacuous() -> None:
    assert explore(SPEC, TABLES, bound=1).seen != SPEC.sometimes.keys()


def test_what_is_beyond_the_bound_is_counted_and_not_visited() -> None:
    narrow, wide = (explore(SPEC, TABLES, bound=bound) for bound in (1, 2))
    assert (narrow.states, narrow.beyond > 0) == (12, True)
    assert narrow.states < wide.states


def test_the_letters_are_what_the_rows_can_tell_apart() -> None:
    assert [
        one for one in shown(*alphabet(SPEC, TABLES)) if one.startswith(("user", "run", "tool-result", "text"))
    ] == [
        "user-message(delivery=steer)",
        "user-message",
        "user-message(delivery=followUp)",
        "text",
        "tool-result(call_id=red)",
        "tool-result(call_id=blue)",
        "run-stop(reason=completed)",
        "run-stop(reason=interrupted)",
        "run-stop(reason=error)",
    ]


def test_values_given_by_hand_replace_those_of_the_terms() -> None:
    given = alphabet(SPEC, TABLES, {"delivery": ("steer",), "reason": ("error",)})
    assert shown(*given)[0] == "user-message(delivery=steer)"
    assert [one for one in shown(*given) if "reason" in one] == ["run-stop(reason=error)"]


def test_what_a_refinement_reads_comes_in_two_colours() -> None:
    given = alphabet(SPEC, TABLES, carries={"text": ("text",)})
    assert [one for one in shown(*given) if one.startswith("text")] == ["text(text=red)", "text(text=blue)"]


def test_positions_are_found_where_they_flow() -> None:
    assert positions(SPEC) == {"queue", "root", "calls"}
