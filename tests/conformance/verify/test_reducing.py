"""A word that breaks a law is shrunk, whatever its stimuli name."""

from itertools import count

import pytest
from runtimes.wrong import CompletesAfterAModelFailure, ToolFailureHasNoResult

from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.observe.driver import Driver, answer_to
from turncheck.conformance.verify.judging_runs import RuntimeVerification
from turncheck.model.core.stimuli import (
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ResetOptions,
    Text,
    ToolAwaited,
    ToolCall,
    ToolFail,
    User,
)

PLAIN = ResetOptions()


def play(driver, *names):
    """Apply stimuli that name what they answer, as generated ones do."""
    numbers = count(len(driver.moves))
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
            case "end", awaited if awaited is not None:
                driver.apply(answer_to(awaited))
            case unexpected:
                raise AssertionError(unexpected)


def reduced(runtime, law, *names):
    """The kinds of what is left of a word that breaks a law."""
    driver = Driver(runtime, PLAIN)
    play(driver, *names)
    driver.close()
    run = RuntimeVerification(runtime, runtime, [LAWS[law]], float("inf"), fail_fast=False, progress=lambda _: None)
    found = [item for item in LAWS[law].judge(driver.play()) if isinstance(item, Finding)]
    run.remember(law, driver, found[0])
    run.reduce(LAWS[law])
    return [type(stimulus).__name__ for stimulus in run.failures[law].word.stimuli]


EARLIER = ("user", "call", "end", "end", "text", "end")
"""A run with a call, that ends."""


@pytest.mark.parametrize("earlier", [(), EARLIER, EARLIER * 3], ids=["alone", "after a run", "after three"])
def test_earlier_runs_are_left_out_though_executions_have_other_names_then(earlier):
    left = reduced(ToolFailureHasNoResult(), "tool-failure-survived", *earlier, "user", "call", "end", "fail")
    assert left == ["User", "ModelOutput", "ModelStop", "ToolFail"]


def test_earlier_runs_are_left_out_though_requests_have_other_names_then():
    left = reduced(CompletesAfterAModelFailure(), "model-failure-survived", *EARLIER, "user", "break")
    assert left == ["User", "ModelFail"]
