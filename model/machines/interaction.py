"""The environment of a runtime, as a machine: which stimuli are possible when. Generation takes its rules from it.

It is the queueing core of any chat agent, seen from outside (PROTOCOL, stimuli): a run infers and executes in turn
until the model ends it, it is aborted, or it fails. Guards and effects follow the declared policies (RC-D6, BED-002c,
TM-5). The machine says which situations are worth reaching; an implementation's behaviour is observed, never assumed,
and the laws say which answers are right.

It also runs (``reference:interaction``): its outputs say all that a shell has to do. A position names a message or a
call by its place among the environment's events.

What the model is asked with is a history of positions, in the registers of that kind; ``request`` puts it out. A
message, an item or a tool's end stands where it came; a call's position that stands a second time is the result that
the call never got. What a runtime may choose there is ``Kept``, ``Aborted`` and ``Unread``.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

from ..core.policies import QueueFate
from ..core.stimuli import (
    Abort,
    Advance,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    Stimulus,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from ..declaration.machine import Machine, NativeRow
from ..declaration.proof_roles import CallRoles, DeliveryRole, Ending, MessageRoles, ProofRoles, RunRoles, every_choice
from ..declaration.vocabulary import *

Busy: TypeAlias = Literal["steer", "followUp", "reject"]
"""Deliveries of a message that comes while the runtime works."""
SteerLands: TypeAlias = Literal["after-batch", "after-call"]
"""The moment at which the model sees a steer: after all calls of its response, or after the one that runs."""

Fate: TypeAlias = Literal[QueueFate, "join"]
"""The fates of a waiting queue where a run was cut: one run each at once, or after the user's next one; none; or it
joins the user's next message, whose first request shows both (``join``)."""
Kept: TypeAlias = Literal["keep", "texts", "drop"]
"""What the history keeps of a response that was cut: all, its texts without its calls, or nothing."""
Aborted: TypeAlias = Literal[Kept, "drop-with-calls"]
"""The same where an abort cut it; ``drop-with-calls``: nothing either of a response whose tools were cut."""
Unread: TypeAlias = Literal["keep", "drop", "later"]
"""Where the messages stand that a run took and never showed: at its end, nowhere, or behind the next root (RC-D8)."""

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
_ASK: Final = ["first_try", "ask"]
_OPEN: Final = ["accept", "open", "record_joined", "record", "record_late", *_ASK]
_NEXT: Final = ["promote", "open_next", "record_next", "record_late", *_ASK]
_START: Final = ["take_call", "start"]
_ANSWER: Final = ["answer", "record"]
_FAILED: Final = ["answer_failure", "record"]
_READ: Final = ["read_steers", "record_steers", "take_steers"]
_LEAVE: Final = ["read_steers", "record_unread", "put_off_unread", "take_steers"]
_SKIP: Final = ["skip_calls", "record_skipped", "forget_calls"]
_FAIL: Final = ["skip_calls", "settle_failed", "forget_calls"]
_BREAK: Final = [*_FAIL, *_LEAVE, "fail"]
"""Effects of a run that ends before its model does: no call stays unanswered, and no steer unread."""
_ABORT: Final = ["skip_calls", "settle_aborted", "forget_calls", *_LEAVE, "interrupt"]
_JOIN: Final = ["read_queue", "put_off_queue", "forget_queue"]
_CUT: Final = ["cut", "record_cut", "rest", *_SKIP, "retract", *_LEAVE, "interrupt"]

