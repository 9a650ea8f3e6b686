"""The path of one chat request, as seed 004 draws it: its parties, its numbers, its loops and its alternatives."""

from collections.abc import Mapping, Sequence
from typing import Final

from ...declaration.vocabulary import Output
from ...machines.engine import SPEC, tables
from ..scene import Edge
from .engine import CALL, END, LONG, RICH, TEXT
from .path import Hop, Path, Take
from .story import event

PARTIES: Final = (
    *("Client", "Handler", "Storage", "AgentEngine", "HistoryCompactor", "AgentFlow", "LlmProvider", "Upstream LLM"),
)
_C, _H, _S, _E, _K, _F, _P, _L = PARTIES
_END: Final = Edge("end")
_LAST: Final = (*LONG, event("compacted", text="…"), TEXT)
"""A round that calls no tool."""

_STEPS: Final = (
    Take(LONG[0]),
    Take(
        LONG[1],
        {"compact": (Edge("opt", "session.messages > max_history_messages"), Edge("alt", "a compactor is configured"))},
    ),
    Take(event("compacted", text="…"), until="request"),
    Take(
        event("compaction-failed", message="busy"),
        {
            "": (Edge("else", "no compactor, or it failed"),),
            "request": (_END, _END, Edge("loop", "until no tool call, at most max_tool_rounds")),
        },
        only=("truncate", "request"),
        behind=LONG,
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
    Take(END, behind=_LAST, arrives=[Hop(_E, _E, "break", unseen=True)], until="push-text"),
    Take(END, {"touch": (_END, _END)}, behind=_LAST, only=("touch", "done", "save")),
)
"""The events that are played, and the frames around them, in the source's order."""

_ARRIVES: Final[Mapping[str, Sequence[Hop]]] = {
    "message": [Hop(_C, _H, "POST /chat")],
    "session-loaded": [Hop(_S, _H, "session", back=True), Hop(_H, _E, "run")],
    "compacted": [
        Hop(_P, _L, "POST generate", unseen=True),
        Hop(_L, _P, "response", unseen=True),
        Hop(_P, _K, "response", unseen=True),
        Hop(_K, _E, "summary", back=True),
    ],
    "text": [Hop(_L, _P, "SSE frame", unseen=True), Hop(_P, _E, "Text", back=True)],
    "tool-call": [Hop(_L, _P, "SSE frame", unseen=True), Hop(_P, _E, "ToolCall", back=True)],
    "stream-end": [Hop(_L, _P, "SSE frame", unseen=True), Hop(_P, _E, "Done", back=True)],
    "tool-output": [Hop(_F, _E, "ToolOutput", back=True)],
}
"""Event → the hops by which it comes to the engine."""

_LEAVES: Final[Mapping[str, Sequence[Hop]]] = {
    "load": [Hop(_H, _S, "load or create")],
    "push-user": [Hop(_E, _E, "push User")],
    "compact": [Hop(_E, _K, "compact"), Hop(_K, _P, "generate", unseen=True)],
    "summarise": [Hop(_E, _E, "prefix := summary")],
    "truncate": [Hop(_E, _E, "drop prefix, orphans")],
    "request": [Hop(_E, _P, "stream_generate"), Hop(_P, _L, "POST stream", unseen=True)],
    "text": [Hop(_E, _H, "Text", back=True), Hop(_H, _C, "event: text", back=True)],
    "execute": [Hop(_E, _F, "execute_tool")],
    "data": [Hop(_E, _H, "Data", back=True), Hop(_H, _C, "event: data", back=True)],
    "merge-metadata": [Hop(_E, _E, "merge metadata")],
    "result": [Hop(_E, _E, "push ToolCall, ToolResult")],
    "touch": [Hop(_E, _E, "last_active")],
    "done": [Hop(_E, _H, "Done", back=True), Hop(_H, _C, "event: done", back=True)],
    "save": [Hop(_H, _S, "save")],
}
"""Output → the hops by which it goes on; `_leaves` has two more. The others are not in the source's diagram."""


def _leaves(output: Output) -> Sequence[Hop]:
    match output.name, output.arguments:
        case "tool-status", (_, status):
            said = f"ToolStatus({str(status).capitalize()})"
            return [Hop(_E, _H, said, back=True), Hop(_H, _C, "event: tool_status", back=True)]
        case "push-text", (said,):
            return [Hop(_E, _E, "push Assistant")] if said else ()
        case name, _:
            return _LEAVES.get(name, ())


PATH: Final = Path(
    "One chat request, end to end",
    PARTIES,
    SPEC,
    tables(max_tool_rounds=2, max_history_messages=3, compactor=True),
    _STEPS,
    _ARRIVES,
    _leaves,
)
