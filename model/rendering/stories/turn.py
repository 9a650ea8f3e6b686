"""The six steps of the single-chat turn: the machine is told stories, and what it does is drawn.

A box on the turn's line is the step that it is in now; where receive and execute wait for somebody, what they wait for
follows the colon. What the journal is told are the log events that an output amounts to.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...declaration.vocabulary import Output
from ...machines.turn import DEFAULTS, OUTCOMES, SPEC, refine
from ..scene import Arrow, Scene
from .story import Moment, Stories, Word, moments, says, told

PARTIES: Final = ("user", "turn", "shell", "lock", "journal", "tools", "model")
_TABLES: Final = {**DEFAULTS, "max_calls": 1}
"""One call a turn: the bound that a story reaches."""


@dataclass(frozen=True)
class Heard:
    """What the machine hears with an event; fields that are none of the event's stay absent."""

    id: str | None = None
    text: str | None = None
    delivery: str | None = None
    key: str | None = None
    call_id: str | None = None
    tool: str | None = None
    arguments: Any = None
    output: Any = None
    tokens: int = 0


def _plain(*symbols: str) -> Word:
    return tuple((symbol, Heard()) for symbol in symbols)


_ONE: Final = ("inbound", Heard(id="m1", text="one"))
_TWO: Final = ("inbound", Heard(id="m2", text="two"))
_READY: Final = (_ONE, *_plain("valid", "locked", "loaded"))
_TEXT: Final = ("text", Heard(text="all well"))
_CALL: Final = ("call", Heard(call_id="c1", tool="read", arguments={}))
_SECOND: Final = ("call", Heard(call_id="c2", tool="read", arguments={}))
_RETURN: Final = ("tool-return", Heard(output="text"))
_STOP: Final = _plain("model-stop")
_RUN: Final = _plain("model-stop", "approved")
_CLOSED: Final = _plain("responded", "recorded")

STORIES: Final[Stories] = {
    "a turn": ((), (*_READY, _TEXT, *_STOP, *_CLOSED)),
    "a turn with a tool": (_READY, (_CALL, *_RUN, _RETURN)),
    "the policy denies the turn": (_READY[:3], (*_plain("denied"), *_CLOSED)),
    "the event is invalid: no lock": ((), (_ONE, *_plain("invalid"), *_CLOSED)),
    "the bound of calls is reached before the second": ((*_READY, _CALL, _SECOND, *_RUN), (_RETURN, *_CLOSED)),
    "the process ends while a tool runs, and starts again": (
        (*_READY, _CALL, *_STOP),
        (*_plain("approved", "crash", "restart"), *_CLOSED),
    ),
    "a message comes during a turn, and is the next": ((*_READY, _TEXT), (_TWO, *_STOP, *_CLOSED)),
}
"""Story title → (setup events, not drawn; events drawn)."""

_SAID: Final[Mapping[str, str]] = {
    "inbound": "user",
    "locked": "lock",
    "text": "model",
    "call": "model",
    "model-stop": "model",
    "tool-return": "tools",
    "recorded": "journal",
}
"""Event → who says it to the turn; the rest is the shell's."""

_ASKED: Final[Mapping[str, str]] = {
    "check": "shell",
    "load": "shell",
    "approve": "shell",
    "respond": "shell",
    "lock": "lock",
    "release": "lock",
    "request": "model",
    "run": "tools",
    "checkpoint": "journal",
    "text": "user",
}
"""Output → who is told, besides the journal."""

_WAITS: Final[Mapping[str, str]] = {"lock": "receive", "approve": "execute"}
"""State that is a place where a step waits → the step."""

_LAST: Final = {"result", "skip", "release", "finish"}
"""Outputs that are the last of the step that is left."""

_FACTS: Final = ("kind", "requestId", "callId", "reason", "detail", "text")
_FLAGS: Final = ("isError", "synthetic")


def scene() -> Scene:
    """Tell the stories."""
    return Scene("Single-chat turn, step by step", PARTIES, told(STORIES, _tell))


def _tell(_title: str, before: Word, word: Word) -> Iterator[Arrow]:
    for place, moment in enumerate(moments(SPEC, _TABLES, before, word)):
        if place == 0:
            yield _step(moment.left)
        yield from _taken(moment)


def _taken(moment: Moment) -> Iterator[Arrow]:
    source = _SAID.get(moment.event, "shell")
    yield says(source, "turn", _words(moment.event), answer=source != "user")
    for output in moment.outputs:
        if output.name in _LAST:
            yield from _done(output, moment.heard)
    if moment.state != moment.left:
        yield _step(moment.state)
    for output in moment.outputs:
        if output.name not in _LAST:
            yield from _done(output, moment.heard)


def _step(state: str) -> Arrow:
    return says("turn", "turn", f"{_WAITS[state]}: {state}" if state in _WAITS else state)


def _done(output: Output, heard: Mapping[int, Heard]) -> Iterator[Arrow]:
    """Draw an output, in the journal before it is shown: the terminal is written at ``append``, seen at ``finish``."""
    if output.name == "finish":
        (name,) = output.arguments
        status = OUTCOMES[name].status
        yield says("turn", "user", status if name == status else f"{status}: {name}", answer=True)
        return
    logged = Output("finish", output.arguments) if output.name == "append" else output
    for event in refine([logged], heard):
        yield says("turn", "journal", _entry(event))
    if output.name in _ASKED:
        dest = _ASKED[output.name]
        yield says("turn", dest, _words(output.name), answer=dest == "user")


def _entry(event: Mapping[str, Any]) -> str:
    """Write a log event in a few words."""
    facts = [str(event[name]) for name in _FACTS if name in event]
    return f"{event['type']}: {', '.join((*facts, *(name for name in _FLAGS if name in event)))}"


def _words(name: str) -> str:
    return name.replace("-", " ")
