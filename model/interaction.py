"""What an environment can do to a runtime, and when: the machine that generation takes its rules from.

It is the queueing core of any chat agent, seen from outside (PROTOCOL, stimuli): a run infers and executes in turn until
the model ends it, is aborted, or fails. Its guards and effects are the declared policies' (RC-D6, BED-002c, TM-5); what an
implementation really does is observed, never assumed: this machine says which situations are worth reaching, not which
answers are right. That is for the laws.
"""

from collections.abc import Mapping
from typing import Any, Final

from .machine import Invariant, Machine, NativeRow
from .vocabulary import (
    Clear,
    Const,
    Effect,
    Emit,
    Equal,
    Guard,
    Here,
    Increment,
    Less,
    Nonempty,
    Pop,
    Push,
    Register,
    Set,
    Table,
)

STATES: Final = ("idle", "inferring", "executing")

EVENTS: Final = {
    "user": ("RC-3.1", "RC-3.2", "BED-002a", "BED-002c"),
    "steer": ("RC-3.1", "RC-4.2", "TM-5.2"),
    "follow-up": ("RC-3.1", "RC-4.1", "TM-5.1"),
    "text": ("RC-7.3",),
    "reasoning": ("RC-7.3",),
    "tool-call": ("BED-003c", "BED-003d"),
    "model-stop": ("BED-003a", "BED-003c", "RC-7.5"),
    "fatal-failure": ("BED-006f", "RC-D6"),
    "retryable-failure": ("BED-006a", "BED-006d", "RC-D6"),
    "tool-return": ("BED-004b", "BED-004c"),
    "tool-failure": ("BED-004e", "BED-004f"),
    "abort": ("BED-005a", "BED-005b", "BED-005d", "BED-D3", "RC-D6"),
    "advance": ("BED-006a",),
}

_ACTIVE: Final = ["inferring", "executing"]
_NOT_INFERRING: Final = ["idle", "executing"]
_NOT_EXECUTING: Final = ["idle", "inferring"]

# fmt: off
TABLE: Final[list[NativeRow]] = [
    # event               source           dest         if                              unless                              then
    ["user",              "idle",          "inferring", [],                             [],                                 ["first_try", "ask"]],
    ["user",              _ACTIVE,         None,        ["busy_steers"],                [],                                 ["keep_steer"]],
    ["user",              _ACTIVE,         None,        ["busy_queues"],                [],                                 ["enqueue"]],
    ["user",              _ACTIVE,         None,        [],                             ["busy_steers", "busy_queues"],     ["refuse"]],
    ["steer",             "idle",          "inferring", [],                             [],                                 ["first_try", "ask"]],
    ["steer",             _ACTIVE,         None,        [],                             [],                                 ["keep_steer"]],
    ["follow-up",         "idle",          "inferring", [],                             [],                                 ["first_try", "ask"]],
    ["follow-up",         _ACTIVE,         None,        [],                             [],                                 ["enqueue"]],
    ["text",              "inferring",     None,        [],                             [],                                 ["say"]],
    ["text",              _NOT_INFERRING,  None,        [],                             [],                                 ["ignore"]],
    ["reasoning",         "inferring",     None,        [],                             [],                                 ["say"]],
    ["reasoning",         _NOT_INFERRING,  None,        [],                             [],                                 ["ignore"]],
    ["tool-call",         "inferring",     None,        [],                             [],                                 ["note_call"]],
    ["tool-call",         _NOT_INFERRING,  None,        [],                             [],                                 ["ignore"]],
    ["model-stop",        "inferring",     "executing", ["called"],                     [],                                 ["start"]],
    ["model-stop",        "inferring",     "inferring", ["steered"],                    ["called"],                         ["take_steers", "first_try", "ask"]],
    ["model-stop",        "inferring",     "inferring", ["waiting"],                    ["called", "steered"],              ["complete", "promote", "first_try", "ask"]],
    ["model-stop",        "inferring",     "idle",      [],                             ["called", "steered", "waiting"],   ["complete"]],
    ["model-stop",        _NOT_INFERRING,  None,        [],                             [],                                 ["ignore"]],
    ["retryable-failure", "inferring",     "inferring", ["retries_left"],               [],                                 ["forget_calls", "try_again", "ask"]],
    ["retryable-failure", "inferring",     "inferring", ["error_promotes", "waiting"],  ["retries_left"],                   ["forget_calls", "forget_steers", "fail", "promote", "first_try", "ask"]],
    ["retryable-failure", "inferring",     "idle",      ["error_promotes"],             ["retries_left", "waiting"],        ["forget_calls", "forget_steers", "fail"]],
    ["retryable-failure", "inferring",     "idle",      ["error_drops"],                ["retries_left"],                   ["forget_calls", "forget_steers", "fail", "forget_queue"]],
    ["retryable-failure", "inferring",     "idle",      [],                             ["retries_left", "error_promotes", "error_drops"], ["forget_calls", "forget_steers", "fail"]],
    ["retryable-failure", _NOT_INFERRING,  None,        [],                             [],                                 ["ignore"]],
    ["fatal-failure",     "inferring",     "inferring", ["error_promotes", "waiting"],  [],                                 ["forget_calls", "forget_steers", "fail", "promote", "first_try", "ask"]],
    ["fatal-failure",     "inferring",     "idle",      ["error_promotes"],             ["waiting"],                        ["forget_calls", "forget_steers", "fail"]],
    ["fatal-failure",     "inferring",     "idle",      ["error_drops"],                [],                                 ["forget_calls", "forget_steers", "fail", "forget_queue"]],
    ["fatal-failure",     "inferring",     "idle",      [],                             ["error_promotes", "error_drops"],  ["forget_calls", "forget_steers", "fail"]],
    ["fatal-failure",     _NOT_INFERRING,  None,        [],                             [],                                 ["ignore"]],
    ["tool-return",       "executing",     None,        ["called"],                     [],                                 ["answer", "start"]],
    ["tool-return",       "executing",     "inferring", ["steered"],                    ["called"],                         ["answer", "take_steers", "first_try", "ask"]],
    ["tool-return",       "executing",     "inferring", [],                             ["called", "steered"],              ["answer", "first_try", "ask"]],
    ["tool-return",       _NOT_EXECUTING,  None,        [],                             [],                                 ["ignore"]],
    ["tool-failure",      "executing",     None,        ["called"],                     [],                                 ["answer", "start"]],
    ["tool-failure",      "executing",     "inferring", ["steered"],                    ["called"],                         ["answer", "take_steers", "first_try", "ask"]],
    ["tool-failure",      "executing",     "inferring", [],                             ["called", "steered"],              ["answer", "first_try", "ask"]],
    ["tool-failure",      _NOT_EXECUTING,  None,        [],                             [],                                 ["ignore"]],
    ["abort",             _ACTIVE,         "inferring", ["abort_promotes", "waiting"],  [],                                 ["forget_calls", "forget_steers", "interrupt", "promote", "first_try", "ask"]],
    ["abort",             _ACTIVE,         "idle",      ["abort_promotes"],             ["waiting"],                        ["forget_calls", "forget_steers", "interrupt"]],
    ["abort",             _ACTIVE,         "idle",      ["abort_drops"],                [],                                 ["forget_calls", "forget_steers", "interrupt", "forget_queue"]],
    ["abort",             _ACTIVE,         "idle",      [],                             ["abort_promotes", "abort_drops"],  ["forget_calls", "forget_steers", "interrupt"]],
    ["abort",             "idle",          None,        [],                             [],                                 ["ignore"]],
    ["advance",           "*",             None,        [],                             [],                                 ["ignore"]],
]
# fmt: on