# fmt: off
TABLE: Final[list[NativeRow]] = [
    # event               source           dest         if                                    unless                              then
    ["user",              "idle",          "inferring", [],                                   [],                                 _OPEN],
    ["user",              _ACTIVE,         None,        ["busy_steers"],                      [],                                 ["accept", "keep_steer"]],
    ["user",              _ACTIVE,         None,        ["busy_queues"],                      [],                                 ["accept", "enqueue"]],
    ["user",              _ACTIVE,         None,        ["busy_rejects"],                     [],                                 ["refuse"]],
    ["steer",             "idle",          "inferring", [],                                   [],                                 _OPEN],
    ["steer",             _ACTIVE,         None,        [],                                   [],                                 ["accept", "keep_steer"]],
    ["follow-up",         "idle",          "inferring", [],                                   [],                                 _OPEN],
    ["follow-up",         _ACTIVE,         None,        [],                                   [],                                 ["accept", "enqueue"]],
    ["text",              "inferring",     None,        [],                                   [],                                 ["say", "hold"]],
    ["reasoning",         "inferring",     None,        [],                                   [],                                 ["say"]],
    ["tool-call",         "inferring",     None,        [],                                   [],                                 ["call", "note_call", "hold"]],
    ["model-stop",        "inferring",     "executing", ["called"],                           [],                                 ["settle", *_START]],
    ["model-stop",        "inferring",     "inferring", ["steered"],                          ["called"],                         ["settle", *_READ, *_ASK]],
    ["model-stop",        "inferring",     "inferring", ["waiting"],                          ["called", "steered"],              ["settle", "complete", *_NEXT]],
    ["model-stop",        "inferring",     "idle",      [],                                   ["called", "steered", "waiting"],   ["settle", "complete"]],
    ["retryable-failure", "inferring",     "inferring", ["retries_left"],                     [],                                 [*_FAIL, "try_again", "ask"]],
    ["retryable-failure", "inferring",     "inferring", ["error_promotes", "waiting"],        ["retries_left"],                   [*_BREAK, *_NEXT]],
    ["retryable-failure", "inferring",     "idle",      ["error_promotes"],                   ["retries_left", "waiting"],        _BREAK],
    ["retryable-failure", "inferring",     "idle",      ["error_drops"],                      ["retries_left"],                   [*_BREAK, "forget_queue"]],
    ["retryable-failure", "inferring",     "idle",      ["error_holds"],                      ["retries_left"],                   _BREAK],
    ["retryable-failure", "inferring",     "idle",      ["error_joins"],                      ["retries_left"],                   [*_BREAK, *_JOIN]],
    ["fatal-failure",     "inferring",     "inferring", ["error_promotes", "waiting"],        [],                                 [*_BREAK, *_NEXT]],
    ["fatal-failure",     "inferring",     "idle",      ["error_promotes"],                   ["waiting"],                        _BREAK],
    ["fatal-failure",     "inferring",     "idle",      ["error_drops"],                      [],                                 [*_BREAK, "forget_queue"]],
    ["fatal-failure",     "inferring",     "idle",      ["error_holds"],                      [],                                 _BREAK],
    ["fatal-failure",     "inferring",     "idle",      ["error_joins"],                      [],                                 [*_BREAK, *_JOIN]],
    ["tool-return",       "executing",     None,        ["called", "lands_after_batch"],      [],                                 [*_ANSWER, *_START]],
    ["tool-return",       "executing",     None,        ["called", "lands_after_call"],       ["steered"],                        [*_ANSWER, *_START]],
    ["tool-return",       "executing",     "inferring", ["called", "lands_after_call", "steered"], [],                            [*_ANSWER, "rest", *_SKIP, *_READ, *_ASK]],
    ["tool-return",       "executing",     "inferring", ["steered"],                          ["called"],                         [*_ANSWER, "rest", *_READ, *_ASK]],
    ["tool-return",       "executing",     "inferring", [],                                   ["called", "steered"],              [*_ANSWER, "rest", *_ASK]],
    ["tool-failure",      "executing",     None,        ["called", "lands_after_batch"],      [],                                 [*_FAILED, *_START]],
    ["tool-failure",      "executing",     None,        ["called", "lands_after_call"],       ["steered"],                        [*_FAILED, *_START]],
    ["tool-failure",      "executing",     "inferring", ["called", "lands_after_call", "steered"], [],                            [*_FAILED, "rest", *_SKIP, *_READ, *_ASK]],
    ["tool-failure",      "executing",     "inferring", ["steered"],                          ["called"],                         [*_FAILED, "rest", *_READ, *_ASK]],
    ["tool-failure",      "executing",     "inferring", [],                                   ["called", "steered"],              [*_FAILED, "rest", *_ASK]],
    ["abort",             "inferring",     "inferring", ["abort_promotes", "waiting"],        [],                                 [*_ABORT, *_NEXT]],
    ["abort",             "executing",     "inferring", ["abort_promotes", "waiting"],        [],                                 [*_CUT, *_NEXT]],
    ["abort",             "inferring",     "idle",      ["abort_promotes"],                   ["waiting"],                        _ABORT],
    ["abort",             "executing",     "idle",      ["abort_promotes"],                   ["waiting"],                        _CUT],
    ["abort",             "inferring",     "idle",      ["abort_drops"],                      [],                                 [*_ABORT, "forget_queue"]],
    ["abort",             "executing",     "idle",      ["abort_drops"],                      [],                                 [*_CUT, "forget_queue"]],
    ["abort",             "inferring",     "idle",      ["abort_holds"],                      [],                                 _ABORT],
    ["abort",             "executing",     "idle",      ["abort_holds"],                      [],                                 _CUT],
    ["abort",             "inferring",     "idle",      ["abort_joins"],                      [],                                 [*_ABORT, *_JOIN]],
    ["abort",             "executing",     "idle",      ["abort_joins"],                      [],                                 [*_CUT, *_JOIN]],
    ["abort",             "idle",          None,        [],                                   [],                                 ["ignore"]],
    ["advance",           "*",             None,        [],                                   [],                                 ["ignore"]],
]
# fmt: on

