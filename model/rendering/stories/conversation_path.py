"""The requirements of seed 003, played: each numbered one with its cases, one branch per WHEN.

Requirements that are no exchange (a pure core, isolation, a fixed directory) have no picture. What sub-agents and the
model's server do among themselves (light arrows) the machine does not see.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...declaration.vocabulary import Output
from ...machines.conversation import DEFAULTS, RETRIES, SPEC
from ..scene import Band, Edge
from .path import Hop, Path, Take
from .story import event

PARTIES: Final = ("User", "Clients", "Conversation", "Store", "LLM", "Tools", "Sub-agents")
_U, _I, _C, _D, _L, _T, _S = PARTIES
_END: Final = Edge("end")
_NOW: Final = 99
"""An answer to whatever request or slot is the newest one."""

_ASKED: Final = event("user")
_TEXT: Final = event("text", answers=_NOW)
_CALL: Final = event("tool-call", answers=_NOW)
_SPAWN: Final = event("spawn-call", answers=_NOW)
_ENDS: Final = event("model-stop", answers=_NOW, reason="end-turn")
_GOES_ON: Final = event("model-stop", answers=_NOW, reason="pause-turn")
_RETRYABLE: Final = event("retryable-failure", answers=_NOW)
_FATAL: Final = event("fatal-failure", answers=_NOW, message="unauthorized")
_DUE: Final = event("retry-due", answers=_NOW)
_CANCEL: Final = event("cancel")
_RESTART: Final = event("restart")
_RUN: Final = (_ASKED, _CALL, _ENDS)
_RUN_TWO: Final = (_ASKED, _CALL, _CALL, _ENDS)
_SPAWNED: Final = (_ASKED, _SPAWN, _SPAWN, _ENDS)


def _result(call: int) -> Any:
    return event("tool-result", answers=_NOW, call=call)


def _submits(call: int) -> Take:
    """A sub-agent ends: it calls the tool that submits its result."""
    return Take(_result(call), arrives=[Hop(_S, _C, "submitted result", back=True)])


_STEPS: Final = (
    Band("REQ-BED-002", "a message"),
    Edge("alt", "the conversation is idle"),
    Take(_ASKED),
    Edge("else", "the agent is working"),
    Take(_ASKED),
    _END,
    Band("REQ-BED-003", "the response"),
    Edge("alt", "a text, end_turn=true"),
    Take(_TEXT, behind=(_ASKED,)),
    Take(_ENDS),
    Edge("else", "tool use"),
    Take(_CALL, behind=(_ASKED,)),
    Take(_CALL),
    Take(_ENDS),
    Edge("else", "a text, end_turn=false"),
    Take(_TEXT, behind=(_ASKED,)),
    Take(_GOES_ON),
    _END,
    Band("REQ-BED-004", "tools, one after the other"),
    Edge("loop", "per tool, in the order requested"),
    Edge("alt", "it completes"),
    Take(_result(1), behind=_RUN_TWO),
    Edge("else", "it fails: the error is in the results"),
    Take(_result(1), behind=_RUN_TWO, arrives=[Hop(_T, _C, "error", back=True)]),
    _END,
    _END,
    Take(_result(2), behind=(*_RUN_TWO, _result(1)), only=("request",)),
    Band("REQ-BED-005", "a cancel, before all else that waits"),
    Edge("alt", "during a request"),
    Take(_CANCEL, behind=(_ASKED, _TEXT)),
    Edge("else", "while a tool runs and others wait"),
    Take(_CANCEL, behind=_RUN_TWO),
    _END,
    Band("REQ-BED-006", "the request fails"),
    Edge("alt", "network, rate limit, 5xx"),
    Edge("loop", "at most 3 times, waiting longer each time"),
    Take(_RETRYABLE, behind=(_ASKED,)),
    Take(_DUE),
    _END,
    Edge("else", "and all retries are exhausted"),
    Take(_RETRYABLE, behind=(_ASKED, *[_RETRYABLE, _DUE] * RETRIES)),
    Edge("else", "auth, 4xx"),
    Take(_FATAL, behind=(_ASKED,)),
    _END,
    Edge("opt", "a message in the error state"),
    Take(_ASKED),
    _END,
    Band("REQ-BED-007", "the server restarts, and each conversation is idle"),
    Edge("alt", "amid a request"),
    Take(_RESTART, behind=(_ASKED, _TEXT)),
    Edge("else", "amid a tool"),
    Take(_RESTART, behind=_RUN),
    _END,
    Band("REQ-BED-008", "sub-agents, side by side"),
    Take(_SPAWN, behind=(_ASKED,)),
    Take(_SPAWN),
    Take(_ENDS),
    Edge("loop", "per sub-agent, in the order in which they end"),
    Edge("alt", "it submits its result"),
    _submits(1),
    Edge("else", "it fails, or times out without one"),
    Take(_result(1), behind=_SPAWNED, arrives=[Hop(_S, _C, "failure", back=True)]),
    _END,
    _END,
    Take(_result(2), only=("result", "request")),
    Band("REQ-BED-011", "a client connects"),
    Take(event("join"), behind=(_ASKED,)),
    Band("REQ-BED-012", "the response tells the tokens used"),
    Edge("alt", "below the limit"),
    Take(event("usage", answers=_NOW, tokens=1), behind=(_ASKED,)),
    Edge("else", "the limit is approached"),
    Take(event("usage", answers=_NOW, tokens=DEFAULTS["limit"])),
    _END,
)
"""The events that are played, and the frames around them, in the source's numbers and cases."""

