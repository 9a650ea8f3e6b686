"""Request sequence of the engine with its error paths: the machine plays stories, and its outputs are drawn."""

from collections.abc import Iterator, Mapping
from typing import Final

from ...declaration.vocabulary import Output
from ...machines.engine import SPEC, tables
from ..scene import Arrow, Scene
from .story import Moment, Stories, event, says, told

PARTIES: Final = ("client", "storage", "engine", "compactor", "tools", "model")
_TABLES: Final = tables(max_tool_rounds=2, max_history_messages=3, compactor=True)
_CUTS: Final = tables(max_tool_rounds=2, max_history_messages=3, compactor=False)

_BEGIN: Final = (event("message", text="one"), event("session-loaded", messages=0))
LONG: Final = (event("message", text="one"), event("session-loaded", messages=9))
TEXT: Final = event("text", text="I look.", begins=1)
CALL: Final = event("tool-call", call_id="c1", tool="read", arguments={})
_OUTPUT: Final = event("tool-output", call_id="c1", output="text")
RICH: Final = event("tool-output", call_id="c1", output="text", data=1, metadata={})
_SECOND: Final = event("tool-call", call_id="c2", tool="read", arguments={})
_SECONDS: Final = event("tool-output", call_id="c2", output="text")
END: Final = event("stream-end")
_BROKEN: Final = event("stream-error", message="reset")
_ROUND: Final = (CALL, _OUTPUT, END)

STORIES: Final[Stories] = {
    "a request": ((), (*_BEGIN, TEXT, CALL, RICH, END, TEXT, END)),
    "the history is too long": (LONG[:1], (LONG[1], event("compacted", text="…"))),
    "the compactor fails": (LONG, (event("compaction-failed", message="busy"),)),
    "there is no compactor": (LONG[:1], (LONG[1],)),
    "the provider fails": (_BEGIN, (event("provider-error", message="down"),)),
    "the stream breaks": ((*_BEGIN, TEXT), (_BROKEN,)),
    "the stream breaks after a tool call": ((*_BEGIN, CALL, _OUTPUT), (_BROKEN,)),
    "a tool fails": ((*_BEGIN, CALL), (event("tool-error", call_id="c1", message="no file"),)),
    "a call cannot be executed": (_BEGIN, (event("broken-call", call_id="c1", tool="read", message="no JSON"),)),
    "the bound of rounds is reached": ((*_BEGIN, *_ROUND, _SECOND, _SECONDS), (END,)),
    "the client goes while a tool runs": ((*_BEGIN, CALL), (event("client-gone"),)),
}
"""Story title → (setup events, not drawn; events drawn)."""

_SAID: Final[Mapping[str, tuple[str, str]]] = {
    "message": ("client", "message"),
    "session-loaded": ("storage", "session"),
    "compacted": ("compactor", "summary"),
    "compaction-failed": ("compactor", "failure"),
    "text": ("model", "text delta"),
    "tool-call": ("model", "tool call"),
    "broken-call": ("model", "broken tool call"),
    "stream-end": ("model", "done"),
    "stream-error": ("model", "stream error"),
    "provider-error": ("model", "error"),
    "tool-output": ("tools", "output"),
    "tool-error": ("tools", "error"),
    "client-gone": ("client", "gone"),
}
"""Event → the party that sends it to the engine, and its caption."""

_ASKED: Final[Mapping[str, tuple[str, str]]] = {
    "load": ("storage", "load or create"),
    "push-user": ("engine", "push user"),
    "compact": ("compactor", "compact prefix"),
    "summarise": ("engine", "prefix becomes summary"),
    "warn": ("engine", "warn"),
    "truncate": ("engine", "drop prefix, orphans"),
    "request": ("model", "stream"),
    "execute": ("tools", "execute"),
    "merge-metadata": ("engine", "merge metadata"),
    "result": ("engine", "push call, result"),
    "push-text": ("engine", "push text"),
    "touch": ("engine", "last_active"),
    "text": ("client", "text"),
    "data": ("client", "data"),
    "done": ("client", "done"),
    "save": ("storage", "save"),
}
"""Output → the party that gets it, and its caption; ``_done`` draws the others that are visible."""


def scene() -> Scene:
    """Tell the stories."""
    rows = told(STORIES, SPEC, lambda title: _CUTS if "no compactor" in title else _TABLES, _rows)
    return Scene("Request sequence", PARTIES, tuple(rows))


def _rows(moment: Moment) -> Iterator[Arrow]:
    source, words = _SAID[moment.event]
    yield says(source, "engine", words, answer=source != "client")
    for dest, asked in filter(None, map(_done, moment.stepper.outputs)):
        yield says("engine", dest, asked, answer=dest == "client")


def _done(output: Output) -> tuple[str, str] | None:
    match output.name, output.arguments:
        case "tool-status", (_, status):
            return "client", f"tool_status {status}"
        case "error", (code, _):
            return "client", f"error {code}"
        case "done", ("interrupted", *_):
            return "engine", "interrupted"
        case "push-text", ((),):
            return None
        case name, _:
            return _ASKED.get(name)
