"""The single-chat turn: one inbound event, one path through six steps, one terminal (seed 001, TM-1 to TM-7).

One machine for one session and all its turns. The six steps are states; the two places where a step waits for somebody
else are states of their own: ``lock`` (receive waits for the session's turn lock) and ``approve`` (execute waits for
policy and schema). ``down`` and ``torn`` are a crashed process: a crash leaves what the journal holds, and a crash in
the record step leaves open whether the terminal is in it, until a restart has read it (TM-7.1).

The policy decides on each call that the model proposes; its decision is the field ``decision`` of ``call``. A denial of
the turn is taken in decide: when the response is whole, the turn ends and none of its calls runs. A denial of a call is
a result (TM-D1). Nobody is asked here: that is ``paused`` of the machine ``interaction``.

The events are the environment's, and the shell's own answers to the machine's outputs: ``check`` is answered by
``valid`` or ``invalid``, ``lock`` by ``locked``, ``load`` by ``loaded``, ``approve`` by ``approved`` or ``refused``,
``respond`` by ``responded``, ``append`` and ``checkpoint`` together by ``recorded``. The shell matches answers to requests: an answer to another request or call than the one under way does not reach the machine. Theory: a
pure Mealy machine under an imperative shell, with write-ahead logging (Gray and Reuter, 1992): nobody sees what is not
durable.
"""

from collections.abc import Mapping
from typing import Any, Final, get_args

from ..core.events import Delivery
from ..declaration.machine import Invariant, Machine, NativeRow
from ..declaration.proof_roles import (
    AlphabetRoles,
    CallRoles,
    DeliveryRole,
    Ending,
    MessageRoles,
    ProofRoles,
    RunRoles,
)
from ..declaration.vocabulary import *
from .turn_log import OUTCOMES, refine

STATES: Final = (
    *("idle", "receive", "lock", "understand", "decide", "approve", "execute", "respond", "record"),
    *("down", "torn"),
)

EVENTS: Final = {
    "inbound": ("TM-1.1", "TM-1.2", "TM-3.2", "TM-5.1", "TM-5.2", "TM-D7"),
    "valid": ("TM-2.2",),
    "invalid": ("TM-2.2", "TM-6", "TM-D2"),
    "locked": ("TM-2.2",),
    "loaded": ("TM-2.3", "TM-2.4"),
    "text": ("TM-2.4",),
    "reasoning": ("TM-2.4",),
    "call": ("TM-2.4", "TM-2.5", "TM-D1"),
    "model-stop": ("TM-2.4", "TM-2.5", "TM-3.3", "TM-5.2", "TM-6", "TM-D1", "TM-D3"),
    "model-failure": ("TM-6",),
    "approved": ("TM-2.5", "TM-4.1"),
    "refused": ("TM-4.1", "TM-D1"),
    "tool-return": ("TM-2.5", "TM-4.3"),
    "tool-failure": ("TM-4.2", "TM-4.3"),
    "timeout": ("TM-2.5", "TM-3.3", "TM-4.3", "TM-D3"),
    "responded": ("TM-2.6", "TM-2.7"),
    "recorded": ("TM-2.7", "TM-3.1", "TM-3.4", "TM-5.3"),
    "crash": ("TM-3.5", "TM-7.1"),
    "restart": ("TM-7.1", "TM-D5", "TM-D6"),
}

_WORKING: Final = ["receive", "lock", "understand", "decide", "approve", "execute"]
_ENDING: Final = ["respond", "record"]
_LOST: Final = ["down", "torn"]
_TIMED: Final = ["lock", "understand", "decide", "approve", "execute"]
_ALIVE: Final = ["idle", *_WORKING, "respond"]


def _but(*states: str) -> list[str]:
    return [state for state in STATES if state not in states]


_BEGIN: Final = ["forget_seen", "no_calls", "no_rounds", "check"]
_ASK: Final = ["take_steers", "count_round", "no_reply", "note_request", "ask"]
_CUT: Final = ["skip", "forget_call", "forget_pending", "take_steers", "no_denial"]
_NEXT: Final = ["take_call", "count_call", "approve"]

