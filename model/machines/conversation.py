"""The conversation machine: one agent, busy or not, that is cancelled, retried and restarted (clauses BED-001 to 013).

Source: the requirements of a core conversation machine. Theory: a functional core in an imperative shell. The core is
a Mealy machine of four control states. It takes letters of ``EVENTS``, each with an ``Input``, and returns outputs,
which a shell performs in their order. State never comes from content: registers hold positions of inputs, and only
the refinement reads payloads (X-8).

* **Each thing to wait for has a number** (a request, a retry's timer, a slot of calls), and only the newest is awaited:
  an answer to an older one is *stale* (BED-D2), as is one that comes after its cancel.
* **The response under way is data** (``said``): a cancel or a failure forgets it; nothing partial is kept (BED-005c).
* **Calls run in slots**, one after the other: a tool is a slot, and consecutive spawn calls are one, parallel inside
  (BED-D8). ``joins`` counts, for each slot of ``calls``, the sub-agents that join its first one (-1: it is a tool). A
  slot's entry is written when the next slot begins: the first entry belongs to the slot before the first.
* **Retries are data** too: the state stays while a retry waits (BED-006b).
* ``save`` comes first among the outputs of every row that changes more than the response under way: the new state is
  durable, and sent to all clients, before anything else is done (BED-007a, BED-011a).

The environment answers only open requests: the shell refuses numbers and calls that were never handed out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Literal, TypeAlias, get_args

from ..core.provider_limits import Backoff
from ..declaration.machine import Machine, NativeRow
from ..declaration.proof_roles import (
    AlphabetRoles,
    CallRoles,
    Count,
    Ending,
    Group,
    MessageRoles,
    ProofRoles,
    RunRoles,
    every_choice,
)
from ..declaration.vocabulary import *
from .chat_log import response_id

Kind: TypeAlias = Literal["user", "sub-agent"]
"""The agent's principal: a user, or the agent that spawned it (BED-009d)."""

STATES: Final = ("idle", "awaiting", "executing", "error")

EVENTS: Final = {
    "user": ("BED-002a", "BED-002b", "BED-002c", "BED-002d", "BED-006h", "BED-006i", "BED-013b"),
    "text": ("BED-003b", "BED-005c"),
    "tool-call": ("BED-003c", "BED-003d"),
    "spawn-call": ("BED-008a", "BED-008b", "BED-009b", "BED-D8"),
    "usage": ("BED-012a", "BED-012b", "BED-D6"),
    "model-stop": ("BED-003a", "BED-003b", "BED-003c", "BED-003e", "BED-D5"),
    "retryable-failure": ("BED-006a", "BED-006b", "BED-006c", "BED-006d", "BED-006e", "BED-D1"),
    "fatal-failure": ("BED-006f", "BED-006g"),
    "retry-due": ("BED-006a", "BED-D1"),
    "tool-result": ("BED-004a", "BED-004b", "BED-004c", "BED-004d", "BED-004e", "BED-008d", "BED-008e", "BED-008g"),
    "cancel": ("BED-005a", "BED-005b", "BED-005d", "BED-005f", "BED-005g", "BED-005h", "BED-005k", "BED-D3", "BED-D9"),
    "join": ("BED-011c",),
    "restart": ("BED-007b", "BED-007c", "BED-D10"),
}

_SERVING: Final = ["idle", "error"]
_BUSY: Final = ["awaiting", "executing"]
_FORGET: Final = ["forget_said", "forget_calls", "forget_joins", "alone"]
_START: Final = ["renew", "take_joins", "take_call", "none_ended", "run"]
_ASK: Final = ["renew", "first_attempt", "ask"]

