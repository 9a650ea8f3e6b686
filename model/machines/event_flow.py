"""The event flow's backend: a bounded loop of model calls that reports its progress to a UI (seed 002, EF-1 to EF-4).

A Mealy machine whose inputs come from the user, the model's stream and the tools. Calls are collected while the
response streams and executed after it, one by one. Its outputs are read twice: ``refine`` makes the core's log of them
(EF-D3), and the backend makes its wire's frames, from which ``collation`` builds the UI's blocks.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from ..declaration.machine import Machine, NativeRow
from ..declaration.proof_roles import AlphabetRoles, CallRoles, Count, Ending, MessageRoles, ProofRoles, RunRoles
from ..declaration.vocabulary import *
from .chat_log import refine

Completes: TypeAlias = Literal["always", "with calls"]
"""The responses that ``message_complete`` ends: all, or those with calls (EF-3)."""

STATES: Final = ("idle", "streaming", "executing")

EVENTS: Final = {
    "chat": ("EF-1", "EF-2"),
    "delta": ("EF-3",),
    "tool-call": ("EF-3", "EF-7"),
    "broken-call": ("EF-3",),
    "response-end": ("EF-3", "EF-4", "EF-D3"),
    "tool-result": ("EF-1", "EF-4", "EF-D3"),
    "tool-failure": ("EF-1", "EF-4", "EF-D3"),
    "provider-failure": ("EF-D3",),
    "abort": ("EF-D3", "X-6"),
}

_RUNNING: Final = ["streaming", "executing"]

_SAY: Final = ["say", "forget_item"]
_START: Final = ["take", "start"]
_ASK: Final = ["number_request", "request"]
_CUT: Final = [*_SAY, "skip_calls", "forget_calls", "forget_waiting"]

# fmt: off
TABLE: Final[list[NativeRow]] = [
    # event              source           dest         if                            unless                            then
    ["chat",             "idle",          "streaming", [],                           [],                               ["accept", "first_iteration", "announce", *_ASK]],
    ["chat",             _RUNNING,        None,        [],                           [],                               ["refuse"]],
    ["delta",            "streaming",     None,        ["another_item"],             [],                               [*_SAY, "send_delta", "note_item"]],
    ["delta",            "streaming",     None,        [],                           ["another_item"],                 ["send_delta", "note_item"]],
    ["tool-call",        "streaming",     None,        ["unseen"],                   [],                               [*_SAY, "open_call", "enqueue", "call"]],
    ["tool-call",        "streaming",     None,        [],                           ["unseen"],                       ["drop_call"]],
    ["broken-call",      "streaming",     None,        ["unseen"],                   [],                               ["answer_call", "drop_call"]],
    ["broken-call",      "streaming",     None,        [],                           ["unseen"],                       ["drop_call"]],
    ["response-end",     "streaming",     "executing", ["waiting"],                  [],                               [*_SAY, "respond", "tell_finish", "complete", *_START]],
    ["response-end",     "streaming",     "idle",      ["always_completes"],         ["waiting"],                      [*_SAY, "respond", "complete", "forget_calls", "end_completed"]],
    ["response-end",     "streaming",     "idle",      ["completes_calls"],          ["waiting"],                      [*_SAY, "respond", "forget_calls", "end_completed"]],
    ["tool-result",      "executing",     None,        ["unseen"],                   [],                               ["ignore"]],
    ["tool-result",      "executing",     None,        ["answered"],                 [],                               ["ignore"]],
    ["tool-result",      "executing",     None,        ["waiting"],                  ["unseen", "answered"],           ["answer_call", "result", *_START]],
    ["tool-result",      "executing",     "streaming", ["iterations_left"],          ["unseen", "answered", "waiting"], ["answer_call", "result", "next_iteration", *_ASK]],
    ["tool-result",      "executing",     "idle",      [],                           ["unseen", "answered", "waiting", "iterations_left"], ["answer_call", "result", "forget_calls", "end_bound"]],
    ["tool-failure",     "executing",     None,        ["unseen"],                   [],                               ["ignore"]],
    ["tool-failure",     "executing",     None,        ["answered"],                 [],                               ["ignore"]],
    ["tool-failure",     "executing",     None,        ["waiting"],                  ["unseen", "answered"],           ["answer_call", "failure", *_START]],
    ["tool-failure",     "executing",     "streaming", ["iterations_left"],          ["unseen", "answered", "waiting"], ["answer_call", "failure", "next_iteration", *_ASK]],
    ["tool-failure",     "executing",     "idle",      [],                           ["unseen", "answered", "waiting", "iterations_left"], ["answer_call", "failure", "forget_calls", "end_bound"]],
    ["provider-failure", "streaming",     "idle",      [],                           [],                               [*_CUT, "end_failed"]],
    ["abort",            _RUNNING,        "idle",      [],                           [],                               [*_CUT, "end_interrupted"]],
]
# fmt: on

_ITEM, _CALLS, _WAITING, _RUNS = Register("item"), Register("calls"), Register("waiting"), Register("running")
_ITERATION, _ASKED = Register("iteration"), Register("asked")
_CALL = Lookup(_CALLS, Field("call_id"))
_FINISH: Final = (Field("finish_reason"), Field("usage"))
_NONE: Final = (Const(None), Const(None))
_COMPLETES = Table("message_complete", Completes)


def _open(calls: Mapping[str, Any]) -> int:
    return sum(entry != ANSWERED for entry in calls.values())


SPEC: Final = Machine(
    name="event_flow",
    title="Event flow",
    states=STATES,
    initial="idle",
    final=("idle",),
    events=EVENTS,
    table=TABLE,
    # ``item``: deltas since the last item; ``calls``: the run's calls by id, with their id or ANSWERED; ``waiting``:
    # calls of the response that are not started; ``running``: the last one started; ``asked``: requests of all runs.
    registers={
        "item": "queue",
        "calls": "map",
        "waiting": "queue",
        "running": "number",
        "iteration": "number",
        "asked": "number",
    },
    guards={
        "another_item": Equal(Field("begins"), Const(1)),
        "unseen": Equal(_CALL, Const(None)),
        "answered": Equal(_CALL, Const(ANSWERED)),
        "waiting": Nonempty(_WAITING),
        "iterations_left": Less(_ITERATION, Table("max_tool_iterations")),
        "always_completes": Equal(_COMPLETES, Const("always")),
        "completes_calls": Equal(_COMPLETES, Const("with calls")),
    },
    effects={
        "accept": Emit("accept", (Field("id"), Field("text"))),
        "refuse": Emit("refuse"),
        "ignore": Emit("ignore"),
        "first_iteration": Set(_ITERATION, Const(1)),
        "next_iteration": Increment(_ITERATION),
        "announce": Emit("llm-request", (_ITERATION,)),
        "number_request": Increment(_ASKED),
        "request": Emit("request", (_ASKED,)),
        "send_delta": Emit("delta", (Field("text"),)),
        "note_item": Push(_ITEM, Field("text")),
        "say": Emit("say", (_ITEM, _ASKED)),
        "forget_item": Clear(_ITEM),
        "open_call": Set(_CALL, Field("call_id")),
        "answer_call": Set(_CALL, Const(ANSWERED)),
        "forget_calls": Clear(_CALLS),
        "enqueue": Push(_WAITING, Field("call_id")),
        "take": Pop(_WAITING, into=_RUNS),
        "forget_waiting": Clear(_WAITING),
        "call": Emit("call", (Field("call_id"), Field("tool"), Field("arguments"), _ASKED)),
        "drop_call": Emit("drop", (Field("call_id"),)),
        "respond": Emit("llm-response", (_ITERATION, *_FINISH)),
        "tell_finish": Emit("finish", (_ASKED, *_FINISH)),
        "complete": Emit("message-complete", (_ITERATION,)),
        "start": Emit("tool-call-start", (_RUNS,)),
        "result": Emit("tool-call-result", (Field("call_id"), Field("output"), Const("done"))),
        "failure": Emit("tool-call-result", (Field("call_id"), Field("message"), Const("error"))),
        "skip_calls": Emit("tool-call-skipped", each=_CALLS),
        "end_completed": Emit("end", (Const("completed"), Const(None), *_FINISH)),
        "end_bound": Emit("end", (Const("error"), Const("max_tool_iterations"), *_NONE)),
        "end_failed": Emit("end", (Const("error"), Field("message"), *_NONE)),
        "end_interrupted": Emit("end", (Const("interrupted"), Const(None), *_NONE)),
    },
    opposites={
        "another_item": "same item",
        "unseen": "seen",
        "answered": "open",
        "waiting": "no call waits",
        "iterations_left": "iterations used up",
    },
    always={
        "an idle backend remembers nothing of its run": lambda state, data: (
            state != "idle" or not (data["calls"] or data["waiting"] or data["item"])
        ),
        "while tools run a call is open, and more are than wait": lambda state, data: (
            state != "executing" or _open(data["calls"]) >= 1
        ),
        "while the model streams, what is open waits": lambda state, data: (
            state != "streaming" or _open(data["calls"]) == len(data["waiting"])
        ),
        "no tool runs amid an item": lambda state, data: state != "executing" or not data["item"],
    },
    sometimes={
        "calls wait while one runs": lambda state, data: state == "executing" and bool(data["waiting"]),
        "a second iteration streams": lambda state, data: state == "streaming" and data["iteration"] == 2,
        "an item follows a call": lambda _, data: bool(data["item"] and data["waiting"]),
    },
    ignored=("ignore",),
)


def tables(*, max_tool_iterations: int, always_completes: bool) -> dict[str, object]:
    """Return the tables. The bound is 1 or more; ``message_complete`` comes always, or only after calls (EF-3)."""
    return {
        "max_tool_iterations": max_tool_iterations,
        "message_complete": "always" if always_completes else "with calls",
    }


ROLES: Final = ProofRoles(
    machine=SPEC,
    bound=3,
    run=RunRoles(
        active=("streaming", "executing"),
        begins=("accept",),
        ends=("end_completed", "end_bound", "end_failed", "end_interrupted"),
        answers={"streaming": ("response-end", "provider-failure"), "executing": ("tool-result", "tool-failure")},
        awaited=dict.fromkeys(("tool-result", "tool-failure"), ([], ["unseen", "answered"])),
        rounds=("request",),
        continues=("tool-call",),
        logged=("say", "call", "tool-call-result", "tool-call-skipped"),
        reasons={
            "end_completed": [Ending(("response-end",), (), ("waiting",))],
            "end_bound": [Ending(("tool-result", "tool-failure"), (), ("waiting", "iterations_left"))],
            "end_failed": [Ending(("provider-failure",))],
            "end_interrupted": [Ending(("abort",))],
        },
        late=dict.fromkeys(("tool-result", "tool-failure"), ("unseen", "answered")),
        asks={"streaming": ("request",), "executing": ("tool-call-start",)},
        numbers=("asked", "running"),
    ),
    messages=MessageRoles(
        taken={"chat": ("accept", "refuse")},
        queues=("item", "waiting"),
        drops=dict.fromkeys(("provider-failure", "abort"), ("forget_waiting",)),
    ),
    calls=CallRoles(
        registers=("calls",),
        makes=("call",),
        ids="calls",
        results=("tool-call-result", "tool-call-skipped"),
        counts={
            **dict.fromkeys(("idle", "streaming"), Count("calls", "waiting")),
            "executing": Count("calls", "waiting", 1),
        },
    ),
    alphabet=AlphabetRoles(values={"begins": (0, 1)}),
    tables=[tables(max_tool_iterations=2, always_completes=always) for always in (True, False)],
    unbounded_counters=("asked",),
    refine=lambda outputs, _: refine(outputs),
)
