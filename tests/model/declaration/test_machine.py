"""What a machine ignores is declared once, and becomes rows before anything reads them."""

from dataclasses import replace

from turncheck.model.declaration.lint import lint
from turncheck.model.declaration.machine import Machine
from turncheck.model.declaration.vocabulary import Emit

LAMP = Machine(
    name="lamp",
    title="Lamp",
    states=("off", "on", "broken"),
    initial="off",
    final=("off",),
    events={"press": (), "drop": ()},
    table=[
        ["press", "off", "on", [], [], []],
        ["press", "on", "off", [], [], []],
        ["drop", ["off", "on"], "broken", [], [], []],
    ],
    guards={},
    effects={"ignore": Emit("ignore")},
    registers={},
    boundary=None,
    always={},
    sometimes={},
    ignored=("ignore",),
)


def test_what_no_row_names_is_ignored_behind_the_rows_of_its_event() -> None:
    assert list(LAMP.table) == [
        ["press", "off", "on", [], [], []],
        ["press", "on", "off", [], [], []],
        ["press", ["broken"], None, [], [], ["ignore"]],
        ["drop", ["off", "on"], "broken", [], [], []],
        ["drop", ["broken"], None, [], [], ["ignore"]],
    ]


def test_a_machine_that_ignores_the_rest_is_sound() -> None:
    assert lint(LAMP) == []


def test_an_event_that_no_row_names_is_not_ignored_but_a_fault() -> None:
    assert lint(replace(LAMP, events={**LAMP.events, "kick": ()}, ignored=("ignore",))) == [
        f"event 'kick' in state '{state}': no row for the case (always): the guards are not complete"
        for state in LAMP.states
    ]


def test_a_row_that_is_taken_out_of_the_table_stays_out() -> None:
    assert lint(replace(LAMP, table=LAMP.table[:-1])) == [
        "event 'drop' in state 'broken': no row for the case (always): the guards are not complete"
    ]
