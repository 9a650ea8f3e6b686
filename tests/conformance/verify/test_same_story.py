"""Metamorphic pairs: one story told to two machines projects to the same cycles, up to policy (X-1)."""

from itertools import combinations

import pytest

from turncheck.adapters.references.registry import REFERENCES, reference_runtime
from turncheck.conformance.generation.situations import TOOLS
from turncheck.conformance.observe.driver import Driver
from turncheck.model.core.cycles import AiBlock
from turncheck.model.core.stimuli import (
    Abort,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

HELLO = User(id="u1", text="say 1 red")
AGAIN = User(id="u2", text="say 2 blue")
SAYS = ModelOutput(item=Text(text="answer 1 red."))
CALLS = ModelOutput(item=ToolCall(call_id="c1", tool="read", arguments={"path": "a"}))
ENDS = ModelStop(reason="end-turn")
USES = ModelStop(reason="tool-use")
STORIES = {
    "an answer": (HELLO, SAYS, ENDS),
    "two answers": (HELLO, SAYS, ENDS, AGAIN, ModelOutput(item=Text(text="answer 2 blue.")), ENDS),
    "a tool": (HELLO, SAYS, CALLS, USES, ToolReturn(call_id="c1", output="result 1"), SAYS, ENDS),
    "a tool that fails": (HELLO, CALLS, USES, ToolFail(call_id="c1", message="failure 1"), SAYS, ENDS),
    "a model that fails": (HELLO, ModelFail(failure="fatal"), AGAIN, SAYS, ENDS),
    "an abort before anything is said": (HELLO, Abort(), AGAIN, SAYS, ENDS),
    "an abort amid a tool": (HELLO, CALLS, USES, Abort(), AGAIN, SAYS, ENDS),
}


def tell(driver, story):
    """Apply a story; an unawaited stimulus comes later: an engine runs a tool before the response ends (RS-4.3)."""
    left = list(story)
    while left:
        for stimulus in left:
            if driver.apply(stimulus).took_place:
                place = left.index(stimulus)
                # What an abort overtakes is never said.
                left = left[place + 1 :] if isinstance(stimulus, Abort) else [*left[:place], *left[place + 1 :]]
                break
        else:
            raise AssertionError(f"nobody waits for {left}")


def cycles(machine, story):
    """Return the story's cycles without positions: for each its end, its steps, and its number of rounds."""
    runtime = reference_runtime(machine)
    driver = Driver(runtime, ResetOptions(tools=TOOLS))
    tell(driver, story)
    runtime.close()
    trace = driver.trace()
    return [
        (cycle.kind, cycle.reason, [told(step, trace) for step in cycle.steps], len(cycle.rounds))
        for cycle in trace.cycles
    ]


def told(step, trace):
    if not isinstance(step, AiBlock):
        return "message"
    return [(group.type, [answered(call, trace) for call in group.calls]) for group in step.groups]


def answered(call, trace):
    return call.result is not None and bool(trace.log[call.result].get("isError"))


@pytest.mark.parametrize(("one", "other"), list(combinations(REFERENCES, 2)))
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_story_has_the_same_cycles_in_two_machines(one, other, story):
    if any(isinstance(stimulus, Abort) for stimulus in story) and "turn" in {one, other}:
        assert not reference_runtime("turn").profile.can("abort")  # a turn is never aborted: TM has no such event
        return
    assert cycles(one, story) == cycles(other, story)
