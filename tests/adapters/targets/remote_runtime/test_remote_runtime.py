"""A runtime over the protocol: the meaning of its answers, its process, its end."""

import os
import re
import time
from types import SimpleNamespace
from uuid import uuid4

import pytest
from faulty_targets import LONG, SHORT, USER, WORD, double
from processes import living

from turncheck.adapters.protocol import connection
from turncheck.adapters.protocol.errors import (
    ChangedError,
    DiedError,
    HangingError,
    OverdueError,
    RubbishError,
    StartError,
    TargetError,
)
from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.protocol.processes.process import STDERR_LINES
from turncheck.adapters.targets.registry import open_projector, open_runtime
from turncheck.model.core.stimuli import ModelAwaited, Refusal, ResetOptions, Step

# ---- what the answers mean ----


def test_a_reset_answers_with_a_step(start):
    assert start("behaves").reset() == Step()


def test_a_stimulus_answers_with_its_events_and_what_is_awaited(start):
    runtime = start("behaves")
    runtime.reset()
    step = runtime.apply(USER)
    assert [event["type"] for event in step.events] == ["user-message", "model-request"]
    assert [(type(one), one.request_id) for one in step.awaiting] == [(ModelAwaited, "r1")]


def test_a_refusal_is_no_error(start):
    runtime = start("behaves")
    runtime.reset()
    runtime.apply(USER)
    assert runtime.apply(USER).refused == Refusal("rejected", "busy")


def test_a_word_in_one_message_answers_as_its_stimuli_do_one_by_one(start):
    runtime = start("behaves")
    runtime.reset()
    singly = tuple(map(runtime.apply, WORD))
    runtime.reset()
    assert runtime.run(WORD) == singly


def test_an_empty_word_has_no_steps(start):
    runtime = start("behaves")
    runtime.reset()
    assert runtime.run(()) == ()


def test_fields_that_nobody_knows_are_left_alone(start):
    runtime = start("says_more_than_was_asked")
    runtime.reset()
    assert len(runtime.apply(USER).awaiting) == 1


def test_a_given_profile_counts(start):
    assert start("behaves", profile=Profile(("runtime",), ("steer",))).profile.capabilities == ("steer",)


def test_a_runtime_is_no_projector():
    with pytest.raises(StartError, match="not a projector"):
        open_projector(double("behaves"), timeout=LONG)


def test_a_projector_is_no_runtime():
    with pytest.raises(StartError, match="not a runtime"):
        open_runtime("reference", timeout=LONG)


def test_again_is_a_process_with_another_hash_seed(start):
    with start("says_its_hash_seed").again(41) as twin:
        twin.reset()
        assert twin.apply(USER).events == ({"type": "native", "seed": "41"},)


# ---- what it knew is lost with its process ----


def test_a_stimulus_before_any_reset_is_refused(start):
    with pytest.raises(TargetError, match="reset first"):
        start("behaves").apply(USER)


def test_a_kill_amid_a_stimulus_is_a_crash_that_leaves_no_last_words(start):
    runtime = start("explains_itself_too_late")
    runtime.reset()
    runtime.kill(USER, SHORT)
    assert "what happened after it" not in runtime.last_words
    with pytest.raises(TargetError, match="reset first"):
        runtime.apply(USER)


def killed(runtime):
    runtime.kill()


def closed(runtime):
    runtime.close()


def broken_off(runtime):
    with pytest.raises(DiedError):
        runtime.apply(USER)


def unsettled(runtime):
    assert runtime.apply(USER).unsettled


ENDS = [("behaves", killed), ("behaves", closed), ("exits", broken_off), ("is_never_quiet", unsettled)]


@pytest.mark.parametrize(("fault", "end"), ENDS)
@pytest.mark.parametrize("act", [lambda runtime: runtime.apply(USER), lambda runtime: runtime.run(WORD)])
def test_after_its_process_ended_it_must_be_reset(start, fault, end, act):
    runtime = start(fault)
    runtime.reset()
    end(runtime)
    with pytest.raises(TargetError, match="reset first"):
        act(runtime)


@pytest.mark.parametrize(("fault", "end"), ENDS)
def test_a_reset_starts_a_new_process(start, fault, end):
    runtime = start(fault)
    runtime.reset()
    end(runtime)
    assert runtime.reset() == Step()


def test_an_unsettled_step_ends_its_process(start, monkeypatch):
    monkeypatch.setenv("TURNCHECK_TEST", mark := str(uuid4()))
    runtime = start("is_never_quiet")
    runtime.reset()
    runtime.apply(USER)
    assert living(mark.encode()) == []


def test_a_word_may_end_early_where_a_step_is_unsettled(start):
    runtime = start("ends_a_word_early:run")
    runtime.reset()
    assert [step.unsettled for step in runtime.run(WORD)] == [True]


