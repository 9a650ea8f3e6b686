"""A word that breaks a law is shrunk, whatever its stimuli name, and so are the options under which it was applied."""

from itertools import count

import pytest
from runtimes.wrong import (
    CompletesAfterAModelFailure,
    CountsAcrossResets,
    EndsTwice,
    LeavesTheSecondCallUnanswered,
    LosesTheSecondOfTwoAtOnce,
    LosesTheSecondResult,
    SerialRunsSideBySide,
    ToolFailureHasNoResult,
)

from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.observe.driver import Driver, answer_to
from turncheck.conformance.verify.engine import Options, Run
from turncheck.conformance.verify.shrink import shrink
from turncheck.conformance.verify.subjects.runtime import RuntimeSubject
from turncheck.model.core.stimuli import (
    Abort,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ResetOptions,
    Text,
    Together,
    ToolAwaited,
    ToolCall,
    ToolFail,
    User,
    Word,
)

PLAIN = ResetOptions()


def trace(driver, *names):
    """Apply stimuli that name what they answer, as generated ones do."""
    numbers = count(len(driver.steps))
    for name in names:
        at, first = next(numbers), next(iter(driver.awaiting), None)
        match name, first:
            case "user", None:
                driver.apply(User(id=f"u{at}", text=f"message {at}"))
            case "text", ModelAwaited(request_id=request):
                driver.apply(ModelOutput(item=Text(text=f"text {at}"), request_id=request))
            case "call", ModelAwaited(request_id=request):
                driver.apply(
                    ModelOutput(item=ToolCall(call_id=f"c{at}", tool="read", arguments={}), request_id=request)
                )
            case "break", ModelAwaited(request_id=request):
                driver.apply(ModelFail(failure="fatal", request_id=request))
            case "fail", ToolAwaited(call_id=call, execution=execution):
                driver.apply(ToolFail(call_id=call, message="broken", execution=execution))
            case "abort", _:
                driver.apply(Abort())
            case "end", awaited if awaited is not None:
                driver.apply(answer_to(awaited))
            case unexpected:
                raise AssertionError(unexpected)


def judged(driver, runtime, law, **options):
    """A run of the engine whose only word is the one that *driver* applied."""
    driver.close()
    subject = RuntimeSubject(runtime, runtime)
    run = Run(subject, [LAWS[law]], Options(**options))
    run.judge(subject.observation(driver.trace()))
    run.settle()
    return run


def word_left(driver, runtime, law):
    return judged(driver, runtime, law).failures.of(law)[0].observation.case


def kinds(word):
    return [type(stimulus).__name__ for stimulus in word.stimuli]


def reduced(runtime, law, *names):
    """Return the kinds of the stimuli left of a word that breaks a law."""
    driver = Driver(runtime, PLAIN)
    trace(driver, *names)
    return kinds(word_left(driver, runtime, law))


EARLIER = ("user", "call", "end", "end", "text", "end")
"""A run with a call, that ends."""


@pytest.mark.parametrize("earlier", [(), EARLIER, EARLIER * 3], ids=["alone", "after a run", "after three"])
def test_earlier_runs_are_left_out_though_executions_have_other_names_then(earlier):
    left = reduced(ToolFailureHasNoResult(), "tool-failure-survived", *earlier, "user", "call", "end", "fail")
    assert left == ["User", "ModelOutput", "ModelStop", "ToolFail"]


def test_earlier_runs_are_left_out_though_requests_have_other_names_then():
    left = reduced(CompletesAfterAModelFailure(), "model-failure-survived", *EARLIER, "user", "break")
    assert left == ["User", "ModelFail"]


# ---- options, and what comes together ----

SERIAL = {"tools": "serial"}
TOOLS = ({"name": "read"}, {"name": "bash"})


def options_left(runtime, law, options, *names):
    driver = Driver(runtime, options)
    trace(driver, *names)
    return word_left(driver, runtime, law).options


def test_options_that_change_nothing_are_left_out():
    options = ResetOptions(tools=TOOLS, limits={"maxRounds": 2}, policies=SERIAL, deaf_tools=True, observer="slow")
    assert options_left(EndsTwice(), "run-ends-once", options, "user", "end") == PLAIN


def test_an_option_without_which_the_law_holds_stays():
    options = ResetOptions(tools=TOOLS, limits={"maxRounds": 2}, policies=SERIAL)
    left = options_left(
        SerialRunsSideBySide(tools="parallel"), "tools-as-declared", options, "user", "call", "call", "end"
    )
    assert (left.limits, left.policies) == ({}, SERIAL)


