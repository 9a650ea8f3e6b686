"""The path from backend to UI, as seed 002 describes it: the endpoint's loop, its frames, and the UI's four handlers.

The endpoint's machine plays it. The effects of a frame on the response block (light arrows) it does not see; they are
those that the machine ``collation`` has, which ``event_flow`` draws frame by frame.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ...declaration.vocabulary import Output
from ...machines.event_flow import SPEC, tables
from ..scene import Edge
from .path import Hop, Path, Take
from .story import event

PARTIES: Final = ("User", "chat.js", "Model", "Tools", "ChatTab.tsx", "Response block")
_U, _E, _M, _T, _C, _B = PARTIES
_END: Final = Edge("end")
_ITERATIONS: Final = Edge("loop", "while iterationCount < maxToolIterations")

_CHAT: Final = event("chat", id="m1", text="one")
_DELTA: Final = event("delta", text="I look.", begins=1)
_CALL: Final = event("tool-call", call_id="c1", tool="read", arguments={})
_STOP: Final = event("response-end", finish_reason="stop")
_CALLED: Final = (_CHAT, _CALL, _STOP)
_RESULT: Final = event("tool-result", call_id="c1", output="text")
_AGAIN: Final = event("tool-call", call_id="c2", tool="read", arguments={})
_LAST: Final = event("tool-result", call_id="c2", output="text")
_FAILURE: Final = event("tool-failure", call_id="c1", message="no file")

_STEPS: Final = (
    Take(_CHAT, {"llm-request": (_ITERATIONS, Edge("opt", "iteration 1 alone")), "request": (_END,)}),
    Edge("loop", "while the response streams"),
    Edge("alt", "a text"),
    Take(_DELTA),
    Edge("else", "a tool call, which is kept"),
    Take(_CALL),
    _END,
    _END,
    Take(_STOP, {"message-complete": (Edge("alt", "there are tool calls"),)}, until="tool-call-start"),
    Edge("loop", "per tool call"),
    Take(_STOP, behind=(_CHAT, _CALL), only=("tool-call-start",)),
    Edge("alt", "it returns"),
    Take(_RESULT, until="request"),
    Edge("else", "it fails"),
    Take(_FAILURE, behind=_CALLED, until="request"),
    _END,
    _END,
    Edge("alt", "iterations are left"),
    Take(_RESULT, behind=_CALLED, only=("request",)),
    Edge("else", "the bound is reached: the run ends with an error"),
    Take(_LAST, behind=(*_CALLED, _RESULT, _AGAIN, _STOP), only=("end",)),
    _END,
    Edge("else", "there is none: the run is over"),
    Take(_STOP, behind=(_CHAT, _DELTA), only=("end",)),
    _END,
    _END,
)
"""The events that are played, and the frames around them, in the source's order."""

_ARRIVES: Final[Mapping[str, Sequence[Hop]]] = {
    "chat": [Hop(_U, _E, "POST chat")],
    "delta": [Hop(_M, _E, "text", back=True)],
    "tool-call": [Hop(_M, _E, "tool call", back=True)],
    "response-end": [Hop(_M, _E, "end of response", back=True)],
    "tool-result": [Hop(_T, _E, "result", back=True)],
    "tool-failure": [Hop(_T, _E, "failure", back=True)],
}
"""Event → the hops by which it comes to the endpoint."""


def _frame(name: str, effect: str) -> Sequence[Hop]:
    return [Hop(_E, _C, name), Hop(_C, _B, effect, unseen=True)]


_LEAVES: Final[Mapping[str, Sequence[Hop]]] = {
    "llm-request": _frame("llm_request", "begin: provider, model"),
    "request": [Hop(_E, _M, "request")],
    "delta": _frame("delta", "append, or begin"),
    "llm-response": _frame("llm_response", "provider, model, usage"),
    "message-complete": _frame("message_complete", "records, tool calls"),
    "tool-call-start": [*_frame("tool_call_start", "tool use"), Hop(_E, _T, "execute")],
    "tool-call-result": _frame("tool_call_result", "its result"),
}
"""Output → the hops by which it goes on; `_leaves` has one more. The others keep the log."""


def _leaves(output: Output) -> Sequence[Hop]:
    match output.name, output.arguments:
        case "end", (reason, detail, *_):
            return [Hop(_E, _E, f"{reason}: {detail}" if detail else str(reason))]
        case name, _:
            return _LEAVES.get(name, ())


PATH: Final = Path(
    "From the endpoint's loop to the UI's blocks",
    PARTIES,
    SPEC,
    tables(max_tool_iterations=2, always_completes=False),
    _STEPS,
    _ARRIVES,
    _leaves,
)
