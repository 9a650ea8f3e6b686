"""A driver applies words, closes them, and records what they lead to."""

import pytest
from runtimes.right import Right
from scripted import (
    BEGUN,
    CALLS,
    DONE,
    ENDED,
    SAYS,
    STOPS,
    TEXT,
    UNSETTLED,
    Scripted,
    model,
    request,
    said,
    sent,
    step,
    tool,
)

from turncheck.conformance.observe.driver import (
    ANSWERS,
    PROBE,
    Driver,
    Recorder,
    UnsettledError,
    answer_to,
    perform,
    recorded,
    repeating,
)
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Step,
    TimerAwaited,
    ToolReturn,
    User,
)

OPTIONS = ResetOptions()
WORD = (sent("u1"), SAYS, STOPS)


def started(*answers, options=OPTIONS, **given):
    return Driver(Scripted(*answers, **given), options)


# What is recorded


def test_a_step_has_the_situations_around_it():
    driver = started(BEGUN, ENDED)
    first, second = driver.apply(sent("u1")), driver.apply(STOPS)
    assert (first.before, first.was_active, first.active) == ((), False, True)
    assert (second.before, second.was_active, second.active) == ((model(),), True, False)


def test_a_step_has_the_positions_of_its_own_events():
    driver = started(BEGUN, ENDED)
    assert [(one.first, one.end) for one in (driver.apply(sent("u1")), driver.apply(STOPS))] == [(0, 2), (2, 3)]


def test_what_a_reset_leads_to_is_in_the_log_and_in_no_step():
    driver = started(BEGUN, start=step(said("u0"), DONE))
    assert (len(driver.log), driver.trace().steps) == (2, ())


def test_policies_are_the_declared_ones_as_the_options_change_them():
    driver = started(BEGUN, options=ResetOptions(policies={"busy": "steer"}), busy="reject", retries=2)
    assert driver.trace().policies == {"busy": "steer", "retries": 2}


def test_capabilities_are_the_declared_ones():
    assert started(BEGUN).trace().capabilities == {"abort"}


def test_a_trace_is_the_same_from_recorded_steps():
    seen = perform(Right(), WORD, OPTIONS).trace()
    stimuli, answers = [one.stimulus for one in seen.steps], [one.answer for one in seen.steps]
    assert recorded(stimuli, answers, [one.closing for one in seen.steps], OPTIONS, Right().profile) == seen


# A whole word


def test_a_whole_word_is_one_message():
    runtime = Scripted(BEGUN, step(TEXT, awaiting=[model()]), ENDED)
    driver = Driver(runtime, OPTIONS)
    driver.run(WORD)
    assert (runtime.words, [one.stimulus for one in driver.steps]) == (1, [*WORD])


def test_of_a_whole_word_what_the_environment_adds_is_told_apart():
    driver = started(BEGUN, step(TEXT, awaiting=[model()]), ENDED)
    driver.run(WORD, (False, True))
    assert [one.closing for one in driver.steps] == [False, True, False]


def test_what_applies_a_word_again_does_not_close_it():
    assert [one.stimulus for one in repeating(Right())(WORD[:2], OPTIONS).trace.steps] == [*WORD[:2]]


def test_what_applies_a_word_again_ends_where_it_does_not_settle():
    repeated = repeating(Scripted(BEGUN, UNSETTLED, ENDED))(WORD, OPTIONS)
    assert [one.step for one in repeated.applied] == [BEGUN, UNSETTLED]


def test_a_word_that_is_applied_again_has_the_trace_of_the_first_time():
    driver = Driver(Right(), OPTIONS)
    driver.run(WORD)
    assert repeating(Right())(WORD, OPTIONS).trace == driver.trace()


def test_a_word_that_is_performed_is_closed():
    assert [one.closing for one in perform(Right(), WORD[:1], OPTIONS).steps[:2]] == [False, True]


# No quiet


def test_a_step_that_does_not_settle_ends_the_word():
    driver = started(BEGUN, UNSETTLED)
    driver.apply(sent("u1"))
    with pytest.raises(UnsettledError):
        driver.apply(SAYS)


