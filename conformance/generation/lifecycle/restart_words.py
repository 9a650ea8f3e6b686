"""Words behind which a runtime is killed: each moment of a run, of a decision, of a compaction, and all that cuts one.

The laws on restarts kill behind the last stimulus, or within it. Of the other words they get a sample alone.
"""

from collections.abc import Iterator
from typing import Final

from turncheck.model.core.stimuli import (
    Abort,
    ModelFail,
    ModelOutput,
    ModelStop,
    Stimulus,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from . import compaction_words, decision_words
from .decision_words import Situation

_FIRST: Final = User(id="u1", text="say 1 red")
_STEER, _WAITING = (User(id="u8", text="say 8 red", delivery=delivery) for delivery in ("steer", "followUp"))
_TEXT: Final = ModelOutput(item=Text(text="answer 2 red."))
_CALL: Final = ModelOutput(item=ToolCall(call_id="c5", tool="read", arguments={"path": "5"}))
_STOP, _CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
_AMID: tuple[Stimulus, ...] = (_FIRST, _CALL, _CALLED)
_MOMENTS: Final[tuple[Situation, ...]] = (
    ((), "a message", (_FIRST,)),
    ((), "a text", (_FIRST, _TEXT)),
    ((), "the end of a run", (_FIRST, _TEXT, _STOP)),
    (("steer",), "a steer", (_FIRST, _STEER)),
    (("follow-up",), "a follow-up", (_FIRST, _WAITING)),
    (("abort",), "an abort", (_FIRST, _TEXT, Abort())),
    (("abort", "follow-up"), "an abort while a follow-up waits", (_FIRST, _WAITING, Abort())),
    (("model-failure",), "a model's failure", (_FIRST, ModelFail(failure="fatal"))),
    (("tools",), "a call that runs", _AMID),
    (("tools",), "a result", (*_AMID, ToolReturn(call_id="c5", output="result 5 red"))),
    (("tools", "tool-failure"), "a tool's failure", (*_AMID, ToolFail(call_id="c5", message="failure 5"))),
    (("tools", "abort"), "an abort amid a call", (*_AMID, Abort())),
)


def restart_words() -> Iterator[Situation]:
    """Yield the situations with what each needs."""
    decisions = ((step.needs, step.name, step.word) for step in decision_words.STEPS)
    compactions = ((("compaction",), moment.name, moment.word) for moment in compaction_words.MOMENTS)
    for needs, name, word in (*_MOMENTS, *decisions, *compactions):
        yield (*needs, "persistence"), f"a restart after {name}", word
