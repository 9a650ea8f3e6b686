"""Stepping a declared machine."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines.interaction import SPEC, tables

POLICIES: tuple[dict[str, Any], ...] = (
    {},
    {"busy": "steer", "tools": "parallel", "retries": 1},
    {"busy": "reject", "maxRounds": 2},
)


BACKWARDS = replace(SPEC, table=[*reversed(SPEC.table)], ignored=None)
"""Here what a row excludes decides: in the machine itself, an earlier row has taken it."""


@pytest.mark.parametrize("machine", [SPEC, BACKWARDS], ids=["as declared", "backwards"])
@pytest.mark.parametrize("policies", POLICIES, ids=str)
def test_the_row_of_a_step_is_the_first_whose_guards_hold(machine, policies):
    stepper, random, events = Stepper(machine, tables(policies)), Random(0), [*machine.events]
    for at in range(500):
        event = random.choice(events)
        rows = machine.by_event[event, stepper.state]
        first = next(row for row in rows if machine.permits(row, stepper.context))
        assert stepper.take(event, at=at) is first


def test_the_outputs_of_a_step_are_those_of_its_row_alone():
    stepper = Stepper(SPEC, tables({}))
    seen = []
    for at, event in enumerate(("user", "abort")):
        stepper.take(event, at=at)
        seen.append([output.name for output in stepper.outputs])
    assert seen == [["message", "open", "request"], ["skip", "read", "stop"]]
