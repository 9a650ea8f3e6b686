"""A machine within bounds: total, finite, and its outputs show what comes out of a queue, not where it stood."""

from dataclasses import replace

import pytest

from turncheck.model.automata.finite import BEYOND, CRASH, NO_ROW, Reaction, bounded, views
from turncheck.model.automata.mealy import flattened
from turncheck.model.declaration.contexts import Output
from turncheck.model.machines.registry import PROOF_ROLES

SIZES = {
    "request_cycle": (18, 77, 18),
    "conversation": (2, 53, 37),
    "engine": (2, 62, 33),
    "event_flow": (2, 38, 19),
    "collation": (1, 77, 24),
}
"""Machine → how many views, the most states of a minimal one, letters."""
CYCLE = PROOF_ROLES["request_cycle"]


def cycle(machine=None):
    return bounded(CYCLE, *views(CYCLE)[0], machine=machine)


def said(machine, *letters):
    known = [str(letter) for letter in machine.letters]
    return machine.run([known.index(letter) for letter in letters])


def edited(table):
    return cycle(replace(CYCLE.machine, table=table))


@pytest.mark.parametrize("name", SIZES)
def test_the_minimal_machines_have_their_pinned_sizes(name):
    roles = PROOF_ROLES[name]
    found = [flattened(bounded(roles, *view)) for view in views(roles)]
    assert (len(found), max(len(one.table) for one in found), len(found[0].letters)) == SIZES[name]


def test_what_a_queue_gives_out_shows_its_colour():
    first, second = "user-message(delivery=followUp, text=red)", "user-message(delivery=followUp, text=blue)"
    told = said(cycle(), first, first, second, "run-stop(reason=completed)", "run-stop(reason=completed)")
    assert [output[-1] for output in told[3:]] == [
        Output("open", ("followUp", "user-message red")),
        Output("open", ("followUp", "user-message blue")),
    ]


def test_a_reaction_is_printed_output_by_output():
    assert str(Reaction([Output("close"), Output("open", ("followUp", "red"))])) == "close; open(followUp, red)"


def test_a_reaction_without_outputs_is_printed_as_quiet():
    assert str(Reaction()) == "quiet"


def test_a_third_waiting_message_is_beyond_the_bound_and_changes_nothing():
    waiting = "user-message(delivery=followUp, text=red)"
    machine = cycle()
    states, state = [0], 0
    letter = [str(one) for one in machine.letters].index(waiting)
    for _ in range(4):
        state, output = machine.step(state, letter)
        states.append(state)
    assert (output, states[4]) == (BEYOND, states[3])


def test_a_missing_row_is_an_output():
    rows = [row for row in CYCLE.machine.table if row[0] != "observation"]
    assert said(edited(rows), "observation") == (NO_ROW,)


def test_an_effect_that_fails_is_an_output():
    rows = [
        ["observation", "*", None, [], [], ["promote"]] if row[0] == "observation" else row
        for row in CYCLE.machine.table
    ]
    assert said(edited(rows), "observation") == (CRASH,)
