"""Each way in which a runtime over the protocol can misbehave: its name, what it costs, and what is left."""

import time
from typing import NamedTuple
from uuid import uuid4

import pytest
from faulty_targets import HANGING, LONG, SHORT, USER, WORD, double, timeout_for
from processes import living

from turncheck.adapters.protocol.errors import (
    DiedError,
    FailedError,
    HangingError,
    RubbishError,
    StartError,
    TargetError,
)
from turncheck.adapters.protocol.messages import Answer
from turncheck.adapters.targets.registry import open_runtime
from turncheck.adapters.targets.remote_runtime import WORD_SECONDS
from turncheck.model.core.stimuli import Step

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