# fmt: off
TABLE: Final[list[NativeRow]] = [
    # event               source          dest         if                        unless                              then
    ["user",              _SERVING,       "awaiting",  [],                       [],                                 ["save", "accept", *_ASK]],
    ["user",              _BUSY,          None,        [],                       [],                                 ["refuse"]],
    ["text",              "awaiting",     None,        [],                       ["stale"],                          ["note"]],
    ["text",              "awaiting",     None,        ["stale"],                [],                                 []],
    ["tool-call",         "awaiting",     None,        [],                       ["stale"],                          ["note", "measure", "open_slot", "alone"]],
    ["tool-call",         "awaiting",     None,        ["stale"],                [],                                 []],
    ["spawn-call",        "awaiting",     None,        ["sub_agent"],            ["stale"],                          ["note", "measure", "open_slot", "alone"]],
    ["spawn-call",        "awaiting",     None,        ["for_user", "spawning"], ["stale"],                          ["note", "join_slot"]],
    ["spawn-call",        "awaiting",     None,        ["for_user"],             ["stale", "spawning"],              ["note", "measure", "open_slot", "spawns"]],
    ["spawn-call",        "awaiting",     None,        ["stale"],                [],                                 []],
    ["usage",             "awaiting",     None,        ["was_within"],           ["stale", "within"],                ["save", "track", "report", "warn"]],
    ["usage",             "awaiting",     None,        ["was_within", "within"], ["stale"],                          ["save", "track", "report"]],
    ["usage",             "awaiting",     None,        [],                       ["stale", "was_within"],            ["save", "track", "report"]],
    ["usage",             "awaiting",     None,        ["stale"],                [],                                 []],
    ["model-stop",        "awaiting",     "executing", ["called"],               ["stale"],                          ["save", "commit", "measure", "take_joins", *_START, "forget_said", "alone"]],
    ["model-stop",        "awaiting",     "idle",      ["turn_ends"],            ["stale", "called"],                ["save", "commit", "complete", "forget_said"]],
    ["model-stop",        "awaiting",     None,        [],                       ["stale", "called", "turn_ends"],   ["save", "commit", "forget_said", *_ASK]],
    ["model-stop",        "awaiting",     None,        ["stale"],                [],                                 []],
    ["retryable-failure", "awaiting",     None,        ["retries_left"],         ["stale"],                          ["save", *_FORGET, "renew", "try_again", "show_retry", "schedule"]],
    ["retryable-failure", "awaiting",     "error",     [],                       ["stale", "retries_left"],          ["save", *_FORGET, "give_up"]],
    ["retryable-failure", "awaiting",     None,        ["stale"],                [],                                 []],
    ["fatal-failure",     "awaiting",     "error",     [],                       ["stale"],                          ["save", *_FORGET, "fail"]],
    ["fatal-failure",     "awaiting",     None,        ["stale"],                [],                                 []],
    ["retry-due",         "awaiting",     None,        [],                       ["stale"],                          ["save", "renew", "ask"]],
    ["retry-due",         "awaiting",     None,        ["stale"],                [],                                 []],
    ["tool-result",       "executing",    None,        ["first", "others_run"],  ["stale"],                          ["save", "keep", "count"]],
    ["tool-result",       "executing",    None,        ["first", "called"],      ["stale", "others_run"],            ["save", "keep", "answer", "forget_kept", *_START]],
    ["tool-result",       "executing",    "awaiting",  ["first"],                ["stale", "others_run", "called"],  ["save", "keep", "answer", "forget_kept", *_ASK]],
    ["tool-result",       "executing",    None,        [],                       ["stale", "first"],                 []],
    ["tool-result",       "executing",    None,        ["stale"],                [],                                 []],
    ["cancel",            "awaiting",     "idle",      [],                       [],                                 ["save", "drop_request", *_FORGET, "interrupt"]],
    ["cancel",            "executing",    "idle",      [],                       [],                                 ["save", "kill", "answer", "skip", "forget_kept", *_FORGET, "interrupt"]],
    ["join",              "*",            None,        [],                       [],                                 ["welcome"]],
    ["restart",           "awaiting",     "idle",      [],                       [],                                 ["save", *_FORGET, "cut_off"]],
    ["restart",           "executing",    "idle",      [],                       [],                                 ["save", "answer", "skip", "forget_kept", *_FORGET, "cut_off"]],
    ["restart",           "error",        "idle",      [],                       [],                                 ["save"]],
]
# fmt: on