# fmt: off
TABLE: Final[list[NativeRow]] = [
    # event          source        dest          if                              unless                                then
    ["inbound",       "idle",       "receive",    ["unkeyed"],                    [],                                   ["open", "accept", *_BEGIN]],
    ["inbound",       "idle",       "receive",    ["new_key"],                    ["unkeyed"],                          ["note_key", "open", "accept", *_BEGIN]],
    ["inbound",       _WORKING,     None,         ["unkeyed", "steers"],          [],                                   ["accept", "keep_steer"]],
    ["inbound",       _WORKING,     None,         ["unkeyed", "follows_up"],      [],                                   ["accept", "collect"]],
    ["inbound",       _WORKING,     None,         ["new_key", "steers"],          ["unkeyed"],                          ["note_key", "accept", "keep_steer"]],
    ["inbound",       _WORKING,     None,         ["new_key", "follows_up"],      ["unkeyed"],                          ["note_key", "accept", "collect"]],
    ["inbound",       _ENDING,      None,         ["unkeyed"],                    [],                                   ["accept_late", "collect"]],
    ["inbound",       _ENDING,      None,         ["new_key"],                    ["unkeyed"],                          ["note_key", "accept_late", "collect"]],
    ["inbound",       _but(*_LOST), None,         [],                             ["unkeyed", "new_key"],               ["repeat"]],
    ["inbound",       _LOST,        None,         [],                             [],                                   ["refuse"]],
    ["valid",         "receive",    "lock",       [],                             [],                                   ["lock"]],
    ["invalid",       "receive",    "respond",    [],                             [],                                   ["take_steers", "be_invalid", "respond"]],
    ["locked",        "lock",       "understand", [],                             [],                                   ["hold", "load"]],
    ["loaded",        "understand", "decide",     [],                             [],                                   _ASK],
    ["text",          "decide",     None,         [],                             [],                                   ["say", "reply"]],
    ["reasoning",     "decide",     None,         [],                             [],                                   ["think"]],
    ["call",          "decide",     None,         ["unseen", "denies_turn"],      [],                                   ["note_seen", "note_call", "call", "note_denial"]],
    ["call",          "decide",     None,         ["unseen"],                     ["denies_turn"],                      ["note_seen", "note_call", "call"]],
    ["call",          "decide",     None,         [],                             ["unseen"],                           ["ignore"]],
    ["model-stop",    "decide",     "respond",    [],                             ["tokens_left"],                      [*_CUT, "exceed_tokens", "respond"]],
    ["model-stop",    "decide",     "respond",    ["tokens_left", "denied"],      [],                                   [*_CUT, "deny", "respond"]],
    ["model-stop",    "decide",     "approve",    ["tokens_left", "called", "calls_left"],  ["denied"],                 [*_NEXT]],
    ["model-stop",    "decide",     "respond",    ["tokens_left", "called"],      ["denied", "calls_left"],             [*_CUT, "exceed_calls", "respond"]],
    ["model-stop",    "decide",     "decide",     ["tokens_left", "steered", "rounds_left"], ["denied", "called"],      _ASK],
    ["model-stop",    "decide",     "respond",    ["tokens_left", "steered"],     ["denied", "called", "rounds_left"],  [*_CUT, "exceed_rounds", "respond"]],
    ["model-stop",    "decide",     "respond",    ["tokens_left", "replied"],     ["denied", "called", "steered"],      ["complete", "respond"]],
    ["model-stop",    "decide",     "respond",    ["tokens_left"],                ["denied", "called", "steered", "replied"], ["miss_report", "respond"]],
    ["model-failure", "decide",     "respond",    [],                             [],                                   [*_CUT, "fail_provider", "respond"]],
    ["approved",      "approve",    "execute",    [],                             [],                                   ["run"]],
    ["refused",       "approve",    "approve",    ["called", "calls_left"],       [],                                   ["refuse_call", *_NEXT]],
    ["refused",       "approve",    "respond",    ["called"],                     ["calls_left"],                       ["refuse_call", "forget_call", *_CUT, "exceed_calls", "respond"]],
    ["refused",       "approve",    "decide",     ["rounds_left"],                ["called"],                           ["refuse_call", "forget_call", *_ASK]],
    ["refused",       "approve",    "respond",    [],                             ["called", "rounds_left"],            ["refuse_call", "forget_call", *_CUT, "exceed_rounds", "respond"]],
    ["tool-return",   "execute",    "approve",    ["called", "calls_left"],       [],                                   ["answer", *_NEXT]],
    ["tool-return",   "execute",    "respond",    ["called"],                     ["calls_left"],                       ["answer", "forget_call", *_CUT, "exceed_calls", "respond"]],
    ["tool-return",   "execute",    "decide",     ["rounds_left"],                ["called"],                           ["answer", "forget_call", *_ASK]],
    ["tool-return",   "execute",    "respond",    [],                             ["called", "rounds_left"],            ["answer", "forget_call", *_CUT, "exceed_rounds", "respond"]],
    ["tool-failure",  "execute",    "approve",    ["called", "calls_left"],       [],                                   ["answer_failure", *_NEXT]],
    ["tool-failure",  "execute",    "respond",    ["called"],                     ["calls_left"],                       ["answer_failure", "forget_call", *_CUT, "exceed_calls", "respond"]],
    ["tool-failure",  "execute",    "decide",     ["rounds_left"],                ["called"],                           ["answer_failure", "forget_call", *_ASK]],
    ["tool-failure",  "execute",    "respond",    [],                             ["called", "rounds_left"],            ["answer_failure", "forget_call", *_CUT, "exceed_rounds", "respond"]],
    ["timeout",       _TIMED,       "respond",    [],                             [],                                   [*_CUT, "exceed_time", "respond"]],
    ["responded",     "respond",    "record",     [],                             [],                                   ["append", "checkpoint"]],
    ["recorded",      "record",     "receive",    ["held", "waiting"],            [],                                   ["release", "let_go", "finish", "no_outcome", "next", *_BEGIN]],
    ["recorded",      "record",     "receive",    ["waiting"],                    ["held"],                             ["finish", "no_outcome", "next", *_BEGIN]],
    ["recorded",      "record",     "idle",       ["held"],                       ["waiting"],                          ["release", "let_go", "finish", "no_outcome", "close"]],
    ["recorded",      "record",     "idle",       [],                             ["held", "waiting"],                  ["finish", "no_outcome", "close"]],
    ["recorded",      "torn",       "down",       [],                             [],                                   ["finish", "no_outcome", "close"]],
    ["crash",         _ALIVE,       "down",       [],                             [],                                   ["let_go"]],
    ["crash",         "record",     "torn",       [],                             [],                                   ["let_go"]],
    ["restart",       "down",       "receive",    ["closed", "waiting"],          [],                                   ["next", *_BEGIN]],
    ["restart",       "down",       "idle",       ["closed"],                     ["waiting"],                          []],
    ["restart",       "down",       "respond",    [],                             ["closed"],                           [*_CUT, "recover", "respond"]],
    ["restart",       "torn",       "respond",    [],                             [],                                   [*_CUT, "recover", "respond"]],
]
# fmt: on

