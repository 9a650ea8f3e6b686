"""The lint has teeth: each fault of a declaration gives one clear sentence, and the shipped machine has none."""

from dataclasses import replace
from typing import Any, Literal

import pytest
from transitions import Machine as TransitionsMachine

from turncheck.model.declaration.lint import lint
from turncheck.model.declaration.machine import Machine, NativeRow
from turncheck.model.declaration.operands import Operand
from turncheck.model.declaration.proof_roles import ProofRoles
from turncheck.model.declaration.vocabulary import (
    Clear,
    Const,
    Default,
    Equal,
    Field,
    Less,
    Lookup,
    Nonempty,
    Pop,
    Push,
    Register,
    Table,
)
from turncheck.model.machines import interaction
from turncheck.model.machines.registry import PROOF_ROLES
from turncheck.model.machines.request_cycle import SPEC

DOOR = Machine(
    name="door",
    title="Door",
    states=("shut", "open"),
    initial="shut",
    final=("shut",),
    events={"push": (), "lock": ()},
    table=[
        ["push", "shut", "open", ["light"], [], ["note"]],
        ["push", "shut", None, [], ["light"], []],
        ["push", "open", "shut", ["waiting"], [], []],
        ["push", "open", None, [], ["waiting"], []],
        ["lock", "*", None, [], [], []],
    ],
    guards={"light": Equal(Field("force"), Const("light")), "waiting": Nonempty(Register("queue"))},
    effects={"note": Push(Register("queue"), Field("force"))},
    registers={"queue": "queue"},
    boundary="push",
    always={},
    sometimes={},
)


def door(*rows: NativeRow, without: int | None = None, **changes: Any) -> Machine:
    """The door with rows added and one taken away."""
    table = [row for number, row in enumerate(DOOR.table) if number != without]
    return replace(DOOR, table=[*table, *rows], **changes)


@pytest.mark.parametrize("roles", PROOF_ROLES.values(), ids=PROOF_ROLES)
def test_a_shipped_machine_is_sound(roles: ProofRoles) -> None:
    assert lint(roles.machine, roles.tables) == []


def test_the_door_is_sound() -> None:
    assert lint(DOOR) == []


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        (
            door(
                ["push", "shut", None, ["weak"], ["light"], []],
                guards={**DOOR.guards, "weak": Less(Field("a"), Const(3))},
            ),
            "event 'push' in state 'shut': 2 rows for the case (not light, weak): the guards are not disjoint",
        ),
        (
            door(without=1),
            "event 'push' in state 'shut': no row for the case (not light): the guards are not complete",
        ),
        (
            door(["push", "shut", None, ["light"], ["light"], []]),
            "event 'push' in state 'shut': the row 'push [light, not light]' can never be taken: it is shadowed",
        ),
        (
            door(["push", "ajar", None, [], [], []], states=("shut", "open", "ajar")),
            "state 'ajar' can never be reached",
        ),
        (door(["kick", "shut", None, [], [], []]), "row 'kick' from 'shut': event 'kick' is not declared"),
        (door(["push", "ajar", None, [], [], []]), "row 'push' from 'ajar': state 'ajar' is not declared"),
        (door(["push", "shut", "ajar", [], [], []]), "row 'push' from 'shut': state 'ajar' is not declared"),
        (door(["push", "shut", None, ["dark"], [], []]), "row 'push' from 'shut': guard 'dark' is not declared"),
        (door(["push", "shut", None, [], ["dark"], []]), "row 'push' from 'shut': guard 'dark' is not declared"),
        (door(["push", "shut", None, [], [], ["ring"]]), "row 'push' from 'shut': effect 'ring' is not declared"),
        (door(initial="ajar"), "initial state 'ajar' is not declared"),
        (door(final=("ajar",)), "final state 'ajar' is not declared"),
        (door(boundary="kick"), "boundary event 'kick' is not declared"),
        (
            door(["kick", "shut", None, [], [], []], events={**DOOR.events, "kick": ()}),
            "event 'kick' in state 'open': no row for the case (always): the guards are not complete",
        ),
        (
            door(effects={**DOOR.effects, "light": Clear(Register("queue"))}),
            "'light' is the name of a guard and of an effect",
        ),
        (
            door(effects={"note": Push(Register("quue"), Field("force"))}),
            "effect 'note': register 'quue' is not declared",
        ),
        (
            door(guards={**DOOR.guards, "dark": Equal(Field("force"), Const("dark"))}),
            "guard 'dark' is declared and no row uses it",
        ),
        (
            door(effects={**DOOR.effects, "ring": Clear(Register("queue"))}),
            "effect 'ring' is declared and no row uses it",
        ),
    ],
)
def test_a_fault_is_one_sentence(machine: Machine, sentence: str) -> None:
    assert lint(machine) == [sentence]


def overlapping(*bounds: int) -> Machine:
    """A door that opens below each of some bounds, by a row each."""
    guards = {f"below {bound}": Less(Field("force"), Const(bound)) for bound in bounds}
    rows: list[NativeRow] = [["push", "shut", None, [name], [], []] for name in guards]
    rest: NativeRow = ["push", "shut", None, [], list(guards), []]
    return replace(DOOR, states=("shut",), events={"push": ()}, table=[*rows, rest], guards=guards, effects={})


