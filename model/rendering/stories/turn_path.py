"""The path of one turn, as seed 001 lists it: its six numbered steps, with what each of their points says.

The three ways out of step 3 are branches; a turn's terminal leaves in step 6, behind its record, since nobody sees what
is not durable (TM-3.4). Context, memory and the objective are the runtime's own files, which the machine asks for.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from ...declaration.vocabulary import Output
from ...machines.turn import DEFAULTS, SPEC
from ...machines.turn_log import OUTCOMES
from ..scene import Band, Edge
from .path import Hop, Path, Take, plain
from .story import event

PARTIES: Final = ("Agent or human", "Gateway", "Runtime", "Turn lock", "Local files", "Model", "Tools")
_A, _G, _R, _L, _F, _M, _T = PARTIES
_END: Final = Edge("end")

_ONE: Final = event("inbound", id="m1", text="one")
_READY: Final = (_ONE, *plain("valid", "locked", "loaded"))
_CALL: Final = event("call", call_id="c1", tool="read", arguments={})
_DENIED: Final = event("call", call_id="c1", tool="deploy", arguments={}, decision="deny-turn")
_TEXT: Final = event("text", text="all well")
_STOP: Final = event("model-stop")
_CALLED: Final = (*_READY, _CALL)
_RUN: Final = (*_CALLED, *plain("model-stop", "approved"))

_STEPS: Final = (
    Band("1) Receive"),
    Take(_ONE),
    Edge("alt", "the required fields are there"),
    Take(event("valid")),
    Edge("else", "one is missing: the turn fails as invalid_input, without a lock"),
    Take(event("invalid"), behind=(_ONE,), until="respond"),
    _END,
    Band("2) Understand"),
    Take(event("locked"), behind=(_ONE, *plain("valid"))),
    Take(event("loaded"), {"request": (Band("3) Decide"),)}),
    Edge("alt", "a direct response"),
    Take(_TEXT),
    Take(_STOP, until="respond"),
    Edge("else", "a response with tools: step 4"),
    Take(_CALL, behind=_READY),
    Take(_STOP, until="approve"),
    Edge("else", "the policy denies the turn: policy_denied"),
    Take(_DENIED, behind=_READY),
    Take(_STOP, until="respond"),
    Edge("else", "the model fails, or says nothing: provider_error, report_missing"),
    Take(event("model-failure"), behind=_READY, until="respond"),
    _END,
    Band("4) Execute (optional tools)"),
    Edge("loop", "per call, while calls, rounds, tokens and time are left"),
    Take(_STOP, behind=_CALLED, only=("approve",)),
    Edge("alt", "approved"),
    Take(event("approved")),
    Take(event("tool-return", output="text"), until="request"),
    Edge("else", "approved, and the tool fails: tool_runtime_error"),
    Take(event("approved"), behind=(*_CALLED, _STOP)),
    Take(event("tool-failure", failure="tool_runtime_error"), until="request"),
    Edge("else", "refused by policy or schema"),
    Take(event("refused", failure="policy_denied", message="no"), behind=(*_CALLED, _STOP), until="request"),
    _END,
    Take(event("tool-return", output="text"), behind=_RUN, only=("request",)),
    _END,
    Edge("opt", "a bound is exceeded: the turn fails"),
    Take(event("timeout"), behind=_RUN, until="respond"),
    _END,
    Band("5) Respond"),
    Take(_STOP, behind=(*_READY, _TEXT), only=("respond",)),
    Band("6) Record"),
    Take(event("responded")),
    Take(event("recorded"), {"finish": (Edge("alt", "completed"),)}),
    Edge("else", "failed"),
    Take(event("recorded"), behind=(*_READY, *plain("model-failure", "responded")), only=("finish",)),
    Edge("else", "denied"),
    Take(event("recorded"), behind=(*_READY, _DENIED, _STOP, *plain("responded")), only=("finish",)),
    _END,
)
"""The events that are played, and the frames around them, in the source's order."""

_ARRIVES: Final[Mapping[str, Sequence[Hop]]] = {
    "inbound": [Hop(_A, _G, "chat event", unseen=True), Hop(_G, _R, "normalized event")],
    "valid": [],
    "invalid": [Hop(_R, _R, "invalid_input")],
    "locked": [Hop(_L, _R, "held", back=True)],
    "loaded": [Hop(_F, _R, "context", back=True), Hop(_R, _R, "build the objective", unseen=True)],
    "text": [Hop(_M, _R, "text", back=True)],
    "call": [Hop(_M, _R, "call", back=True)],
    "model-stop": [Hop(_M, _R, "end", back=True)],
    "model-failure": [Hop(_M, _R, "failure", back=True)],
    "approved": [],
    "refused": [Hop(_R, _R, "refusal is the result")],
    "tool-return": [Hop(_T, _R, "result", back=True)],
    "tool-failure": [Hop(_T, _R, "structured failure", back=True)],
    "timeout": [Hop(_R, _R, "time is up")],
    "responded": [],
    "recorded": [Hop(_F, _R, "durable", back=True)],
}
"""Event → the hops by which it comes to the runtime."""

_LEAVES: Final[Mapping[str, Sequence[Hop]]] = {
    "check": [Hop(_R, _R, "validate the fields")],
    "lock": [Hop(_R, _L, "acquire")],
    "load": [Hop(_R, _F, "load messages, contracts, memory")],
    "request": [Hop(_R, _M, "infer")],
    "text": [Hop(_R, _G, "text", back=True)],
    "approve": [Hop(_R, _R, "policy, schema")],
    "run": [Hop(_R, _T, "run")],
    "respond": [Hop(_R, _R, "one terminal")],
    "append": [Hop(_R, _F, "append events, terminal")],
    "checkpoint": [Hop(_R, _F, "update checkpoint")],
    "release": [Hop(_R, _L, "release")],
}
"""Output → the hops by which it goes on; `_leaves` has two more. The others keep the journal, step by step."""


def _leaves(output: Output) -> Sequence[Hop]:
    match output.name, output.arguments:
        case "finish", (name,):
            end = OUTCOMES[name]
            said = end.status if end.failure is None else f"{end.status}: reason, nextAction"
            return [Hop(_R, _G, said, back=True), Hop(_G, _A, said, back=True, unseen=True)]
        case "skip", (call, pending):
            return [Hop(_R, _R, "answer open calls")] if call >= 0 or pending else ()
        case name, _:
            return _LEAVES.get(name, ())


PATH: Final = Path("One turn in six steps", PARTIES, SPEC, DEFAULTS, _STEPS, _ARRIVES, _leaves)