_ARRIVES: Final[Mapping[str, Sequence[Hop]]] = {
    "user": [Hop(_U, _C, "message")],
    "text": [Hop(_L, _C, "text", back=True)],
    "tool-call": [Hop(_L, _C, "tool use", back=True)],
    "spawn-call": [Hop(_L, _C, "spawn", back=True)],
    "model-stop": [Hop(_L, _C, "end of response", back=True)],
    "tool-result": [Hop(_T, _C, "result", back=True)],
    "cancel": [Hop(_U, _C, "cancel")],
    "retryable-failure": [Hop(_L, _C, "retryable failure", back=True)],
    "fatal-failure": [Hop(_L, _C, "failure", back=True)],
    "retry-due": [Hop(_C, _C, "the time is over")],
    "restart": [Hop(_D, _C, "state, history", back=True)],
    "join": [Hop(_I, _C, "join")],
    "usage": [Hop(_L, _C, "usage", back=True)],
}
"""Event → the hops by which it comes to the conversation."""

_LEAVES: Final[Mapping[str, Sequence[Hop]]] = {
    "save": [Hop(_C, _D, "save")],
    "accept": [Hop(_C, _I, "message", back=True)],
    "refuse": [Hop(_C, _U, "busy; cancel", back=True)],
    "request": [Hop(_C, _L, "request")],
    "commit": [Hop(_C, _I, "response", back=True)],
    "schedule": [Hop(_C, _C, "wait")],
    "drop": [Hop(_C, _L, "abort")],
    "kill": [Hop(_C, _T, "kill")],
    "result": [Hop(_C, _I, "result", back=True)],
    "skip": [Hop(_C, _I, "synthetic results", back=True)],
    "report": [Hop(_C, _I, "context used", back=True)],
    "welcome": [Hop(_C, _I, "state, recent messages", back=True)],
}
"""Output → the hops by which it goes on; `_leaves` has three more."""


def _leaves(output: Output) -> Sequence[Hop]:
    match output.name, output.arguments:
        case "run", (_, _, others):
            return [Hop(_C, _T, "run")] if others < 0 else [Hop(_C, _S, "start each")]
        case "notify", (name, _):
            return [Hop(_C, _I, str(name), back=True)]
        case "stop", (reason, *_):
            return [Hop(_C, _I, str(reason), back=True)]
        case name, _:
            return _LEAVES[name]


PATH: Final = Path("A conversation, requirement by requirement", PARTIES, SPEC, DEFAULTS, _STEPS, _ARRIVES, _leaves)
