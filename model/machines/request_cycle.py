"""The core machine: from the log of one session to its cycles (seed 000, clauses RC-1 to RC-7 with RC-D1 to RC-D9).

A Mealy machine of two control states over the alphabet of ``events.SYMBOLS``, plus the log's end. It is total: what a
state does not permit is rejected as an anomaly (RC-D4), and a rejected event changes nothing. Its outputs (``open``,
``append-…``, ``queue``, ``close``, ``drop``, ``reject``, ``remark``) are all that a projection is built of.
"""

from typing import Final, get_args

from ..core.events import Delivery, StopReason
from ..core.policies import Policies, QueueFate
from ..core.policies import tables as tables  # noqa: PLC0414 - those of this machine: core.projection takes them too
from ..declaration.machine import Machine, NativeRow
from ..declaration.proof_roles import (
    AlphabetRoles,
    CallRoles,
    DeliveryRole,
    Ending,
    MessageRoles,
    ProofRoles,
    RunRoles,
    every_choice,
)
from ..declaration.vocabulary import *

STATES: Final = ("idle", "active")

EVENTS: Final = {
    "user-message": ("RC-3.1", "RC-3.2", "RC-4.1", "RC-4.2", "RC-7.2"),
    "text": ("RC-5.2", "RC-7.3"),
    "tool-call": ("RC-5.2", "RC-7.3", "RC-D4"),
    "tool-result": ("RC-6.5", "RC-7.3", "RC-D4"),
    "run-stop": ("RC-2", "RC-5.3", "RC-7.4", "RC-7.5", "RC-D6"),
    "observation": ("RC-D8",),
    "unknown-type": ("RC-1", "RC-D4"),
    "malformed": ("RC-1", "RC-D4", "RC-D5"),
    "log-end": ("RC-D4", "RC-D9"),
}

# fmt: off
TABLE: Final[list[NativeRow]] = [
    # event          source    dest      if                        unless                   then
    ["user-message", "idle",   "active", [],                       [],                      ["remember_root", "open_direct"]],
    ["user-message", "active", None,     ["steers"],               [],                      ["append_steer"]],
    ["user-message", "active", None,     ["follows_up"],           [],                      ["enqueue", "wait"]],
    ["text",         "idle",   None,     [],                       [],                      ["reject_outside_run"]],
    ["text",         "active", None,     [],                       [],                      ["append_text"]],
    ["tool-call",    "idle",   None,     [],                       [],                      ["reject_outside_run"]],
    ["tool-call",    "active", None,     ["unseen"],               [],                      ["open_call", "append_call"]],
    ["tool-call",    "active", None,     [],                       ["unseen"],              ["reject_duplicate_call"]],
    ["tool-result",  "idle",   None,     [],                       [],                      ["reject_outside_run"]],
    ["tool-result",  "active", None,     ["unseen"],               [],                      ["reject_unknown_call"]],
    ["tool-result",  "active", None,     ["answered"],             [],                      ["reject_duplicate_result"]],
    ["tool-result",  "active", None,     [],                       ["unseen", "answered"],  ["answer_call", "append_result"]],
    ["run-stop",     "idle",   None,     [],                       [],                      ["reject_outside_run"]],
    ["run-stop",     "active", "active", ["promotes", "waiting"],  [],                      ["remark_unanswered", "close", "forget_calls", "promote", "open_promoted"]],
    ["run-stop",     "active", "idle",   ["promotes"],             ["waiting"],             ["remark_unanswered", "close", "forget_calls"]],
    ["run-stop",     "active", "idle",   ["drops"],                [],                      ["remark_unanswered", "close", "forget_calls", "drop", "forget_queue"]],
    ["run-stop",     "active", "idle",   ["holds"],                [],                      ["remark_unanswered", "close", "forget_calls"]],
    ["observation",  "*",      None,     [],                       [],                      ["observe"]],
    ["unknown-type", "*",      None,     [],                       [],                      ["reject_unknown_type"]],
    ["malformed",    "*",      None,     [],                       [],                      ["reject_malformed"]],
    ["log-end",      "idle",   None,     [],                       [],                      []],
    ["log-end",      "active", None,     [],                       [],                      ["remark_truncated"]],
]
# fmt: on

_QUEUE, _CALLS, _ROOT = Register("queue"), Register("calls"), Register("root")
_CALL = Lookup(_CALLS, Field("call_id"))
_REASON = Field("reason", StopReason)
_FATE = Lookup(Table("queue_fate", QueueFate, keys=StopReason), _REASON)
_DELIVERY = Default(Field("delivery", Delivery), Table("while_active", Delivery))

