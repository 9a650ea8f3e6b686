"""A runtime over the protocol: the meaning of its answers, and the outcome of each way to misbehave."""

import os
import re
import shlex
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from uuid import uuid4

import pytest
from processes import living

from turncheck.adapters.protocol import connection
from turncheck.adapters.protocol.errors import (
    ChangedError,
    DiedError,
    FailedError,
    HangingError,
    OverdueError,
    RubbishError,
    StartError,
    TargetError,
)
from turncheck.adapters.protocol.messages import Answer, Profile
from turncheck.adapters.protocol.processes.process import STDERR_LINES
from turncheck.adapters.targets.registry import open_projector, open_runtime
from turncheck.adapters.targets.remote_runtime import WORD_SECONDS
from turncheck.model.core.stimuli import ModelAwaited, ModelOutput, ModelStop, Refusal, ResetOptions, Step, Text, User

DOUBLES = Path(__file__).parents[1] / "doubles"
SHORT = 0.3
LONG = 20.0  # never waited for: an answer comes, or the test is about something else
USER = User(id="u1", text="one")
WORD = (USER, ModelOutput(item=Text(text="answer")), ModelStop(reason="end-turn"))

HANGING = {
    "never_answers": (HangingError, r"no answer within 0\.3 s"),
    "spins": (HangingError, r"no answer within 0\.3 s"),
    "ignores_sigterm": (HangingError, r"no answer within 0\.3 s"),
    "hides_behind_a_child": (HangingError, r"no answer within 0\.3 s"),
    "answers_half_a_line": (HangingError, r"no end of the answer within 0\.3 s"),
}
FAULTS = HANGING | {
    "dies_in_the_middle_of_an_answer": (DiedError, "was killed by SIGSEGV"),
    "dies_after_its_answer": (DiedError, "ended with exit code 3"),
    "exits": (DiedError, "ended with exit code 7"),
    "closes_stdin": (DiedError, "closed its stdin, but runs on"),
    "closes_stdout": (DiedError, "closed its stdout, but runs on"),
    "leaves_children_behind": (DiedError, "was killed by SIGKILL"),
    "answers_twice": (RubbishError, "an answer that was already given"),
    "answers_out_of_turn": (RubbishError, "an answer that was already given"),
    "answers_with_another_seq": (RubbishError, "wrong seq: 9 came where 2 was due"),
    "floods_a_line": (RubbishError, "more than 67,108,864 bytes on stdout"),
    "floods_lines": (RubbishError, "came: still working"),
    "prints_between_lines": (RubbishError, "came: DEBUG: asking the model"),
    "prints_empty_lines": (RubbishError, "an empty line"),
    "has_events_that_are_no_list": (RubbishError, r"Expected `array`, got `object` - at `\$\.events`"),
    "has_no_events": (RubbishError, "no events, or no awaiting"),
    "has_no_awaiting": (RubbishError, "no events, or no awaiting"),
    "awaits_what_nobody_knows": (RubbishError, r"'telepathy' - at `\$\.awaiting\[0\]\.kind`"),
    "answers_hugely": (RubbishError, "more than 67,108,864 bytes on stdout"),
    "answers_what_is_no_utf_8": (RubbishError, "not JSON"),
    "answers_not_a_number": (RubbishError, "NaN is no number of JSON"),
    "fails": (FailedError, "the adapter failed: KeyError: 'callId'"),
    "does_not_know_the_command": (TargetError, "a runtime must know this: apply"),
}


def double(*arguments):
    return "cmd:" + shlex.join([sys.executable, str(DOUBLES / "misbehaving_runtime.py"), *map(str, arguments)])


def timeout_for(fault):
    return SHORT if fault.partition(":")[0] in HANGING else LONG


@pytest.fixture
def start():
    targets = []

    def start(fault, *arguments, timeout=LONG, **options):
        targets.append(open_runtime(double(fault, *arguments), timeout=timeout, **options))
        return targets[-1]

    yield start
    for target in targets:
        target.close()


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


# ---- each way to misbehave ----


class Broken(NamedTuple):
    """The outcome of a fault: the error, its seconds, the processes left, a reset after it, those left at the end."""

    error: TargetError
    seconds: float
    left: list[str]
    after: Step
    left_in_the_end: list[str]


@pytest.fixture(scope="module", params=FAULTS)
def fault(request):
    return request.param


