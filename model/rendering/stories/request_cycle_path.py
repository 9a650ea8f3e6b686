"""The deterministic construction of seed 000: its five numbered points, from a list of events to cycles.

The two views of a cycle are no part of it: they are drawn of a recorded run, in ``sequence``.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ...core.policies import Policies
from ...declaration.vocabulary import Output
from ...machines.request_cycle import SPEC, tables
from ..scene import Band, Edge
from .path import Hop, Path, Take
from .story import event

PARTIES: Final = ("Backend events", "Projection", "RequestCycle", "Queued followUps")
_B, _P, _C, _Q = PARTIES
_END: Final = Edge("end")

_ROOT: Final = event("user-message")
_STEER: Final = event("user-message", delivery="steer")
_FOLLOW_UP: Final = event("user-message", delivery="followUp")
_CALL: Final = event("tool-call", call_id="c1")


def _stop(reason: str) -> Take:
    return Take(event("run-stop", reason=reason), behind=(_ROOT,))


_STEPS: Final = (
    Band("1. idle; 2. a user message in idle"),
    Take(_ROOT),
    Band("3. while active"),
    Edge("alt", "a user message that steers"),
    Take(_STEER),
    Edge("else", "a user message that follows up"),
    Take(_FOLLOW_UP),
    Edge("else", "AI output and tool activity"),
    Take(event("text")),
    Take(_CALL),
    Take(event("tool-result", call_id="c1")),
    _END,
    Band("4. run-stop: idle again"),
    Edge("alt", "completed"),
    _stop("completed"),
    Edge("else", "interrupted"),
    _stop("interrupted"),
    Edge("else", "error"),
    _stop("error"),
    _END,
    Band("5. a followUp is queued: it becomes the next root"),
    Take(event("run-stop", reason="completed"), behind=(_ROOT, _FOLLOW_UP), only=("open",)),
)
"""The events that are played, and the frames around them, in the source's order."""

_ARRIVES: Final[Mapping[str, Sequence[Hop]]] = {
    "user-message": [Hop(_B, _P, "user-message")],
    "text": [Hop(_B, _P, "agent-output, text")],
    "tool-call": [Hop(_B, _P, "agent-output, tool call")],
    "tool-result": [Hop(_B, _P, "tool-result")],
    "run-stop": [Hop(_B, _P, "run-stop")],
}
"""Event → the hops by which it comes to the projection."""


def _leaves(output: Output) -> Sequence[Hop]:
    match output.name, output.arguments:
        case "open", ("followUp", _):
            return [Hop(_Q, _P, "the first", back=True), Hop(_P, _C, "open: followUp")]
        case "open", (kind, _):
            return [Hop(_P, _C, f"open: {kind}")]
        case "queue", _:
            return [Hop(_P, _Q, "queue")]
        case "close", (reason,):
            return [Hop(_P, _C, f"close: {reason}")]
        case name, _:
            return [Hop(_P, _C, name.replace("-", " "))]


PATH: Final = Path("From events to cycles", PARTIES, SPEC, tables(Policies()), _STEPS, _ARRIVES, _leaves)