_QUEUE, _STEERS, _CALLS = Register("queue"), Register("steers"), Register("calls")
_RUNNING, _ATTEMPTS, _TAKEN = Register("running"), Register("attempts"), Register("taken")
_HISTORY, _SAID, _LATE = Register("history"), Register("said"), Register("late")
_JOINED, _ITEMS = Register("joined"), Register("items")
_BUSY, _LANDS = Table("busy", Busy), Table("steer_lands", SteerLands)
_UNREAD, _ABORTED = Table("unread", Unread), Table("aborted_response", Aborted)
_AFTER_ERROR, _AFTER_ABORT = Table("queue_after_error", Fate), Table("queue_after_interrupted", Fate)

SPEC: Final = Machine(
    name="interaction",
    title="Interaction",
    states=STATES,
    initial="idle",
    final=("idle",),
    events=EVENTS,
    table=TABLE,
    registers={
        "queue": "queue",  # follow-ups that wait
        "steers": "queue",  # steers that the model has not seen
        "calls": "queue",  # calls that are not started
        "running": "number",  # the call that runs, -1 for none
        "attempts": "number",  # retries of the request
        "taken": "number",  # the follow-up that was promoted last
        "history": "history",  # what a request shows
        "said": "history",  # the items of the response under way
        "late": "history",  # messages that stand behind the next root
        "joined": "history",  # messages that stand before the next root
        "items": "history",  # the items of the last whole response
    },
    guards={
        "busy_steers": Equal(_BUSY, Const("steer")),
        "busy_queues": Equal(_BUSY, Const("followUp")),
        "busy_rejects": Equal(_BUSY, Const("reject")),
        "waiting": Nonempty(_QUEUE),
        "steered": Nonempty(_STEERS),
        "called": Nonempty(_CALLS),
        "lands_after_batch": Equal(_LANDS, Const("after-batch")),
        "lands_after_call": Equal(_LANDS, Const("after-call")),
        "retries_left": Less(_ATTEMPTS, Table("retries")),
        "error_promotes": Equal(_AFTER_ERROR, Const("promote")),
        "error_holds": Equal(_AFTER_ERROR, Const("hold")),
        "error_drops": Equal(_AFTER_ERROR, Const("drop")),
        "error_joins": Equal(_AFTER_ERROR, Const("join")),
        "abort_promotes": Equal(_AFTER_ABORT, Const("promote")),
        "abort_holds": Equal(_AFTER_ABORT, Const("hold")),
        "abort_drops": Equal(_AFTER_ABORT, Const("drop")),
        "abort_joins": Equal(_AFTER_ABORT, Const("join")),
    },
    # What a shell does for each output, at the positions that the output names:
    #
    # * ``message``: log the user's message, ``open``: show it to the model, as the root of a run that begins;
    # * ``read``: these messages wait no more; ``request``: ask the model, and show it what stands at these positions;
    # * ``output``, ``call``: log what the model said; ``start``: run the call;
    # * ``result``, ``failure``: a call (the first position) ended as the second says; ``cut``, ``skip``: these calls
    #   have no result, and get a synthetic one;
    # * ``stop``: log that the run is over, and await nothing any more;
    # * ``refuse``: the message is rejected; ``not-awaited``: nobody waits for the event; ``ignore``: it changes nothing.
    effects={
        "accept": Emit("message", (Here(),)),
        "refuse": Emit("refuse"),
        "open": Emit("open", (Here(),)),
        "promote": Pop(_QUEUE, into=_TAKEN),
        "open_next": Emit("open", (_TAKEN,)),
        "enqueue": Push(_QUEUE, Here()),
        "read_queue": Emit("read", (_QUEUE,)),
        "forget_queue": Clear(_QUEUE),
        "keep_steer": Push(_STEERS, Here()),
        "read_steers": Emit("read", (_STEERS,)),
        "take_steers": Clear(_STEERS),
        "first_try": Set(_ATTEMPTS, Const(0)),
        "try_again": Increment(_ATTEMPTS),
        "ask": Emit("request", (_HISTORY,)),
        "say": Emit("output", (Here(),)),
        "call": Emit("call", (Here(),)),
        "note_call": Push(_CALLS, Here()),
        "take_call": Pop(_CALLS, into=_RUNNING),
        "start": Emit("start", (_RUNNING,)),
        "answer": Emit("result", (_RUNNING, Here())),
        "answer_failure": Emit("failure", (_RUNNING, Here())),
        "cut": Emit("cut", (_RUNNING,)),
        "rest": Set(_RUNNING, Const(-1)),
        "skip_calls": Emit("skip", (_CALLS,)),
        "forget_calls": Clear(_CALLS),
        "complete": Emit("stop", (Const("completed"),)),
        "fail": Emit("stop", (Const("error"),)),
        "interrupt": Emit("stop", (Const("interrupted"),)),
        "record": Record(_HISTORY, Here()),
        "record_next": Record(_HISTORY, _TAKEN),
        "record_steers": Record(_HISTORY, _STEERS),
        "record_unread": Record(_HISTORY, _STEERS, when=Equal(_UNREAD, Const("keep"))),
        "put_off_unread": Record(_LATE, _STEERS, when=Equal(_UNREAD, Const("later"))),
        "put_off_queue": Record(_JOINED, _QUEUE),
        "record_joined": Record(_HISTORY, _JOINED, empties=True),
        "record_late": Record(_HISTORY, _LATE, empties=True),
        "record_cut": Record(_HISTORY, _RUNNING),
        "record_skipped": Record(_HISTORY, _CALLS),
        "hold": Record(_SAID, Here()),
        "settle": Settle(_HISTORY, _SAID, _CALLS, Const("whole"), _ITEMS),
        "settle_aborted": Settle(_HISTORY, _SAID, _CALLS, _ABORTED),
        "settle_failed": Settle(_HISTORY, _SAID, _CALLS, Table("failed_response", Kept)),
        "retract": Retract(_HISTORY, _ITEMS, Equal(_ABORTED, Const("drop-with-calls"))),
        "ignore": Emit("ignore"),
        "not_awaited": Emit("not-awaited"),
    },
    opposites={
        "waiting": "nobody waits",
        "steered": "no steer",
        "called": "no call left",
        "retries_left": "retries used up",
    },
    always={
        "an idle agent has no call and no steer": lambda state, data: (
            state != "idle" or not (data["calls"] or data["steers"])
        ),
        "a call runs while the agent executes": lambda state, data: (state == "executing") == (data["running"] >= 0),
        "messages wait in the order in which they came": lambda _, data: list(data["queue"]) == sorted(data["queue"]),
    },
    sometimes={
        "a steer and a follow-up wait side by side": lambda _, data: bool(data["steers"] and data["queue"]),
        "calls wait while one runs": lambda state, data: state == "executing" and bool(data["calls"]),
        "a held queue waits while idle": lambda state, data: state == "idle" and bool(data["queue"]),
    },
    ignored=("not_awaited",),
)