_ASKED, _ATTEMPTS, _SAID = Register("asked"), Register("attempts"), Register("said")
_CALLS, _JOINS, _JOINED = Register("calls"), Register("joins"), Register("joined")
_RUNNING, _OTHERS, _ENDED = Register("running"), Register("others"), Register("ended")
_KEPT, _USED = Register("kept"), Register("used")
_RESULT = Lookup(_KEPT, Field("call"))
_KIND = Table("kind", Kind)

RETRIES: Final = 3
"""Attempts after the first one (BED-006a, BED-D1)."""
BACKOFF: Final = Backoff(base=1, cap=30)
"""The delay before each of them, which the shell keeps (BED-D1)."""
BUSY: Final = "agent is busy; the operation under way can be cancelled"
EXHAUSTED: Final = "retries exhausted: the model could not be reached; check the connection, then send a message"

SPEC: Final = Machine(
    name="conversation",
    title="Conversation",
    states=STATES,
    initial="idle",
    final=("idle", "error"),
    events=EVENTS,
    table=TABLE,
    registers={
        "asked": "number",  # the number that the awaited answer bears
        "attempts": "number",  # retries of the request
        "said": "queue",  # items of the response under way
        "calls": "queue",  # the first call of each slot that is not started
        "joins": "queue",
        "joined": "number",  # sub-agents that join the slot being said; -1 where its call is a tool
        "running": "number",  # the first call of the slot that runs
        "others": "number",  # sub-agents that run beside it
        "ended": "number",  # calls of that slot that have ended
        "kept": "map",  # call → its result, until the slot is over
        "used": "number",  # tokens of the context window
    },
    guards={
        "stale": Less(Field("answers"), _ASKED),
        "first": Equal(_RESULT, Const(None)),
        "called": Nonempty(_CALLS),
        "turn_ends": Equal(Field("reason"), Const("end-turn")),
        "for_user": Equal(_KIND, Const("user")),
        "sub_agent": Equal(_KIND, Const("sub-agent")),
        "spawning": Less(Const(-1), _JOINED),
        "others_run": Less(_ENDED, _OTHERS),
        "retries_left": Less(_ATTEMPTS, Table("retries")),
        "was_within": Less(_USED, Table("limit")),
        "within": Less(Field("tokens"), Table("limit")),
    },
    effects={
        "save": Emit("save"),
        "accept": Emit("accept", (Here(),)),
        "refuse": Emit("refuse", (Const(BUSY),)),
        "renew": Increment(_ASKED),
        "first_attempt": Set(_ATTEMPTS, Const(0)),
        "try_again": Increment(_ATTEMPTS),
        "ask": Emit("request", (_ASKED,)),
        "schedule": Emit("schedule", (_ASKED, _ATTEMPTS)),
        "show_retry": Emit("notify", (Const("retrying"), _ATTEMPTS)),
        "drop_request": Emit("drop", (_ASKED,)),
        "note": Push(_SAID, Here()),
        "commit": Emit("commit", (_ASKED, _SAID)),
        "forget_said": Clear(_SAID),
        "measure": Push(_JOINS, _JOINED),
        "open_slot": Push(_CALLS, Here()),
        "alone": Set(_JOINED, Const(-1)),
        "spawns": Set(_JOINED, Const(0)),
        "join_slot": Increment(_JOINED),
        "take_joins": Pop(_JOINS, into=_OTHERS),
        "take_call": Pop(_CALLS, into=_RUNNING),
        "forget_calls": Clear(_CALLS),
        "forget_joins": Clear(_JOINS),
        "none_ended": Set(_ENDED, Const(0)),
        "run": Emit("run", (_ASKED, _RUNNING, _OTHERS)),
        "kill": Emit("kill", (_ASKED,)),
        "keep": Set(_RESULT, Here()),
        "count": Increment(_ENDED),
        "answer": Emit("result", each=_KEPT),
        "skip": Emit("skip", (_CALLS,)),
        "forget_kept": Clear(_KEPT),
        "complete": Emit("stop", (Const("completed"), Const(None))),
        "interrupt": Emit("stop", (Const("interrupted"), Const("cancelled"))),
        "cut_off": Emit("stop", (Const("interrupted"), Const("restarted"))),
        "give_up": Emit("stop", (Const("error"), Const(EXHAUSTED))),
        "fail": Emit("stop", (Const("error"), Field("message"))),
        "track": Set(_USED, Field("tokens")),
        "report": Emit("report", (Here(),)),
        "warn": Emit("notify", (Const("context-limit"), _USED)),
        "welcome": Emit("welcome"),
    },
    opposites={
        "stale": "current",
        "first": "repeated",
        "called": "no call left",
        "turn_ends": "goes on",
        "spawning": "slot closed",
        "others_run": "the last one",
        "retries_left": "retries used up",
        "was_within": "was beyond",
        "within": "beyond",
    },
    always={
        "a response is under way only while one is awaited": lambda state, data: (
            state == "awaiting" or not data["said"]
        ),
        "calls wait only while the agent is busy": lambda state, data: state in _BUSY or not data["calls"],
        "each slot has its size": lambda _, data: len(data["joins"]) == len(data["calls"]),
        "slots wait in the order in which they were asked for": lambda _, data: (
            list(data["calls"]) == sorted(data["calls"])
        ),
        "a result is kept only while its slot runs": lambda state, data: state == "executing" or not data["kept"],
        "a request is retried so often at most": lambda _, data: data["attempts"] <= RETRIES,
        "no more sub-agents have ended than run": lambda state, data: (
            state != "executing" or data["ended"] == len(data["kept"]) <= max(data["others"], 0)
        ),
    },
    sometimes={
        "a slot waits while one runs": lambda state, data: state == "executing" and bool(data["calls"]),
        "some sub-agents of a slot have ended": lambda state, data: state == "executing" and bool(data["kept"]),
        "a request is retried for the last time": lambda state, data: (
            state == "awaiting" and data["attempts"] == RETRIES
        ),
        "an error is left behind": lambda state, _: state == "error",
    },
    ignored=(),
)

