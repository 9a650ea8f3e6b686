"""The event flow's UI: from the frames of the wire to one response block per model call (seed 002, EF-5 to EF-12).

A Mealy machine follows the *newest* block, and assigns each frame to a block: by its iteration, by its call's id, or,
for a delta, because the newest block still streams. The first of ``delta``, ``llm_response`` and ``message_complete``
opens the block; a repeated frame changes nothing. ``blocks.collate`` folds the machine's outputs.
"""

from typing import Final

from ..declaration.machine import Machine, NativeRow
from ..declaration.proof_roles import AlphabetRoles, ProofRoles, RunRoles
from ..declaration.vocabulary import *

STATES: Final = ("waiting", "drafting", "streaming", "settled")
"""Each state says what the next delta does. It begins a block (``waiting``); it continues the newest block, whose
iteration is presumed (``drafting``) or known (``streaming``); or it is late: the block has its text (``settled``)."""

EVENTS: Final = {
    "llm-request": ("EF-2", "EF-6", "EF-D2"),
    "delta": ("EF-8", "EF-D2"),
    "llm-response": ("EF-5", "EF-6", "EF-8", "EF-10", "EF-12", "EF-D2"),
    "message-complete": ("EF-5", "EF-8", "EF-9", "EF-10", "EF-12"),
    "tool-call-start": ("EF-7", "EF-D2"),
    "tool-call-result": ("EF-7", "EF-D2"),
}

_KNOWN: Final = ["waiting", "streaming", "settled"]
_GROWING: Final = ["drafting", "streaming"]
_WHOLE: Final = ["waiting", "settled"]

# fmt: off
TABLE: Final[list[NativeRow]] = [
    # event              source      dest         if            unless                 then
    ["llm-request",      _KNOWN,     "streaming", ["later"],    [],                    ["open_this", "describe"]],
    ["llm-request",      "drafting", "streaming", ["later"],    [],                    ["claim", "open_this", "describe"]],
    ["llm-request",      "*",        None,        [],           ["later"],             ["describe"]],
    ["delta",            "*",        None,        [],           ["new"],               ["ignore"]],
    ["delta",            "waiting",  "drafting",  ["new"],      [],                    ["note_delta", "open_next", "append"]],
    ["delta",            _GROWING,   None,        ["new"],      [],                    ["note_delta", "append"]],
    ["delta",            "settled",  None,        ["new"],      [],                    ["note_delta", "ignore"]],
    ["llm-response",     _KNOWN,     "settled",   ["later"],    [],                    ["open_this", "describe", "replace"]],
    ["llm-response",     "drafting", "settled",   ["later"],    [],                    ["claim", "open_this", "describe", "replace"]],
    ["llm-response",     "*",        None,        ["earlier"],  ["later"],             ["describe", "replace"]],
    ["llm-response",     _GROWING,   "settled",   [],           ["later", "earlier"],  ["describe", "replace"]],
    ["llm-response",     _WHOLE,     None,        [],           ["later", "earlier"],  ["describe", "replace"]],
    ["message-complete", _KNOWN,     "settled",   ["later"],    [],                    ["open_this", "describe", "replace"]],
    ["message-complete", "drafting", "settled",   ["later"],    [],                    ["claim", "open_this", "describe", "replace"]],
    ["message-complete", "*",        None,        ["earlier"],  ["later"],             ["describe"]],
    ["message-complete", _GROWING,   "settled",   [],           ["later", "earlier"],  ["describe", "replace"]],
    ["message-complete", _WHOLE,     None,        [],           ["later", "earlier"],  ["describe"]],
    ["tool-call-start",  "*",        "waiting",   ["unseen"],   [],                    ["note_call", "hang"]],
    ["tool-call-start",  "*",        None,        [],           ["unseen"],            ["ignore"]],
    ["tool-call-result", "*",        None,        ["answered"], [],                    ["ignore"]],
    ["tool-call-result", "*",        "waiting",   [],           ["answered"],          ["answer_call", "hang"]],
]
# fmt: on

_NEWEST, _INDEX = Register("newest"), Field("index")
_DELTA, _CALL = Lookup(Register("deltas"), Field("seq")), Lookup(Register("calls"), Field("call_id"))

SPEC: Final = Machine(
    name="collation",
    title="Collation",
    states=STATES,
    initial="waiting",
    final=STATES,
    events=EVENTS,
    table=TABLE,
    # ``newest``: index of the newest block, -1 for none; ``deltas``: those received, by seq; ``calls``: tool uses by
    # id, with their position or ANSWERED.
    registers={"newest": "number", "deltas": "map", "calls": "map"},
    guards={
        "later": Less(_NEWEST, _INDEX),
        "earlier": Less(_INDEX, _NEWEST),
        "new": Equal(_DELTA, Const(None)),
        "unseen": Equal(_CALL, Const(None)),
        "answered": Equal(_CALL, Const(ANSWERED)),
    },
    effects={
        "open_this": Set(_NEWEST, _INDEX),
        "open_next": Increment(_NEWEST),
        "claim": Emit("claim", (_NEWEST, _INDEX)),
        "describe": Emit("describe", (_INDEX, Field("facts"))),
        "replace": Emit("replace", (_INDEX, Field("text"))),
        "append": Emit("append", (_NEWEST, Field("text"))),
        "note_delta": Set(_DELTA, Here()),
        "note_call": Set(_CALL, Here()),
        "answer_call": Set(_CALL, Const(ANSWERED)),
        "hang": Emit("hang", (_NEWEST, Field("use"))),
        "ignore": Emit("ignore"),
    },
    opposites={
        "later": "no later",
        "earlier": "no earlier",
        "new": "repeated",
        "unseen": "seen",
        "answered": "open",
    },
    always={
        "what streams or is settled is a block": lambda state, data: state == "waiting" or data["newest"] >= 0,
    },
    sometimes={
        "a second block drafts": lambda state, data: state == "drafting" and data["newest"] == 1,
        "a block is settled without a delta": lambda state, data: state == "settled" and not data["deltas"],
        "a block waits for its tools": lambda state, data: state == "waiting" and data["newest"] >= 0,
    },
)

ROLES: Final = ProofRoles(
    SPEC,
    run=RunRoles(late={"tool-call-result": ("answered",)}),
    boundary=("replace",),
    alphabet=AlphabetRoles(values={"index": (0, 1, 2)}),
)
"""The UI follows the backend's runs, and has none of its own."""