SPEC: Final = Machine(
    name="request_cycle",
    title="Request cycle",
    states=STATES,
    initial="idle",
    final=("idle",),
    events=EVENTS,
    table=TABLE,
    boundary="run-stop",
    registers={"queue": "queue", "calls": "map", "root": "number"},
    guards={
        "steers": Equal(_DELIVERY, Const("steer")),
        "follows_up": Equal(_DELIVERY, Const("followUp")),
        "unseen": Equal(_CALL, Const(None)),
        "answered": Equal(_CALL, Const(ANSWERED)),
        "waiting": Nonempty(_QUEUE),
        "promotes": Equal(_FATE, Const("promote")),
        "drops": Equal(_FATE, Const("drop")),
        "holds": Equal(_FATE, Const("hold")),
    },
    effects={
        "remember_root": Set(_ROOT, Here()),
        "open_direct": Emit("open", (Const("direct"), _ROOT)),
        "open_promoted": Emit("open", (Const("followUp"), _ROOT)),
        "append_text": Emit("append-text"),
        "append_call": Emit("append-call"),
        "append_result": Emit("append-result"),
        "append_steer": Emit("append-steer"),
        "enqueue": Push(_QUEUE, Here()),
        "wait": Emit("queue"),
        "promote": Pop(_QUEUE, into=_ROOT),
        "drop": Emit("drop", (_QUEUE,)),
        "forget_queue": Clear(_QUEUE),
        "open_call": Set(_CALL, Here()),
        "answer_call": Set(_CALL, Const(ANSWERED)),
        "forget_calls": Clear(_CALLS),
        "close": Emit("close", (_REASON,)),
        "observe": Emit("observe"),
        "remark_unanswered": Emit("remark", (Const("unanswered-call"),), each=_CALLS),
        "remark_truncated": Emit("remark", (Const("truncated"), _ROOT)),
        "reject_outside_run": Emit("reject", (Const("outside-run"),)),
        "reject_duplicate_call": Emit("reject", (Const("duplicate-call"),)),
        "reject_unknown_call": Emit("reject", (Const("unknown-call"),)),
        "reject_duplicate_result": Emit("reject", (Const("duplicate-result"),)),
        "reject_unknown_type": Emit("reject", (Const("unknown-type"),)),
        "reject_malformed": Emit("reject", (Const("malformed"),)),
    },
    opposites={
        "unseen": "seen",
        "answered": "open",
        "waiting": "nobody waits",
    },
    always={
        "an idle agent has no call": lambda state, data: state == "active" or not data["calls"],
        "an active agent has a root": lambda state, data: state == "idle" or data["root"] >= 0,
        "a waiting follow-up came after the root before it": lambda _, data: (
            list(data["queue"]) == sorted(data["queue"])
        ),
        "every call's entry is its position or answered": lambda _, data: all(
            at >= ANSWERED for at in data["calls"].values()
        ),
    },
    sometimes={
        "several follow-ups wait": lambda _, data: len(data["queue"]) > 1,
        "a held queue waits while idle": lambda state, data: state == "idle" and len(data["queue"]) > 0,
        "calls are open and answered side by side": lambda _, data: (
            {at == ANSWERED for at in data["calls"].values()} == {True, False}
        ),
    },
)

ROLES: Final = ProofRoles(
    machine=SPEC,
    bound=3,
    run=RunRoles(
        active=("active",),
        begins=("open_direct", "open_promoted"),
        ends=("close",),
        answers={"active": ("run-stop",)},
        ignores=("reject_outside_run", "reject_unknown_call", "reject_duplicate_result", "reject_duplicate_call"),
        logged=("append-text", "append-call", "append-result", "append-steer"),
        reasons={"close": [Ending(("run-stop",))]},
        late={"tool-result": ("unseen", "answered")},
    ),
    messages=MessageRoles(
        taken={"user-message": ("open_direct", "append_steer", "enqueue")},
        queues=("queue",),
        waiting="queue",
        promotes={"close": ("holds", "drops")},
        deliveries=(
            DeliveryRole("user-message", "append_steer", "steers"),
            DeliveryRole("user-message", "enqueue", "follows_up"),
        ),
    ),
    calls=CallRoles(registers=("calls",), makes=("append-call",), results=("append-result", "remark"), ids="calls"),
    alphabet=AlphabetRoles(values={"delivery": (None, *get_args(Delivery))}, payloads={"user-message": ("text",)}),
    tables=[
        dict(tables(Policies(**chosen)))
        for chosen in every_choice(
            while_active=get_args(Delivery),
            queue_after_interrupted=get_args(QueueFate),
            queue_after_error=get_args(QueueFate),
        )
    ],
)