def test_a_reset_that_leads_to_no_quiet_is_done_again_in_a_new_process(start):
    runtime = start("is_never_quiet:reset:2")
    runtime.reset()
    assert runtime.reset() == Step()


def test_a_reset_that_never_leads_to_quiet_is_an_error(start):
    with pytest.raises(TargetError, match="a reset leads to no quiet"):
        start("is_never_quiet:reset").reset()


def test_a_runtime_that_always_breaks_is_given_up(start, monkeypatch, tmp_path):
    monkeypatch.setattr(connection, "RESTARTS", 1)
    runtime = start("exits:reset", tmp_path / "marker")
    for _ in range(4):
        with pytest.raises(DiedError):
            runtime.reset()
    assert (tmp_path / "marker").read_text().split() == ["exits", "exits"]


# ---- stderr ----


def test_megabytes_on_stderr_do_not_block_the_answer(start):
    runtime = start("fills_stderr")
    runtime.reset()
    assert len(runtime.apply(USER).awaiting) == 1


def test_the_last_lines_of_stderr_are_kept(start):
    runtime = start("fills_stderr")
    runtime.reset()
    runtime.apply(USER)
    os.kill(runtime._connection._child.pid, 9)
    with pytest.raises(DiedError) as caught:
        runtime.apply(USER)
    assert caught.value.stderr == tuple(f"line {number}" for number in range(200_000 - STDERR_LINES, 200_000))


def test_what_is_said_after_a_wrong_answer_is_shown_too(start):
    runtime = start("explains_itself_too_late")
    runtime.reset()
    with pytest.raises(RubbishError) as caught:
        runtime.apply(USER)
    assert "what happened after it" in caught.value.stderr


# ---- the end ----


@pytest.mark.parametrize(
    "fault", ["behaves", "answers_after_the_stop:stop", "never_answers:stop", "ignores_sigterm:stop"]
)
def test_closing_leaves_no_process_behind(start, monkeypatch, fault):
    monkeypatch.setenv("TURNCHECK_TEST", mark := str(uuid4()))
    runtime = start(fault)
    runtime.reset()
    runtime.close()
    assert living(mark.encode()) == []


def test_closing_twice_is_as_good_as_once(start):
    runtime = start("behaves")
    runtime.close()
    runtime.close()


def test_options_of_a_reset_reach_the_runtime(start):
    runtime = start("says_its_options:reset")
    assert runtime.reset(ResetOptions(deaf_tools=True)).events == ({"type": "native", "options": {"deafTools": True}},)


# ---- what it says of itself, and the time of the whole run ----


@pytest.mark.parametrize(
    ("fault", "error", "why"),
    [
        ("changes_its_capabilities", ChangedError, "capabilities: no longer model-input and also tools"),
        ("changes_its_policies", ChangedError, 'profile.policies: {"busy":"steer"}, and first {"busy":"reject"}'),
        ("changes_its_name", ChangedError, 'name: "somebody-else", and first "misbehaving-runtime"'),
        ("changes_its_protocol", StartError, "speaks protocol 2, not 1"),
    ],
)
def test_a_twin_that_says_something_else_of_itself_is_refused(start, fault, error, why):
    runtime = start(f"{fault}:hello")
    with pytest.raises(error, match=re.escape(why)):
        runtime.again(7)


def test_a_replaced_process_that_says_something_else_of_itself_is_refused(start, tmp_path):
    runtime = start("changes_when_replaced:hello", tmp_path / "marker")
    runtime.kill()
    with pytest.raises(ChangedError, match="no longer model-input"):
        runtime.reset()


def hurry(monkeypatch, seconds):
    """Let so many seconds pass at once for a connection."""
    monkeypatch.setattr(connection, "time", SimpleNamespace(monotonic=lambda: time.monotonic() + seconds))


def test_nothing_is_asked_after_the_end_of_the_whole_run(start, monkeypatch, tmp_path):
    runtime = start("behaves:reset", tmp_path / "marker", until=time.monotonic() + LONG)
    hurry(monkeypatch, LONG)
    with pytest.raises(OverdueError, match="the time of the whole run is over"):
        runtime.reset()
    assert not (tmp_path / "marker").exists()


def test_an_answer_is_awaited_until_the_end_of_the_whole_run_at_most(start, monkeypatch):
    runtime = start("never_answers:reset", until=time.monotonic() + LONG)
    hurry(monkeypatch, LONG - SHORT)
    with pytest.raises(OverdueError):
        runtime.reset()


def test_a_runtime_that_hangs_before_that_end_hangs(start):
    runtime = start("never_answers:reset", until=time.monotonic() + 2 * LONG, timeout=SHORT)
    with pytest.raises(HangingError):
        runtime.reset()