def test_a_tool_that_the_word_calls_stays():
    options = ResetOptions(tools=TOOLS)
    left = options_left(ToolFailureHasNoResult(), "tool-failure-survived", options, "user", "call", "end", "fail")
    assert [tool["name"] for tool in left.tools] == ["read"]


def at_once(runtime, law):
    driver = Driver(runtime, PLAIN)
    driver.apply(Together(stimuli=(User(id="u1", text="one"), User(id="u2", text="two"))))
    return kinds(word_left(driver, runtime, law))


def test_messages_that_need_not_come_at_once_come_alone():
    assert at_once(EndsTwice(), "run-ends-once") == ["User"]


def test_messages_that_must_come_at_once_do():
    assert at_once(LosesTheSecondOfTwoAtOnce(), "sent-together-none-lost") == ["Together"]


def simplified(*stimuli, options=PLAIN, wrong):
    """Shrink a word as long as *wrong* holds of it; no runtime is asked."""
    subject = RuntimeSubject(EndsTwice(), EndsTwice())
    word = Word(stimuli, options)
    return shrink(word, subject, lambda smaller: smaller if wrong(smaller) else None)


def test_of_three_messages_at_once_the_one_that_does_not_matter_is_left_out():
    three = Together(stimuli=tuple(User(id=f"u{at}", text=f"message {at}") for at in range(3)))
    left = simplified(three, wrong=lambda word: "u0" in str(word) and "Together" in str(word) and "u2" in str(word))
    assert [one.id for one in left.stimuli[0].stimuli] == ["u0", "u2"]


@pytest.mark.parametrize("detail", [{"delivery": "steer"}, {"content": [1]}, {"sender": "x"}, {"meta": {}}])
def test_a_detail_of_a_message_that_changes_nothing_is_left_out(detail):
    left = simplified(User(id="u1", text="one", **detail), wrong=lambda word: word.stimuli)
    assert left.stimuli == (User(id="u1", text="one"),)


def test_the_name_of_the_request_that_is_answered_is_left_out_where_it_changes_nothing():
    left = simplified(ModelFail(failure="fatal", request_id="r7"), wrong=lambda word: word.stimuli)
    assert left.stimuli == (ModelFail(failure="fatal"),)


def test_all_options_that_change_nothing_are_left_out_at_once():
    options = ResetOptions(limits={"maxRounds": 2}, policies=SERIAL, deaf_tools=True, clock="manual")
    tried = []

    def wrong(word):
        tried.append(word)
        return word.stimuli

    simplified(User(id="u1", text="one"), options=options, wrong=wrong)
    assert next(word.options for word in tried if word.stimuli) == PLAIN


# ---- the second run of a relation law ----


def test_what_the_second_run_did_is_shown_until_it_differs():
    runtime = CountsAcrossResets()
    subject = RuntimeSubject(runtime, runtime)
    (finding,) = [one for one in LAWS["run-deterministic"].judge(observed(subject).means) if isinstance(one, Finding)]
    assert [type(one.stimulus).__name__ for one in finding.again] == ["User"]
    assert finding.again[0].step != observed(subject).trace.steps[0].answer


def observed(subject):
    return subject.observe(Word((User(id="u1", text="one"), Abort()), PLAIN))


# ---- several counterexamples of a law ----


class LosesCallsInTwoWays(LeavesTheSecondCallUnanswered, LosesTheSecondResult):  # type: ignore[misc] # pythonpath
    """A call has no result after an abort, and in a batch."""


def lost(several, thrift=1):
    runtime, law = LosesCallsInTwoWays(), "calls-answered"
    subject = RuntimeSubject(runtime, runtime)
    run = Run(subject, [LAWS[law]], Options(several=several, thrift=thrift))
    for names in (("user", "call", "call", "end", "abort"), ("user", "call", "call", "end", "end", "end")):
        driver = Driver(runtime, PLAIN)
        trace(driver, *names)
        driver.close()
        run.judge(subject.observation(driver.trace()))
    run.settle()
    return run


def test_two_faults_behind_one_law_are_two_counterexamples():
    words = [kinds(failure.observation.case) for failure in lost(several=2).failures.of("calls-answered")]
    assert sorted("Abort" in word for word in words) == [False, True]


def test_two_faults_behind_one_law_are_two_causes():
    assert len(lost(several=2).failures.causes()) == 2


def test_one_counterexample_per_law_is_kept_by_default():
    assert len(lost(several=1).failures.of("calls-answered")) == 1


def test_a_counterexample_that_could_not_be_shrunk_to_the_end_does_not_stand_beside_one_with_its_message():
    assert len(lost(several=2, thrift=500).failures.of("calls-answered")) == 1
