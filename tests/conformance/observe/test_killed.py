"""A runtime is killed at a point of a word, and started again: what is seen of both lives."""

# mypy: disable-error-code="union-attr"

import shlex
import sys
from pathlib import Path

import pytest
from runtimes.lifecycle.hosting import Hosting, StuckOnWorkingAfterAKill

from turncheck.adapters.protocol.errors import FailedError
from turncheck.adapters.targets.registry import open_runtime
from turncheck.conformance.observe.killed import PROBE
from turncheck.conformance.observe.killing import killed, unkilled
from turncheck.model.core.stimuli import ModelOutput, ModelStop, ResetOptions, Text, User

FIRST = User(id="u1", text="say one")
ANSWER, END = ModelOutput(item=Text(text="answer one.")), ModelStop(reason="end-turn")
OPTIONS = ResetOptions()
PROCESS = Path(__file__).parents[1] / "doubles" / "hosting.py"


@pytest.fixture(scope="module")
def process():
    """A runtime in a process of its own, which keeps the history at the end of each run."""
    with open_runtime("cmd:" + shlex.join([sys.executable, str(PROCESS)]), timeout=20) as runtime:
        yield runtime


def test_a_run_that_the_answer_to_the_reset_ends_goes_on_in_one_log():
    found = killed(Hosting(), (FIRST, ANSWER), OPTIONS)
    assert found.fate == "interrupted"
    assert found.first == len(found.before.log)
    assert [cycle.reason for cycle in found.after.cycles] == ["interrupted", "completed"]


def test_a_run_of_which_nothing_is_said_is_left_behind(process):
    found = killed(process, (FIRST,), OPTIONS)
    assert (found.fate, found.first) == ("untold", 0)
    assert [cycle.reason for cycle in found.after.cycles] == ["completed"]


def test_where_no_run_is_open_nothing_becomes_of_one(process):
    found = killed(process, (FIRST, ANSWER, END), OPTIONS)
    assert (found.fate, found.told, found.stuck) == (None, [], None)


def test_the_answer_of_a_stimulus_that_a_kill_cuts_is_lost(process):
    found = killed(process, (FIRST, ANSWER, END), OPTIONS, amid=True)
    assert found.amid == END
    assert [step.stimulus for step in found.before.steps] == [FIRST, ANSWER]


def test_a_counterexample_says_before_what_the_kill_was():
    found = killed(Hosting(), (FIRST,), OPTIONS)
    assert [one.stimulus.id for one in found.applied if one.restarted] == [PROBE.id]
    assert [one.stimulus for one in found.applied][:2] == [FIRST, PROBE]


def test_a_run_that_nobody_runs_is_stuck():
    found = killed(StuckOnWorkingAfterAKill(), (FIRST,), OPTIONS)
    assert found.stuck == "a run neither ends nor awaits anything"


def test_a_runtime_that_cannot_load_what_it_kept_is_stuck():
    class Torn(Hosting):  # type: ignore[misc]  # found by pytest's path
        """It cannot read what a kill left."""

        def reset(self, options=OPTIONS):
            if self.kept:
                raise FailedError("the adapter failed: unexpected end of the file")
            return super().reset(options)

        def kill(self, *_):
            pass

    assert killed(Torn(), (FIRST,), OPTIONS).stuck == "it cannot load: the adapter failed: unexpected end of the file"


def test_without_a_kill_the_same_message_is_served(process):
    found = unkilled(process, (FIRST,), OPTIONS)
    assert [cycle.reason for cycle in found.cycles] == ["completed", "completed"]
    assert found.shown(found.requests[-1]) == ["u1", "after"]
