"""The six steps of the single-chat turn: the machine is told stories, and what it does is drawn.

A box on the turn's line is the step that it is in now; where receive and execute wait for somebody, what they wait for
follows the colon. What the journal is told are the log events that an output amounts to.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ..declaration.stepping import Stepper
from ..declaration.vocabulary import Output
from ..machines.turn import DEFAULTS, SPEC
from ..machines.turn_log import OUTCOMES, refine
from .exchange import Exchange, Line, Message, Part

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


_Event: TypeAlias = tuple[str, Heard]
_Word: TypeAlias = tuple[_Event, ...]


def _plain(*symbols: str) -> _Word:
    return tuple((symbol, Heard()) for symbol in symbols)


_ONE: Final[_Event] = ("inbound", Heard(id="m1", text="one"))
_TWO: Final[_Event] = ("inbound", Heard(id="m2", text="two"))
_READY: Final[_Word] = (_ONE, *_plain("valid", "locked", "loaded"))
_TEXT: Final[_Event] = ("text", Heard(text="all well"))
_CALL: Final[_Event] = ("call", Heard(call_id="c1", tool="read", arguments={}))
_SECOND: Final[_Event] = ("call", Heard(call_id="c2", tool="read", arguments={}))
_RETURN: Final[_Event] = ("tool-return", Heard(output="text"))
_STOP: Final[_Word] = _plain("model-stop")
_RUN: Final[_Word] = _plain("model-stop", "approved")
_CLOSED: Final[_Word] = _plain("responded", "recorded")

STORIES: Final[Mapping[str, tuple[_Word, _Word]]] = {
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
"""What is told → what goes before, which is not drawn, and what is."""

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


def exchange() -> Exchange:
    """The picture, before it is drawn."""
    return Exchange("Single-chat turn, step by step", PARTIES, tuple(_lines()))


def _lines() -> Iterator[Line]:
    for title, (before, word) in STORIES.items():
        yield Part(title)
        stepper, told = Stepper(SPEC, _TABLES), dict[int, Heard]()
        for at, (event, heard) in enumerate((*before, *word)):
            if at == len(before):
                yield _step(stepper.state)
            left, told[at] = stepper.state, heard
            stepper.take(event, heard, at)
            if at >= len(before):
                yield from _taken(event, left, stepper, told)


def _taken(event: str, left: str, stepper: Stepper, told: Mapping[int, Heard]) -> Iterator[Message]:
    source = _SAID.get(event, "shell")
    yield Message(source, "turn", _words(event), answer=source != "user")
    for output in stepper.outputs:
        if output.name in _LAST:
            yield from _done(output, told)
    if stepper.state != left:
        yield _step(stepper.state)
    for output in stepper.outputs:
        if output.name not in _LAST:
            yield from _done(output, told)


def _step(state: str) -> Message:
    return Message("turn", "turn", f"{_WAITS[state]}: {state}" if state in _WAITS else state)


def _done(output: Output, told: Mapping[int, Heard]) -> Iterator[Message]:
    """What is shown is in the journal before: the terminal is written at ``append``, and seen at ``finish``."""
    if output.name == "finish":
        (name,) = output.arguments
        status = OUTCOMES[name].status
        yield Message("turn", "user", status if name == status else f"{status}: {name}", answer=True)
        return
    logged = Output("finish", output.arguments) if output.name == "append" else output
    for event in refine([logged], told):
        yield Message("turn", "journal", _entry(event))
    if output.name in _ASKED:
        dest = _ASKED[output.name]
        yield Message("turn", dest, _words(output.name), answer=dest == "user")


def _entry(event: Mapping[str, Any]) -> str:
    """A log event in a few words."""
    facts = [str(event[name]) for name in _FACTS if name in event]
    return f"{event['type']}: {', '.join((*facts, *(name for name in _FLAGS if name in event)))}"


def _words(name: str) -> str:
    return name.replace("-", " ")