_QUEUE, _STEERS, _PENDING = Register("queue"), Register("steers"), Register("pending")
_TURN, _CALL, _REQUEST, _OUTCOME = Register("turn"), Register("call"), Register("request"), Register("outcome")
_CALLS, _ROUNDS, _REPLIED, _LOCKED = Register("calls"), Register("rounds"), Register("replied"), Register("locked")
_DENIED = Register("denied")
_SEEN, _KEYS, _KEY = Register("seen"), Register("keys"), Field("key")
_SEEN_CALL, _KEYED = Lookup(_SEEN, Field("call_id")), Lookup(_KEYS, _KEY)
_DELIVERY = Default(Field("delivery", Delivery), Table("while_active", Delivery))


def _ends(name: str) -> Invariant:
    return lambda state, data: state == "record" and data["outcome"] == name


SPEC: Final = Machine(
    name="turn",
    title="Single-chat turn",
    states=STATES,
    initial="idle",
    final=("idle",),
    events=EVENTS,
    table=TABLE,
    # Positions: ``queue``, ``steers`` (messages), ``pending`` (calls), ``seen`` (call id → call), ``keys`` (idempotency
    # key → message), ``turn`` (its root), ``call`` (the one under way), ``request``. Counts of this turn: ``calls``,
    # ``rounds``. Flags: ``replied``, ``denied``, ``locked``. ``outcome`` is a name of OUTCOMES. -1 is none.
    registers={
        **dict.fromkeys(("queue", "steers", "pending"), "queue"),
        **dict.fromkeys(("seen", "keys"), "map"),
        **dict.fromkeys(("turn", "call", "request", "calls", "rounds"), "number"),
        **dict.fromkeys(("replied", "denied", "locked", "outcome"), "number"),
    },
    guards={
        "unkeyed": Equal(_KEY, Const(None)),
        "new_key": Equal(_KEYED, Const(None)),
        "steers": Equal(_DELIVERY, Const("steer")),
        "follows_up": Equal(_DELIVERY, Const("followUp")),
        "unseen": Equal(_SEEN_CALL, Const(None)),
        "called": Nonempty(_PENDING),
        "steered": Nonempty(_STEERS),
        "waiting": Nonempty(_QUEUE),
        "replied": Equal(_REPLIED, Const(1)),
        "denies_turn": Equal(Field("decision"), Const("deny-turn")),
        "denied": Equal(_DENIED, Const(1)),
        "held": Equal(_LOCKED, Const(1)),
        "closed": Equal(_TURN, Const(-1)),
        "calls_left": Less(_CALLS, Table("max_calls")),
        "rounds_left": Less(_ROUNDS, Table("max_rounds")),
        "tokens_left": Less(Field("tokens"), Table("token_bound")),
    },
    effects={
        "open": Set(_TURN, Here()),
        "next": Pop(_QUEUE, into=_TURN),
        "close": Set(_TURN, Const(-1)),
        "note_key": Set(_KEYED, Here()),
        "accept": Emit("message", (Here(),)),
        "accept_late": Emit("late-message", (Here(),)),
        "keep_steer": Push(_STEERS, Here()),
        "take_steers": Clear(_STEERS),
        "collect": Push(_QUEUE, Here()),
        "repeat": Emit("repeat", (_KEYED,)),
        "refuse": Emit("refuse"),
        "check": Emit("check", (_TURN,)),
        "lock": Emit("lock"),
        "hold": Set(_LOCKED, Const(1)),
        "release": Emit("release"),
        "let_go": Set(_LOCKED, Const(0)),
        "load": Emit("load", (_TURN,)),
        "note_request": Set(_REQUEST, Here()),
        "ask": Emit("request", (_REQUEST,)),
        "no_rounds": Set(_ROUNDS, Const(0)),
        "count_round": Increment(_ROUNDS),
        "no_reply": Set(_REPLIED, Const(0)),
        "reply": Set(_REPLIED, Const(1)),
        "no_denial": Set(_DENIED, Const(-1)),
        "note_denial": Set(_DENIED, Const(1)),
        "say": Emit("text", (Here(), _REQUEST)),
        "think": Emit("reasoning", (Here(), _REQUEST)),
        "call": Emit("call", (Here(), _REQUEST)),
        "note_seen": Set(_SEEN_CALL, Here()),
        "note_call": Push(_PENDING, Here()),
        "forget_seen": Clear(_SEEN),
        "forget_pending": Clear(_PENDING),
        "no_calls": Set(_CALLS, Const(0)),
        "take_call": Pop(_PENDING, into=_CALL),
        "count_call": Increment(_CALLS),
        "forget_call": Set(_CALL, Const(-1)),
        "approve": Emit("approve", (_CALL,)),
        "run": Emit("run", (_CALL,)),
        "answer": Emit("result", (_CALL, Here())),
        "answer_failure": Emit("failure", (_CALL, Here())),
        "refuse_call": Emit("refusal", (_CALL, Here())),
        "skip": Emit("skip", (_CALL, _PENDING)),
        "complete": Set(_OUTCOME, Const("completed")),
        "be_invalid": Set(_OUTCOME, Const("invalid input")),
        "deny": Set(_OUTCOME, Const("denied")),
        "fail_provider": Set(_OUTCOME, Const("provider failed")),
        "miss_report": Set(_OUTCOME, Const("no reply")),
        "exceed_calls": Set(_OUTCOME, Const("too many calls")),
        "exceed_rounds": Set(_OUTCOME, Const("too many rounds")),
        "exceed_tokens": Set(_OUTCOME, Const("too many tokens")),
        "exceed_time": Set(_OUTCOME, Const("too much time")),
        "recover": Set(_OUTCOME, Const("recovered")),
        "no_outcome": Set(_OUTCOME, Const(-1)),
        "respond": Emit("respond", (_OUTCOME,)),
        "append": Emit("append", (_OUTCOME,)),
        "checkpoint": Emit("checkpoint"),
        "finish": Emit("finish", (_OUTCOME,)),
        "ignore": Emit("ignore"),
    },
    opposites={
        "unkeyed": "keyed",
        "new_key": "known key",
        "unseen": "seen",
        "called": "no call left",
        "steered": "no steer",
        "waiting": "nobody waits",
        "replied": "no reply",
        "denies_turn": "turn allowed",
        "denied": "no denial",
        "held": "unlocked",
        "closed": "amid a turn",
        "calls_left": "calls used up",
        "rounds_left": "rounds used up",
        "tokens_left": "tokens used up",
    },
    always={
        "an idle session has no turn, no call, no steer, and nobody waits": lambda state, data: (
            state != "idle"
            or (data["turn"] == data["call"] == -1 and not (data["pending"] or data["steers"] or data["queue"]))
        ),
        "every step but idle has its turn": lambda state, data: state in {"idle", "down"} or data["turn"] >= 0,
        "the lock is held from understand to execute": lambda state, data: (
            state not in {"understand", "decide", "approve", "execute"} or data["locked"] == 1
        ),
        "a turn that responds has answered its calls": lambda state, data: (
            state not in _ENDING or (data["call"] == -1 and not data["pending"] and not data["steers"])
        ),
        "a turn that responds has an outcome": lambda state, data: state not in _ENDING or data["outcome"] in OUTCOMES,
        "a turn at work has no outcome yet": lambda state, data: state not in _WORKING or data["outcome"] == -1,
        "a denial of the turn is taken in decide": lambda state, data: (
            state in {"decide", "down"} or data["denied"] == -1
        ),
        "a tool runs for a call": lambda state, data: state != "execute" or data["call"] >= 0,
        "messages wait in the order in which they came": lambda _, data: list(data["queue"]) == sorted(data["queue"]),
    },
    sometimes={
        "a steer and a follow-up wait side by side": lambda _, data: bool(data["steers"] and data["queue"]),
        "calls wait while one runs": lambda state, data: state == "execute" and bool(data["pending"]),
        "a turn ends without the lock": lambda state, data: state == "record" and data["locked"] != 1,
        "a recovered turn is recorded while others wait": lambda state, data: (
            state == "record" and data["outcome"] == "recovered" and bool(data["queue"])
        ),
        **{
            f"a turn ends: {name}": _ends(name)
            for name in ("completed", "denied", "no reply", "too many calls", "too many rounds", "too many tokens")
        },
    },
    ignored=("ignore",),
)