POLICIES: Final[Mapping[str, tuple[str, Any]]] = {
    "busy": ("busy", "reject"),
    "steer_lands": ("steerLands", "after-batch"),
    "retries": ("retries", 0),
    "queue_after_error": ("queueAfterError", "promote"),
    "queue_after_interrupted": ("queueAfterInterrupted", "promote"),
    "aborted_response": ("abortedResponse", "keep"),
    "failed_response": ("failedResponse", "keep"),
    "unread": ("unread", "keep"),
}
"""Table → its name in a profile, and its default."""


def tables(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables for a runtime's declared policies."""
    given = {name: value for name, value in policies.items() if value is not None}
    return {table: given.get(name, default) for table, (name, default) in POLICIES.items()}


ROLES: Final = ProofRoles(
    machine=SPEC,
    run=RunRoles(
        active=("inferring", "executing"),
        begins=("open", "open_next"),
        ends=("complete", "fail", "interrupt"),
        answers={
            "inferring": ("model-stop", "retryable-failure", "fatal-failure"),
            "executing": ("tool-return", "tool-failure"),
        },
        ignores=("ignore", "not_awaited"),
        reasons={
            "complete": [Ending(("model-stop",), (), ("called", "steered"))],
            "fail": [Ending(("fatal-failure",)), Ending(("retryable-failure",), (), ("retries_left",))],
            "interrupt": [Ending(("abort",))],
        },
        logged=("output", "call", "result", "failure", "cut", "skip"),
        asks={"inferring": ("request",), "executing": ("start",)},
        numbers=("running",),
    ),
    messages=MessageRoles(
        taken={
            "user": ("open", "keep_steer", "enqueue", "refuse"),
            "steer": ("open", "keep_steer"),
            "follow-up": ("open", "enqueue"),
        },
        queues=("queue", "steers", "calls"),
        drops=dict.fromkeys(("abort", "fatal-failure", "retryable-failure"), ("forget_queue",)),
        waiting="queue",
        promotes={
            "complete": (),
            "fail": ("error_holds", "error_drops", "error_joins"),
            "interrupt": ("abort_holds", "abort_drops", "abort_joins"),
        },
        deliveries=(
            DeliveryRole("user", "keep_steer", "busy_steers"),
            DeliveryRole("user", "enqueue", "busy_queues"),
            DeliveryRole("steer", "keep_steer"),
            DeliveryRole("follow-up", "enqueue"),
        ),
    ),
    calls=CallRoles(
        registers=("calls", "running"),
        makes=("call",),
        results=("result", "failure", "cut", "skip"),
        empty={"inferring": ("running",)},
    ),
    tables=every_choice(
        busy=get_args(Busy),
        steer_lands=get_args(SteerLands),
        retries=(2,),
        queue_after_error=get_args(Fate),
        queue_after_interrupted=get_args(Fate),
        aborted_response=("keep",),  # what a history holds decides nothing
        failed_response=("keep",),
        unread=("keep",),
    ),
)


def event_of(stimulus: Stimulus) -> str | None:
    """Return a stimulus' event, None where the machine has none for it."""
    match stimulus:
        case User(content=None, delivery=delivery):
            return {None: "user", "steer": "steer", "followUp": "follow-up"}[delivery]
        case ModelOutput(item=Text()):
            return "text"
        case ModelOutput(item=Reasoning()):
            return "reasoning"
        case ModelOutput(item=ToolCall()):
            return "tool-call"
        case ModelStop():
            return "model-stop"
        case ModelFail(failure=failure):
            return "retryable-failure" if failure == "retryable" else "fatal-failure"
        case ToolReturn():
            return "tool-return"
        case ToolFail():
            return "tool-failure"
        case Abort():
            return "abort"
        case Advance():
            return "advance"
        case _:
            return None