DEFAULTS: Final[Mapping[str, Any]] = {"retries": RETRIES, "kind": "user", "limit": 160_000}
"""The tables: ``kind`` is ``user`` or ``sub-agent`` (BED-009d); from ``limit`` tokens on, the user is warned that the
context window fills up. The limit is a declared share of the window (BED-D6), here 0.8 of 200,000."""


@dataclass(frozen=True)
class Input:
    """The data of an input, besides the letter.

    ``answers`` is the number that it answers, ``call`` the position of the call, ``reason`` the model's, ``tokens`` the
    used part of the context, ``message`` the provider's text of a failure. ``payload`` holds the JSON fields of the
    log's event.
    """

    answers: int = -1
    call: int = -1
    reason: str | None = None
    tokens: int = 0
    message: str | None = None
    payload: Mapping[str, Any] | None = None


def refine(
    outputs: Sequence[Output], inputs: Mapping[int, Input], log: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Map the outputs of one step to the core's events (BED-D4); *log* holds the events of the earlier steps.

    *inputs* are those that outputs name by position, their payloads in the log's own fields. A call keeps the model's
    id, unless another call of the run has it: the core would reject a second one (RC-D4), so the call gets a new id.
    ``seq`` of an output is its position, by which its result finds it. Outputs for the shell alone map to nothing.
    """
    new: list[dict[str, Any]] = []
    for output in outputs:
        match output.name, output.arguments:
            case "accept", (at,):
                new.append({"type": "user-message", **_payload(inputs[at])})
            case "request", (number,):
                new.append({"type": "model-request", "requestId": response_id(number)})
            case "commit", (number, items):
                for at in items:
                    item = {
                        "type": "agent-output",
                        **_payload(inputs[at]),
                        "responseId": response_id(number),
                        "seq": at,
                    }
                    if "callId" in item:
                        item["callId"] = _unused(item["callId"], {one["callId"] for one in calls([*log, *new])})
                    new.append(item)
            case "result", (at,):
                call = next(one for one in calls(log) if one["seq"] == inputs[at].call)
                new.append({"type": "tool-result", "callId": call["callId"], **_payload(inputs[at])})
            case "skip", (waiting,):
                new += [_cancelled(call, waiting) for call in unanswered([*log, *new])]
            case "stop", (reason, detail):
                new.append({"type": "run-stop", "reason": reason} | ({} if detail is None else {"detail": detail}))
            case "report", (at,):
                new.append({"type": "native", "name": "usage", **_payload(inputs[at])})
            case "notify", (name, value):
                new.append({"type": "native", "name": name, "value": value})
            case _:
                pass
    return new


def calls(log: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The calls of the open run, in the order in which they were made."""
    return [event for event in _open_run(log) if event.get("kind") == "tool-call"][::-1]


def unanswered(log: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The calls of the open run that have no result."""
    answered = {event["callId"] for event in _open_run(log) if event["type"] == "tool-result"}
    return [call for call in calls(log) if call["callId"] not in answered]


def _open_run(log: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The events since the last stop, the newest first."""
    for event in reversed(log):
        if event["type"] == "run-stop":
            return
        yield event


def _payload(told: Input) -> Mapping[str, Any]:
    return told.payload or {}


def _unused(name: str, used: set[str]) -> str:
    return name if name not in used else next(one for n in count(2) if (one := f"{name}~{n}") not in used)


def _cancelled(call: Mapping[str, Any], waiting: Sequence[int]) -> dict[str, Any]:
    """The synthetic result of a call: it ran, unless its slot still waits (BED-005f, BED-005g)."""
    skipped = bool(waiting) and call["seq"] >= waiting[0]
    said = "cancelled before it started" if skipped else "cancelled while it ran"
    return {"type": "tool-result", "callId": call["callId"], "output": said, "isError": True, "synthetic": True}


_NUMBERED: Final = (
    *("text", "tool-call", "spawn-call", "usage", "model-stop"),
    *("retryable-failure", "fatal-failure", "retry-due", "tool-result"),
)

ROLES: Final = ProofRoles(
    # No ``refine``: it reads the log so far. It is explored beside the machine's own tests.
    machine=SPEC,
    bound=3,
    run=RunRoles(
        active=("awaiting", "executing"),
        begins=("accept",),
        ends=("complete", "interrupt", "cut_off", "give_up", "fail"),
        answers={"awaiting": ("model-stop", "retryable-failure", "fatal-failure"), "executing": ("tool-result",)},
        awaited={
            "model-stop": (["turn_ends"], ["stale"]),
            "retryable-failure": ([], ["stale"]),
            "fatal-failure": ([], ["stale"]),
            "tool-result": (["first"], ["stale"]),
        },
        reasons={
            "complete": [Ending(("model-stop",), ("turn_ends",), ("stale", "called"))],
            "interrupt": [Ending(("cancel",))],
            "cut_off": [Ending(("restart",))],
            "give_up": [Ending(("retryable-failure",), (), ("stale", "retries_left"))],
            "fail": [Ending(("fatal-failure",), (), ("stale",))],
        },
        logged=("commit", "result", "skip"),
        late=dict.fromkeys(_NUMBERED, ("stale",)),
        asks={"awaiting": ("request", "schedule"), "executing": ("run",)},
        numbers=("asked", "running"),
    ),
    messages=MessageRoles(
        taken={"user": ("accept", "refuse")},
        queues=("said", "calls"),
        drops=dict.fromkeys(
            ("retryable-failure", "fatal-failure", "cancel", "restart"), ("forget_said", "forget_calls")
        ),
    ),
    calls=CallRoles(
        registers=("calls", "running"),
        results=("result",),
        made_in=("executing",),
        opens={"tool-call": ("open_slot",), "spawn-call": ("open_slot", "join_slot")},
        sweeps=("skip",),
        counts={
            **dict.fromkeys(("idle", "awaiting", "error"), Count("kept")),
            "executing": Count("kept", "ended"),
        },
        group=Group(map="kept", others="others", event="tool-result", field="call", stale="stale"),
    ),
    alphabet=AlphabetRoles(
        values={"answers": (_ASKED, -2), "call": (0, 1, 2)},
        payloads={"user": ("text",), "text": ("text",), "tool-call": ("tool",)},
    ),
    tables=every_choice(retries=(RETRIES,), kind=get_args(Kind), limit=(2,)),
    unbounded_counters=("asked",),
)
