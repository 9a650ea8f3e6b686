"""``reference:interaction`` on compactions of its history."""

import pytest

from turncheck.adapters.references.interaction import InteractionRuntime
from turncheck.model.core.stimuli import (
    Abort,
    Compact,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Text,
    ToolCall,
    ToolReturn,
    User,
)

FIRST, LAST = User(id="u1", text="one"), User(id="u9", text="nine")
END, CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
RETRYABLE, FATAL = ModelFail(failure="retryable"), ModelFail(failure="fatal")
COMPACT = Compact()


def says(text):
    return ModelOutput(item=Text(text=text))


RUN = (FIRST, says("hi"), END)


def driven(*stimuli, **policies):
    runtime = InteractionRuntime(policies=policies)
    runtime.reset(ResetOptions(tools=({"name": "read"},)))
    return runtime, runtime.run((*RUN, *stimuli))


def shown(*stimuli, **policies):
    """What the model is shown with the message that follows."""
    runtime, _ = driven(*stimuli, LAST, **policies)
    return [entry.text for entry in runtime.request.input]


def awaited(step):
    return [(one.request_id, one.purpose) for one in step.awaiting if isinstance(one, ModelAwaited)]


def test_a_compaction_asks_the_model_and_says_for_what():
    runtime, steps = driven(COMPACT)
    assert awaited(steps[-1]) == [("r2", "compaction")]
    assert [event.get("purpose") for event in runtime.log if event["type"] == "model-request"] == [None, "compaction"]


def test_a_summary_takes_the_place_of_what_was_said():
    assert shown(COMPACT, says("a greeting"), says("and no more"), END) == ["[summary] a greeting and no more", "nine"]


def test_a_summary_of_a_summary_takes_its_place():
    assert shown(COMPACT, says("first"), END, COMPACT, says("second"), END) == ["[summary] second", "nine"]


def test_a_call_goes_with_its_result():
    call = ModelOutput(item=ToolCall(call_id="c1", tool="read", arguments={}))
    word = (User(id="u2", text="two"), call, CALLED, ToolReturn(call_id="c1", output="text"), says("read"), END)
    assert shown(*word, COMPACT, says("they read"), END) == ["[summary] they read", "nine"]


def test_a_compaction_logs_neither_a_message_nor_an_end():
    runtime, _ = driven(COMPACT, says("a greeting"), END)
    assert [event["type"] for event in runtime.log[-2:]] == ["run-stop", "model-request"]


def test_a_compaction_while_a_run_is_open_is_refused():
    _, steps = driven(LAST, COMPACT)
    assert (steps[-1].refused.why, awaited(steps[-1])) == ("rejected", [("r2", None)])


@pytest.mark.parametrize("end", [Abort(), FATAL, RETRYABLE], ids=["abort", "fatal", "retryable"])
def test_where_there_is_no_summary_the_history_stays(end):
    assert shown(COMPACT, says("a gree"), end) == ["one", "hi", "nine"]


def test_a_message_amid_a_compaction_comes_first_and_is_shown_all():
    runtime, steps = driven(COMPACT, LAST)
    assert awaited(steps[-1]) == [("r3", None)]
    assert [entry.text for entry in runtime.request.input] == ["one", "hi", "nine"]


def test_where_it_is_declared_a_failure_drops_what_was_to_be_compacted():
    assert shown(COMPACT, FATAL, compactionFails="drop-prefix") == ["nine"]


def test_a_failure_is_tried_again_as_often_as_declared():
    _, steps = driven(COMPACT, RETRYABLE, RETRYABLE, compactionRetries=1)
    assert [awaited(step) for step in steps[-3:]] == [[("r2", "compaction")], [("r3", "compaction")], []]
