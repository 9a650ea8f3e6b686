"""The six steps of the single-chat turn: the machine plays stories, and its outputs are drawn.

A box on the turn's lifeline is its present step; a colon separates a step that waits from what it waits for. The
journal gets the log events that an output amounts to.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...declaration.vocabulary import Output
from ...machines.turn import DEFAULTS, SPEC
from ...machines.turn_log import OUTCOMES, refine
from ..scene import Arrow, Scene
from .story import Heard, Moment, Stories, Word, event, says, told

PARTIES: Final = ("user", "turn", "shell", "lock", "journal", "tools", "model")
_TABLES: Final = {**DEFAULTS, "max_calls": 1}
"""One call per turn: a story reaches this bound."""


def _plain(*symbols: str) -> Word:
    return [event(symbol) for symbol in symbols]


_ONE: Final = event("inbound", id="m1", text="one")
_TWO: Final = event("inbound", id="m2", text="two")
_READY: Final = (_ONE, *_plain("valid", "locked", "loaded"))
_TEXT: Final = event("text", text="all well")
_CALL: Final = event("call", call_id="c1", tool="read", arguments={})
_DENIED: Final = event("call", call_id="c1", tool="deploy", arguments={}, decision="deny-turn")
_SECOND: Final = event("call", call_id="c2", tool="read", arguments={})
_RETURN: Final = event("tool-return", output="text")
_STOP: Final = _plain("model-stop")
_RUN: Final = _plain("model-stop", "approved")
_CLOSED: Final = _plain("responded", "recorded")

STORIES: Final[Stories] = {
    "a turn": ((), (*_READY, _TEXT, *_STOP, *_CLOSED)),
    "a turn with a tool": (_READY, (_CALL, *_RUN, _RETURN)),
    "the policy denies the call that the model proposes": (
        (*_READY, _CALL),
        (*_plain("model-stop"), event("refused", failure="policy_denied", message="no")),
    ),
    "the policy denies the turn for such a call": (_READY, (_DENIED, *_STOP, *_CLOSED)),
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
    **dict.fromkeys(("text", "call", "model-stop"), "model"),
    "tool-return": "tools",
    "recorded": "journal",
}
"""Event → the party that sends it to the turn; the shell sends the others."""

_ASKED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("check", "load", "approve", "respond"), "shell"),
    **dict.fromkeys(("lock", "release"), "lock"),
    "request": "model",
    "run": "tools",
    "checkpoint": "journal",
    "text": "user",
}
"""Output → the party that gets it, besides the journal."""

_WAITS: Final[Mapping[str, str]] = {"lock": "receive", "approve": "execute"}
"""State in which a step waits → the step."""

_LAST: Final = {"result", "skip", "release", "finish"}
"""Outputs that still belong to the step that is left."""

_FACTS: Final = ("kind", "requestId", "callId", "reason", "detail", "text")
_FLAGS: Final = ("isError", "synthetic")


def scene() -> Scene:
    """Tell the stories."""
    rows = told(STORIES, SPEC, lambda _title: _TABLES, _rows)
    return Scene("Single-chat turn, step by step", PARTIES, tuple(rows))


def _rows(moment: Moment) -> Iterator[Arrow]:
    if moment.first:
        yield _step(moment.left)
    source, stepper = _SAID.get(moment.event, "shell"), moment.stepper
    yield says(source, "turn", _words(moment.event), answer=source != "user")
    for output in stepper.outputs:
        if output.name in _LAST:
            yield from _done(output, moment.heard)
    if stepper.state != moment.left:
        yield _step(stepper.state)
    for output in stepper.outputs:
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
    for entry in refine([logged], heard):
        yield says("turn", "journal", _entry(entry))
    if output.name in _ASKED:
        dest = _ASKED[output.name]
        yield says("turn", dest, _words(output.name), answer=dest == "user")


def _entry(entry: Mapping[str, Any]) -> str:
    facts = [str(entry[name]) for name in _FACTS if name in entry]
    return f"{entry['type']}: {', '.join((*facts, *(name for name in _FLAGS if name in entry)))}"


def _words(name: str) -> str:
    return name.replace("-", " ")