def test_two_bounds_on_one_number_may_both_hold() -> None:
    assert lint(overlapping(3, 5)) == [
        "event 'push' in state 'shut': 2 rows for the case (below 3, below 5): the guards are not disjoint"
    ]


def test_two_names_of_one_test_hold_together() -> None:
    twin = door(["push", "shut", "open", ["gentle"], [], []], guards={**DOOR.guards, "gentle": DOOR.guards["light"]})
    assert lint(twin) == [
        "event 'push' in state 'shut': 2 rows for the case (gentle, light): the guards are not disjoint"
    ]


def test_a_field_never_equals_two_constants() -> None:
    apart = door(
        ["push", "shut", None, ["heavy"], [], []],
        ["push", "shut", None, [], ["light", "heavy"], []],
        without=1,
        guards={**DOOR.guards, "heavy": Equal(Field("force"), Const("heavy"))},
    )
    assert lint(apart) == []


Side = Literal["left", "right"]
SIDE = Table("side", Side)


def sided(subject: Operand, *values: str, unless: bool = False) -> Machine:
    """A gate with a row for each of some values; *unless* makes the last one a row for all values but the others."""
    guards = {value: Equal(subject, Const(value)) for value in values}
    rows: list[NativeRow] = [["push", "shut", None, [name], [], []] for name in guards]
    if unless:
        rows[-1] = ["push", "shut", None, [], list(guards)[:-1], []]
        del guards[values[-1]]
    return replace(DOOR, states=("shut",), events={"push": ()}, table=rows, guards=guards, effects={})


@pytest.mark.parametrize(
    "subject",
    [
        SIDE,
        Field("side", Side),
        Default(Field("side", Side), SIDE),
        Lookup(Table("sides", Side, keys=Side), Field("side", Side)),
    ],
)
def test_a_row_for_each_value_is_complete(subject: Operand) -> None:
    assert lint(sided(subject, "left", "right")) == []


def test_a_value_without_a_row_is_a_fault() -> None:
    assert lint(sided(SIDE, "left")) == [
        "event 'push' in state 'shut': no row for the case (not left): the guards are not complete"
    ]


def test_a_row_for_all_other_values_is_a_silent_default() -> None:
    (fault,) = lint(sided(SIDE, "left", "right", unless=True))
    assert fault.endswith(
        "the row 'push [not left]' is a silent default: it does not say for which of left | right it is"
    )


@pytest.mark.parametrize(
    ("machine", "sentence"),
    [
        (sided(SIDE, "left", "rihgt"), "guard 'rihgt': 'rihgt' is none of left | right"),
        (sided(Table("side"), "left"), "guard 'left': table 'side' does not declare its values"),
        (
            sided(Lookup(Table("sides", Side), Field("side", Side)), "left"),
            "guard 'left': the keys of table 'sides' are not the values of field 'side'",
        ),
        (
            sided(Default(Field("side"), SIDE), "left"),
            "guard 'left': the values of table 'side' are not those of field 'side'",
        ),
    ],
)
def test_an_enumeration_that_is_not_declared_alike_everywhere_is_a_fault(machine: Machine, sentence: str) -> None:
    assert lint(machine) == [sentence]


@pytest.mark.parametrize(
    ("subject", "tables", "sentence"),
    [
        (SIDE, {}, "table 'side' is missing"),
        (SIDE, {"side": "up"}, "table 'side': 'up' is none of left | right"),
        (
            Lookup(Table("sides", Side, keys=Side), Field("side", Side)),
            {"sides": {"left": "left"}},
            "table 'sides': None for 'right' is none of left | right",
        ),
    ],
)
def test_a_table_that_is_not_total_is_a_fault(subject: Operand, tables: dict[str, Any], sentence: str) -> None:
    assert lint(sided(subject, "left", "right"), [tables]) == [sentence]


@pytest.mark.parametrize("number", range(len(SPEC.table)))
def test_no_row_of_the_core_can_be_missed(number: int) -> None:
    assert lint(replace(SPEC, table=[row for index, row in enumerate(SPEC.table) if index != number]))


@pytest.mark.parametrize("number", range(len(SPEC.table)))
def test_no_row_of_the_core_can_stand_twice(number: int) -> None:
    assert lint(replace(SPEC, table=[*SPEC.table, SPEC.table[number]]))


def test_transitions_itself_takes_an_overlapping_table_without_a_word() -> None:
    class Lamp:
        state: str
        flip: Any

    one: list[Any] = ["flip", "off", "green"]
    other: list[Any] = ["flip", "off", "red"]
    ends = []
    for table in ([one, other], [other, one]):
        lamp = Lamp()
        TransitionsMachine(
            lamp, states=["off", "green", "red"], transitions=table, initial="off", auto_transitions=False
        )
        lamp.flip()
        ends.append(lamp.state)
    assert ends == ["green", "red"]  # so that the order of the rows decides


def test_an_effect_that_decides_by_a_history_is_named():
    machine = replace(
        interaction.SPEC,
        effects={**interaction.SPEC.effects, "take_call": Pop(Register("history"), Register("running"))},
    )
    assert lint(machine) == ["effect 'take_call' reads the history 'history', which is only put out"]
