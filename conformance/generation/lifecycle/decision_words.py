"""Words on calls that a person or the client decides about: each step of a decision beside all that may come between.

A step is the question, an approval, a denial, or the client's result; what comes between is an abort, a failure of the
model or of a tool, another message. Kills come from the laws on restarts. Then answers that nobody waits for.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from turncheck.model.core.stimuli import (
    Abort,
    Approve,
    ClientResult,
    Deny,
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

from ..situations import LOCATE, PAY


class _Step(NamedTuple):
    """A step of a decision: its name, what it needs, and the word that ends with it."""

    name: str
    needs: tuple[str, ...]
    word: tuple[Stimulus, ...]


Situation = tuple[tuple[str, ...], str, tuple[Stimulus, ...]]
"""The capabilities that a word needs, its name, and the word."""

_FIRST: Final = User(id="u1", text="say 1 red")
_STOP, _CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
_TEXT: Final = ModelOutput(item=Text(text="answer 2 red."))
_FAILS: Final = ModelFail(failure="stream")
_MESSAGES: Final = {
    "a steer": (("steer",), User(id="u8", text="say 8 red", delivery="steer")),
    "a follow-up": (("follow-up",), User(id="u8", text="say 8 red", delivery="followUp")),
    "a message": ((), User(id="u8", text="say 8 red")),
}


def _call(name: str, tool: Any, path: str = "5") -> ModelOutput:
    return ModelOutput(item=ToolCall(call_id=name, tool=tool["name"], arguments={"path": path}))


_READ: Final = {"name": "read"}
_PLAIN, _FIFTH, _SIXTH, _SEVENTH = _call("c4", _READ), _call("c5", PAY), _call("c6", PAY), _call("c7", LOCATE)
_YES, _NO = Approve(call_id="c5"), Deny(call_id="c5", message="refusal 5")
_LOCATED: Final = ClientResult(call_id="c7", output="result 7 red")
_PAUSED: tuple[Stimulus, ...] = (_FIRST, _FIFTH, _CALLED)
_BOTH: tuple[Stimulus, ...] = (_FIRST, _FIFTH, _SIXTH, _CALLED)
_LOCATES: tuple[Stimulus, ...] = (_FIRST, _SEVENTH, _CALLED)
_PERSON, _CLIENT = ("approval",), ("client-tools",)
STEPS: Final = (
    _Step("a question", _PERSON, _PAUSED),
    _Step("one of two questions", _PERSON, (*_BOTH, Deny(call_id="c6"))),
    _Step("an approval", _PERSON, (*_PAUSED, _YES)),
    _Step("a denial", _PERSON, (*_PAUSED, _NO)),
    _Step("a question to the client", _CLIENT, _LOCATES),
    _Step("the client's result", _CLIENT, (*_LOCATES, _LOCATED)),
)


def decision_words() -> Iterator[Situation]:
    """Yield the situations with what each needs."""
    for step in STEPS:
        yield (*step.needs, "abort"), f"an abort after {step.name}", (*step.word, Abort())
        for what, (needs, message) in _MESSAGES.items():
            yield (*step.needs, *needs), f"{what} after {step.name}", (*step.word, message)
    yield from _model_failures()
    yield from _tool_failures()
    yield from _orders()
    yield from _late()


def _model_failures() -> Iterator[Situation]:
    needs = (*_PERSON, "model-failure")
    yield needs, "a model's failure before its question", (_FIRST, _FIFTH, _FAILS)
    yield needs, "a model's failure after an approval", (*_PAUSED, _YES, _returned("c5"), _FAILS)
    yield needs, "a model's failure after a denial", (*_PAUSED, _NO, _FAILS)
    needs = (*_CLIENT, "model-failure")
    yield needs, "a model's failure before its question to the client", (_FIRST, _SEVENTH, _FAILS)
    yield needs, "a model's failure after the client's result", (*_LOCATES, _LOCATED, _FAILS)


def _tool_failures() -> Iterator[Situation]:
    needs = (*_PERSON, "tools", "tool-failure")
    failed = ToolFail(call_id="c4", message="failure 4")
    yield needs, "a tool's failure before a question", (_FIRST, _PLAIN, _FIFTH, _CALLED, failed, _YES)
    yield needs, "a failure of what was approved", (*_PAUSED, _YES, ToolFail(call_id="c5", message="failure 5"))
    sixth = Approve(call_id="c6"), ToolFail(call_id="c6", message="failure 6")
    yield needs, "a failure of what was approved, after a denial", (*_BOTH, _NO, *sixth)
    needs = (*_CLIENT, "tools", "tool-failure")
    beside: Sequence[Stimulus] = (_FIRST, _PLAIN, _SEVENTH, _CALLED, failed, _LOCATED)
    yield needs, "a tool's failure before a question to the client", tuple(beside)


def _orders() -> Iterator[Situation]:
    sixth = Approve(call_id="c6")
    yield _PERSON, "two approvals", (*_BOTH, _YES, _returned("c5"), sixth, _returned("c6"))
    yield _PERSON, "two denials, the second first", (*_BOTH, Deny(call_id="c6"), _NO)
    yield _PERSON, "an approval, and a denial before it", (*_BOTH, _NO, sixth, _returned("c6"))
    yield _PERSON, "an approval of the second first", (*_BOTH, sixth, _NO, _returned("c6"))
    both = (*_PERSON, *_CLIENT)
    yield both, "a person and the client", (_FIRST, _FIFTH, _SEVENTH, _CALLED, _LOCATED, _YES, _returned("c5"))
    again: Sequence[Stimulus] = (*_PAUSED, _NO, _SIXTH, _CALLED, sixth, _returned("c6"), _TEXT, _STOP)
    yield _PERSON, "a question after a denial", tuple(again)


def _late() -> Iterator[Situation]:
    """Answers that nobody waits for; refusing them is as good as ignoring them."""
    yield _PERSON, "an approval of a call that nobody made", (*_PAUSED, Approve(call_id="c99"), _YES)
    yield _PERSON, "an approval before the question", (_FIRST, _FIFTH, _YES, _CALLED)
    yield _PERSON, "an approval twice", (*_PAUSED, _YES, _YES, _returned("c5"))
    yield _PERSON, "a denial after an approval", (*_PAUSED, _YES, _NO, _returned("c5"))
    yield _PERSON, "an approval after a denial", (*_PAUSED, _NO, _YES, _TEXT, _STOP)
    yield _PERSON, "an approval after the run", (*_PAUSED, _NO, _TEXT, _STOP, _YES)
    yield (*_PERSON, "abort"), "an approval after an abort", (*_PAUSED, Abort(), _YES)
    yield _CLIENT, "the client's result twice", (*_LOCATES, _LOCATED, _LOCATED, _TEXT, _STOP)
    yield (*_CLIENT, "abort"), "the client's result after an abort", (*_LOCATES, Abort(), _LOCATED)


def _returned(name: str) -> ToolReturn:
    return ToolReturn(call_id=name, output=f"result {name} red")