@pytest.fixture(scope="module")
def broken(fault):
    mark = str(uuid4())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNCHECK_TEST", mark)
        with open_runtime(double(fault), timeout=timeout_for(fault)) as runtime:
            runtime.reset()
            began = time.monotonic()
            with pytest.raises(TargetError) as caught:
                [
                    runtime.apply(stimulus) for stimulus in WORD
                ]  # the whole word: an answer too many is found with the next one
            seconds = time.monotonic() - began
            left = living(mark.encode())
            after = runtime.reset()
    return Broken(caught.value, seconds, left, after, living(mark.encode()))


def test_misbehaviour_has_a_name(fault, broken):
    kind, why = FAULTS[fault]
    assert type(broken.error) is kind
    with pytest.raises(kind, match=why):
        raise broken.error


def test_misbehaviour_tells_what_was_sent_expected_and_came_and_where_to_read(broken):
    assert [line.partition(":")[0] for line in str(broken.error).splitlines() if line.startswith("  ")][:3] == [
        "  sent",
        "  expected",
        "  came",
    ]


def test_misbehaviour_shows_the_last_lines_of_stderr(broken):
    assert "about to misbehave" in broken.error.stderr


def test_misbehaviour_costs_no_more_than_its_bound(broken):
    assert broken.seconds < LONG


def test_misbehaviour_leaves_no_process_behind(broken):
    assert broken.left == []


def test_after_misbehaviour_the_target_can_be_reset(broken):
    assert broken.after == Step()


def test_after_misbehaviour_closing_leaves_no_process(broken):
    assert broken.left_in_the_end == []


def test_after_misbehaviour_the_next_target_works(broken, start):
    runtime = start("behaves")
    runtime.reset()
    assert len(runtime.run(WORD)) == len(WORD)


@pytest.mark.parametrize(
    ("fault", "error", "why"),
    [
        ("never_answers", HangingError, r"within 0\.3 s"),
        ("exits", DiedError, "exit code 7"),
        ("dies_in_the_middle_of_an_answer", DiedError, "SIGSEGV"),
        ("prints_between_lines", RubbishError, "came: DEBUG"),
        ("answers_with_another_seq", RubbishError, "wrong seq"),
        ("answers_as_a_projector", RubbishError, r"no events, or no awaiting(?s:.)*came: .*\"ok\":true"),
        ("fails", FailedError, "the adapter failed"),
        ("does_not_know_the_command", TargetError, "must know this: reset"),
    ],
)
def test_misbehaviour_at_a_reset_has_a_name(start, fault, error, why):
    with pytest.raises(error, match=why):
        start(f"{fault}:reset", timeout=timeout_for(fault)).reset()


@pytest.mark.parametrize(
    ("fault", "error", "why"),
    [
        ("exits", DiedError, "exit code 7"),
        ("answers_as_a_projector", RubbishError, r"no steps(?s:.)*came: .*\"ok\":true"),
        ("has_one_step_less", RubbishError, "2 steps for 3 stimuli, and the last is not unsettled"),
        ("has_one_step_more", RubbishError, "more steps than stimuli"),
        ("goes_on_after_no_quiet", RubbishError, "a step after one that is unsettled"),
        ("fails", FailedError, "the adapter failed"),
    ],
)
def test_misbehaviour_at_a_word_has_a_name(start, fault, error, why):
    runtime = start(f"{fault}:run")
    runtime.reset()
    with pytest.raises(error, match=why):
        runtime.run(WORD)


def test_a_hanging_word_costs_a_timeout_for_each_stimulus(start):
    runtime = start("never_answers:run", timeout=SHORT)
    runtime.reset()
    with pytest.raises(HangingError, match=rf"within {SHORT * len(WORD):g} s"):
        runtime.run(WORD)


@pytest.mark.parametrize(("timeout", "seconds"), [(5.0, WORD_SECONDS), (2 * WORD_SECONDS, 2 * WORD_SECONDS)])
def test_a_long_word_has_a_bound_of_its_own(start, monkeypatch, timeout, seconds):
    runtime = start("behaves", timeout=timeout)
    runtime.reset()
    asked = []

    def ask(message, seconds):
        asked.append(seconds)
        return Answer(1, ok=True, steps=(Step(),) * 100)

    monkeypatch.setattr(runtime, "_ask", ask)
    runtime.run([USER] * 100)
    assert asked == [seconds]


def test_misbehaviour_at_hello_cannot_start():
    with pytest.raises(StartError, match=r"cannot start: .* exit code 7"):
        open_runtime(double("exits:hello"), timeout=LONG)


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
