"""A counterexample of each law on runtimes can be judged again: from what it stores, or by a process."""

import shlex
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from runtimes.lifecycle import hosting as hosts

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.targets.registry import open_runtime
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.report.lessons import lessons
from turncheck.conformance.verify.kept.replay import asked_runtime, stored
from turncheck.conformance.verify.outcome.counterexample_files import read, write
from turncheck.conformance.verify.verification import verify_runtime

HOSTING = Path(__file__).parents[1] / "doubles" / "hosting.py"
FAULTS = {"restart-remembers": "forgets", "sessions-independent": "aborts-all"}
"""Law → the fault of the double that breaks it."""


def of(kind):
    return [law.name for law in LAWS.values() if (law.subject, law.kind, law.suite) == ("runtime", kind, False)]


def example(law) -> Any:
    """The example of a law, of whichever kind it is."""
    return lessons()[law].wrong


def hosting(*faults):
    return open_runtime("cmd:" + shlex.join([sys.executable, str(HOSTING), *faults]), timeout=20)


@pytest.fixture(scope="module", params=FAULTS)
def found(request):
    """The counterexample of a law that needs sessions or a restart, from a process with its fault."""
    law = request.param
    with hosting(FAULTS[law]) as target:
        return verify_runtime(target, selected(["runtime"], [law]), words=0, fail_fast=True)[1][law]


@pytest.mark.parametrize("law", of("run"))
def test_what_is_stored_of_one_run_breaks_its_law(law):
    assert stored(example(law)) is not None


@pytest.mark.parametrize("law", of("relation"))
def test_what_is_stored_of_a_relation_cannot_tell(law):
    with pytest.raises(TargetError, match="--run starts the target"):
        stored(example(law))


def test_the_file_holds_what_the_law_applied_instead(found, tmp_path):
    assert found.again
    assert read(write(found, tmp_path)) == found


def test_a_file_with_another_number_of_steps_than_stimuli_is_refused(tmp_path):
    whole = example("run-ends-once")
    with pytest.raises(msgspec.ValidationError, match=f"{len(whole.applied)} stimuli were applied, and 1 steps"):
        read(write(msgspec.structs.replace(whole, steps=whole.steps[:1]), tmp_path))


def test_the_kill_is_before_the_last_message():
    assert [one.restarted for one in example("restart-remembers").again] == [False, False, True]


def test_both_sessions_are_there_up_to_the_fault():
    again = example("sessions-independent").again
    assert {one.stimulus.session_id for one in again} == {"a", "b"}
    assert [event["type"] for event in again[-1].step.events] == ["run-stop", "model-request"]


def test_a_process_that_still_has_the_fault_still_fails(found):
    with hosting(FAULTS[found.law]) as target:
        finding = asked_runtime(found, target)
    assert finding is not None
    assert finding.message == found.message


def test_a_process_without_the_fault_keeps_the_law(found):
    with hosting() as target:
        assert asked_runtime(found, target) is None


class OrphanedCallAfterTheThirdKill(hosts.OrphanedCallAfterAKill):  # type: ignore[misc]
    """What a kill leaves behind depends on its moment."""

    kills = 0

    def interrupt(self, session):
        OrphanedCallAfterTheThirdKill.kills += 1
        if OrphanedCallAfterTheThirdKill.kills == 3:
            super().interrupt(session)
        else:
            hosts.Hosting.interrupt(self, session)


def test_a_kill_is_tried_again_since_each_hits_another_moment():
    assert asked_runtime(example("restart-serves"), OrphanedCallAfterTheThirdKill()) is not None


def test_a_runtime_that_does_not_persist_cannot_be_judged_by_a_restart():
    with (
        open_runtime("reference:event_flow", timeout=20) as target,
        pytest.raises(TargetError, match="does not declare persistence"),
    ):
        asked_runtime(example("restart-remembers"), target)