DEFAULTS: Final[Mapping[str, Any]] = {
    "while_active": "followUp",
    "max_calls": 16,
    "max_rounds": 16,
    "token_bound": 1_000_001,
}
"""The tables of a session without options: collect (TM-5.1), and bounds (TM-3.3).

``token_bound`` is the first number of tokens that is too many."""

_BOUNDED: Final = ("model-stop", "refused", "tool-return", "tool-failure")

ROLES: Final = ProofRoles(
    machine=SPEC,
    run=RunRoles(
        active=(*_WORKING, *_ENDING, "torn"),
        data_dependent=("down",),
        closed="closed",
        begins=("open", "next"),
        ends=("finish",),
        answers={
            "receive": ("valid", "invalid"),
            "lock": ("locked", "timeout"),
            "understand": ("loaded", "timeout"),
            "decide": ("model-stop", "model-failure", "timeout"),
            "approve": ("approved", "refused", "timeout"),
            "execute": ("tool-return", "tool-failure", "timeout"),
            "respond": ("responded",),
            "record": ("recorded",),
            "down": ("restart",),
            "torn": ("restart", "recorded"),
        },
        rounds=("ask",),
        continues=("call",),
        logged=("text", "reasoning", "call", "result", "failure", "refusal", "skip"),
        reasons={
            "complete": [Ending(("model-stop",), ("tokens_left", "replied"), ("denied", "called", "steered"))],
            "miss_report": [Ending(("model-stop",), ("tokens_left",), ("denied", "called", "steered", "replied"))],
            "be_invalid": [Ending(("invalid",))],
            "deny": [Ending(("model-stop",), ("tokens_left", "denied"))],
            "fail_provider": [Ending(("model-failure",))],
            "exceed_calls": [Ending(_BOUNDED, ("called",), ("calls_left",))],
            "exceed_rounds": [Ending(_BOUNDED, (), ("called", "rounds_left"))],
            "exceed_tokens": [Ending(("model-stop",), (), ("tokens_left",))],
            "exceed_time": [Ending(("timeout",))],
            "recover": [Ending(("restart",))],
        },
        asks={
            "receive": ("check",),
            "lock": ("lock",),
            "understand": ("load",),
            "decide": ("request",),
            "approve": ("approve",),
            "execute": ("run",),
            "respond": ("respond",),
            "record": ("append",),
        },
        numbers=("request", "call"),
    ),
    messages=MessageRoles(
        taken={"inbound": ("open", "keep_steer", "collect", "repeat", "refuse")},
        queues=("queue", "pending", "steers"),
        # The model is asked with the log, in which every steer stands; after the terminal none is left to be read.
        reads={"steers": ("request", "respond")},
        waiting="queue",
        promotes={"finish": ()},
        deliveries=(DeliveryRole("inbound", "keep_steer", "steers"), DeliveryRole("inbound", "collect", "follows_up")),
        late_in=_ENDING,
    ),
    calls=CallRoles(
        registers=("pending", "call"),
        makes=("call",),
        ids="seen",
        results=("result", "failure", "refusal", "skip"),
        empty={
            **dict.fromkeys(("receive", "lock", "understand", *_ENDING, "torn"), ("pending", "call")),
            "decide": ("call",),
        },
    ),
    alphabet=AlphabetRoles(
        values={"delivery": (None, *get_args(Delivery)), "key": (None, "red"), "decision": (None, "deny-turn")},
        carries={"text": ("text",), "reasoning": ("text",), "call": ("tool",)},
        payloads={"inbound": ("text",)},
    ),
    tables=[
        {"while_active": "steer", "max_calls": 1, "max_rounds": 2, "token_bound": 1},
        {"while_active": "followUp", "max_calls": 2, "max_rounds": 2, "token_bound": 1},
    ],
    suite_bounds=(
        {"queue": 2, "steers": 0, "keys": 0, "pending": 0, "seen": 0},
        {"queue": 0, "steers": 2, "keys": 1, "pending": 0, "seen": 0},
        {"queue": 0, "steers": 1, "keys": 0, "pending": 2, "seen": 2},
    ),
    refine=refine,
    parts={
        "begin": ("idle", "receive", "lock", "understand"),
        "work": ("decide", "approve", "execute"),
        "end": ("respond", "record"),
        "recovery": ("down", "torn"),
    },
)