REGISTERS: Final = {"queue": "queue", "steers": "queue", "calls": "queue", "attempts": "number", "taken": "number"}

_QUEUE, _STEERS, _CALLS = Register("queue"), Register("steers"), Register("calls")
_ATTEMPTS, _TAKEN = Register("attempts"), Register("taken")
_BUSY, _AFTER_ERROR, _AFTER_ABORT = Table("busy"), Table("queue_after_error"), Table("queue_after_interrupted")

GUARDS: Final[Mapping[str, Guard]] = {
    "busy_steers": Equal(_BUSY, Const("steer")),
    "busy_queues": Equal(_BUSY, Const("followUp")),
    "waiting": Nonempty(_QUEUE),
    "steered": Nonempty(_STEERS),
    "called": Nonempty(_CALLS),
    "retries_left": Less(_ATTEMPTS, Table("retries")),
    "error_promotes": Equal(_AFTER_ERROR, Const("promote")),
    "error_drops": Equal(_AFTER_ERROR, Const("drop")),
    "abort_promotes": Equal(_AFTER_ABORT, Const("promote")),
    "abort_drops": Equal(_AFTER_ABORT, Const("drop")),
}

EFFECTS: Final[Mapping[str, Effect]] = {
    "ask": Emit("request"),
    "say": Emit("output"),
    "note_call": Push(_CALLS, Here()),
    "start": Pop(_CALLS, into=_TAKEN),
    "answer": Emit("result", (_TAKEN,)),
    "keep_steer": Push(_STEERS, Here()),
    "take_steers": Clear(_STEERS),
    "enqueue": Push(_QUEUE, Here()),
    "promote": Pop(_QUEUE, into=_TAKEN),
    "complete": Emit("stop", (Const("completed"),)),
    "first_try": Set(_ATTEMPTS, Const(0)),
    "fail": Emit("stop", (Const("error"),)),
    "interrupt": Emit("stop", (Const("interrupted"),)),
    "try_again": Increment(_ATTEMPTS),
    "forget_calls": Clear(_CALLS),
    "forget_steers": Clear(_STEERS),
    "forget_queue": Clear(_QUEUE),
    "refuse": Emit("refuse"),
    "ignore": Emit("ignore"),
}

ALWAYS: Final[Mapping[str, Invariant]] = {
    "an idle agent has no call and no steer": lambda state, data: (
        state != "idle" or not (data["calls"] or data["steers"])
    ),
    "messages wait in the order in which they came": lambda _, data: list(data["queue"]) == sorted(data["queue"]),
}

SOMETIMES: Final[Mapping[str, Invariant]] = {
    "a steer and a follow-up wait side by side": lambda _, data: bool(data["steers"] and data["queue"]),
    "calls wait while one runs": lambda state, data: state == "executing" and bool(data["calls"]),
    "a held queue waits while idle": lambda state, data: state == "idle" and bool(data["queue"]),
}

DEFAULTS: Final[Mapping[str, Any]] = {
    "busy": "reject",
    "retries": 0,
    "queue_after_error": "promote",
    "queue_after_interrupted": "promote",
}
"""The tables of a runtime that declares no policies."""

SPEC: Final = Machine(
    name="interaction",
    title="Interaction",
    states=STATES,
    initial="idle",
    final=("idle",),
    events=EVENTS,
    table=TABLE,
    guards=GUARDS,
    effects=EFFECTS,
    registers=REGISTERS,
    boundary=None,
    always=ALWAYS,
    sometimes=SOMETIMES,
)
