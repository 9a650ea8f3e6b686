"""The path of one chat request, as seed 004 draws it: its parties, its numbers, its loops and its alternatives.

The machine plays the events, and its outputs are drawn between the engine and those beside it. What lies behind the
engine's ports (light arrows: the upstream model, and whom the compactor asks) it does not see; there the hops are the
source's own. ``Edge`` rows open, branch and end the source's frames where the machine takes its rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, Literal, TypeAlias

from ...declaration.stepping import Stepper
from ...declaration.vocabulary import Output
from ...machines.engine import SPEC, tables
from ..scene import Arrow, Edge, Row, Scene
from .engine import CALL, END, LONG, RICH, TEXT
from .story import Heard, event, says

PARTIES: Final = (
    *("Client", "Handler", "Storage", "AgentEngine", "HistoryCompactor", "AgentFlow", "LlmProvider", "Upstream LLM"),
)
_C, _H, _S, _E, _K, _F, _P, _L = PARTIES
_TABLES: Final = tables(max_tool_rounds=2, max_history_messages=3, compactor=True)
_END: Final = Edge("end")

Hop: TypeAlias = tuple[str, str, str]
"""Who tells whom what."""


@dataclass(frozen=True)
class Take:
    """An event that the machine takes: it is drawn whole, or its outputs alone, or not at all.

    *edges* are drawn before the output that they name, or right behind the event (``""``). ``until`` names the output
    from which on nothing is drawn, since another branch draws it. With ``anew`` the machine starts again before it.
    """

    event: tuple[str, Heard]
    edges: Mapping[str, Sequence[Edge]] = field(default_factory=dict[str, Sequence[Edge]])
    drawn: Literal["whole", "outputs", "nothing"] = "whole"
    until: str | None = None
    anew: bool = False


PATH: Final = (
    Take(LONG[0]),
    Take(
        LONG[1],
        {"compact": (Edge("opt", "session.messages > max_history_messages"), Edge("alt", "a compactor is configured"))},
    ),
    Take(event("compacted", text="…"), until="request"),
    Take(LONG[0], anew=True, drawn="nothing"),
    Take(LONG[1], drawn="nothing"),
    Take(
        event("compaction-failed", message="busy"),
        {
            "": (Edge("else", "no compactor, or it failed"),),
            "request": (_END, _END, Edge("loop", "until no tool call, at most max_tool_rounds")),
        },
        drawn="outputs",
    ),
    Edge("loop", "per chunk, until Done"),
    Edge("alt", "a text"),
    Take(TEXT),
    Edge("else", "a tool call"),
    Take(CALL),
    Take(
        RICH,
        {
            "data": (Edge("opt", "the output has data"),),
            "merge-metadata": (_END, Edge("opt", "the output has session metadata")),
            "result": (_END,),
        },
    ),
    Edge("else", "Done"),
    Take(END, {"push-text": (_END, _END), "request": (Edge("alt", "a tool was called, and rounds are left"),)}),
    Edge("else", "no tool was called"),
    Take(TEXT, drawn="nothing"),
    Take(END, {"touch": (_END, _END)}, drawn="outputs"),
)
"""What is played and framed, in the source's order."""

_ARRIVES: Final[Mapping[str, Sequence[Hop]]] = {
    "message": [(_C, _H, "POST /chat")],
    "session-loaded": [(_S, _H, "session"), (_H, _E, "run")],
    "compacted": [(_P, _L, "POST generate"), (_L, _P, "response"), (_P, _K, "response"), (_K, _E, "summary")],
    "text": [(_L, _P, "SSE frame"), (_P, _E, "Text")],
    "tool-call": [(_L, _P, "SSE frame"), (_P, _E, "ToolCall")],
    "stream-end": [(_L, _P, "SSE frame"), (_P, _E, "Done")],
    "tool-output": [(_F, _E, "ToolOutput")],
}
"""Event → the hops by which it comes to the engine."""

_LEAVES: Final[Mapping[str, Sequence[Hop]]] = {
    "load": [(_H, _S, "load or create")],
    "push-user": [(_E, _E, "push User")],
    "compact": [(_E, _K, "compact"), (_K, _P, "generate")],
    "summarise": [(_E, _E, "prefix := summary")],
    "truncate": [(_E, _E, "drop prefix, orphans")],
    "request": [(_E, _P, "stream_generate"), (_P, _L, "POST stream")],
    "text": [(_E, _H, "Text"), (_H, _C, "event: text")],
    "execute": [(_E, _F, "execute_tool")],
    "data": [(_E, _H, "Data"), (_H, _C, "event: data")],
    "merge-metadata": [(_E, _E, "merge metadata")],
    "result": [(_E, _E, "push ToolCall, ToolResult")],
    "touch": [(_E, _E, "last_active")],
    "done": [(_E, _H, "Done"), (_H, _C, "event: done")],
    "save": [(_H, _S, "save")],
}
"""Output → the hops by which it goes on; `_hops_of` has two more. The others are not in the source's diagram."""

_BACK: Final = {(_S, _H), (_L, _P), (_P, _E), (_P, _K), (_K, _E), (_F, _E), (_E, _H), (_H, _C)}
_UNSEEN: Final = {(_P, _L), (_L, _P), (_K, _P), (_P, _K)}


def scene() -> Scene:
    """Play the path."""
    numbers = count(1)
    rows = (replace(row, at=next(numbers)) if isinstance(row, Arrow) else row for row in _rows())
    return Scene("One chat request, end to end", PARTIES, tuple(rows))


def _rows() -> Iterator[Row]:
    stepper, at = Stepper(SPEC, _TABLES), count()
    for step in PATH:
        if isinstance(step, Edge):
            yield step
            continue
        if step.anew:
            stepper = Stepper(SPEC, _TABLES)
        symbol, fields = step.event
        stepper.take(symbol, fields, next(at))
        if step.drawn == "whole":
            yield from _hops(_ARRIVES[symbol])
        if step.drawn != "nothing":
            yield from step.edges.get("", ())
            for output in stepper.outputs:
                if output.name == step.until:
                    break
                yield from step.edges.get(output.name, ())
                yield from _hops(_hops_of(output))


def _hops_of(output: Output) -> Sequence[Hop]:
    match output.name, output.arguments:
        case "tool-status", (_, status):
            return [(_E, _H, f"ToolStatus({str(status).capitalize()})"), (_H, _C, "event: tool_status")]
        case "push-text", (said,):
            return [(_E, _E, "push Assistant")] if said else ()
        case name, _:
            return _LEAVES.get(name, ())


def _hops(hops: Sequence[Hop]) -> Iterator[Arrow]:
    for source, dest, words in hops:
        arrow = says(source, dest, words, answer=(source, dest) in _BACK)
        yield replace(arrow, stroke="other") if (source, dest) in _UNSEEN else arrow