def test_a_step_that_does_not_settle_is_recorded():
    driver = perform(Scripted(BEGUN, UNSETTLED), WORD, OPTIONS)
    assert (len(driver.steps), driver.unsettled) == (2, True)


def test_a_settled_word_is_not_unsettled():
    assert not started(BEGUN).unsettled
    assert not perform(Right(), WORD, OPTIONS).unsettled


# Closing


def closed(word, runtime=None):
    driver = Driver(runtime or Right(), OPTIONS)
    for stimulus in word:
        driver.apply(stimulus)
    driver.close()
    return driver


def test_after_closing_nothing_is_open():
    driver = closed((sent("u1"), CALLS, ModelStop(reason="tool-use")))
    assert (driver.active, driver.awaiting) == (False, ())


def test_closing_sends_one_message_more_after_the_end_and_answers_it():
    stimuli = [one.stimulus for one in closed((sent("u1"),)).steps]
    assert [one for one in stimuli if isinstance(one, User)] == [sent("u1"), PROBE]
    assert isinstance(stimuli[-1], ModelStop)


def test_closing_is_marked():
    assert [one.closing for one in closed((sent("u1"),)).steps] == [False, True, True, True, True, True]


def test_closing_gives_each_response_a_text_of_its_own():
    texts = [one.stimulus.item for one in closed((sent("u1"),)).steps if isinstance(one.stimulus, ModelOutput)]
    assert len({*texts}) == len(texts) == 2


def test_a_word_without_a_run_is_not_closed():
    assert len(closed((Abort(),)).steps) == 1


def test_a_deaf_tool_is_answered_after_the_end_of_its_run():
    deaf = step(DONE, awaiting=[tool(cancelled=True)])
    driver = closed((sent("u1"), Abort()), Scripted(BEGUN, deaf, step()))
    assert isinstance(driver.steps[2].stimulus, ToolReturn)


def test_a_timer_that_is_left_while_idle_is_not_waited_for():
    timer = TimerAwaited(due=5.0)
    driver = closed((sent("u1"), STOPS), Scripted(BEGUN, step(DONE, awaiting=[timer])))
    assert [one.stimulus for one in driver.steps] == [sent("u1"), STOPS]


def test_a_timer_of_a_run_is_waited_for():
    timer = step(awaiting=[TimerAwaited(due=5.0)])
    driver = closed((sent("u1"), SAYS), Scripted(BEGUN, timer, ENDED))
    assert driver.steps[2].stimulus == Advance(seconds=5.0)


def test_a_request_that_a_text_ends_is_not_ended_again():
    asks_again = step(TEXT, request("r2"), awaiting=[model("r2")])
    driver = closed((sent("u1"),), Scripted(BEGUN, asks_again, step(TEXT, awaiting=[model("r2")]), ENDED))
    ends = [one.stimulus.request_id for one in driver.steps if isinstance(one.stimulus, ModelStop)]
    assert ends == ["r2"]


def test_closing_ends_where_a_run_does_not():
    driver = closed((sent("u1"),), Scripted(BEGUN, step(awaiting=[model()])))
    assert len(driver.steps) == 1 + 2 * ANSWERS


# Answers


@pytest.mark.parametrize(
    ("awaited", "stimulus"),
    [
        (model("r7"), ModelStop(reason="end-turn", request_id="r7")),
        (tool("c7"), ToolReturn(call_id="c7", output="closing result", execution="run of c7")),
        (TimerAwaited(due=2.5), Advance(seconds=2.5)),
    ],
    ids=("model", "tool", "timer"),
)
def test_what_is_awaited_is_ended_by_its_own_stimulus(awaited, stimulus):
    assert answer_to(awaited) == stimulus


def test_a_recorder_needs_no_runtime():
    recorder = Recorder(OPTIONS, Right().profile)
    recorder.observe(sent("u1"), Step())
    assert len(recorder.trace().steps) == 1
