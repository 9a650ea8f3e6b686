"""The engine: one chat request end to end (seed 004, clauses RS-1 to RS-8 with RS-D0 to RS-D2).

A Mealy machine whose inputs come from a chat server's client, its storage, the compactor, the chunks of the model's
stream, and its tools. The engine *pulls*: while a tool runs, no chunk is read, and no chunk comes from a stream that
it left. Its outputs are read three times: ``refine`` makes the core's log of them, and the server their wire form
(RS-7) and the session's mutations (RS-8). ``done`` is the terminal of every path (RS-6); reason and detail stay inside,
and so do the finish reason and the usage with which the last stream ended: a client gets ``session_id`` alone (RS-7).
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from ..declaration.machine import Machine, NativeRow
from ..declaration.proof_roles import AlphabetRoles, CallRoles, Ending, MessageRoles, ProofRoles, RunRoles
from ..declaration.vocabulary import *
from .chat_log import refine

Compaction: TypeAlias = Literal["summary", "cut"]
"""Ways to shorten a long history (RS-3)."""

STATES: Final = ("idle", "loading", "compacting", "inferring", "executing")

EVENTS: Final = {
    "message": ("RS-1", "RS-2"),
    "session-loaded": ("RS-1", "RS-2", "RS-3.1", "RS-3.2"),
    "compacted": ("RS-3.1",),
    "compaction-failed": ("RS-3.2", "RS-D0"),
    "text": ("RS-4.2", "RS-D0"),
    "tool-call": ("RS-4.3", "RS-D0"),
    "broken-call": ("RS-5.3", "TM-4.1"),
    "stream-end": ("RS-4.1", "RS-4.4", "RS-5.4", "RS-6", "RS-D0"),
    "stream-error": ("RS-5.2", "RS-5.4", "RS-6", "RS-D1"),
    "provider-error": ("RS-5.1", "RS-6", "RS-D1"),
    "tool-output": ("RS-4.3",),
    "tool-error": ("RS-5.3", "RS-D2"),
    "client-gone": ("RS-D1", "X-6"),
}

_RUNNING: Final = ["loading", "compacting", "inferring", "executing"]

_ROUND: Final = ["number_request", "no_call_yet", "request"]
_FIRST: Final = ["first_round", *_ROUND]
_ROUND_END: Final = ["say", "forget_item", "push_text", "forget_text"]
_NEXT: Final = [*_ROUND_END, "count_round", *_ROUND]
_END: Final = ["forget_calls", "touch"]

# fmt: off
TABLE: Final[list[NativeRow]] = [
    # event               source           dest          if                        unless                      then
    ["message",           "idle",          "loading",    [],                       [],                         ["accept", "load"]],
    ["message",           _RUNNING,        None,         [],                       [],                         ["refuse"]],
    ["session-loaded",    "loading",       "inferring",  ["fits"],                 [],                         ["push_user", *_FIRST]],
    ["session-loaded",    "loading",       "compacting", ["summarises"],           ["fits"],                   ["push_user", "compact"]],
    ["session-loaded",    "loading",       "inferring",  ["cuts"],                 ["fits"],                   ["push_user", "truncate", *_FIRST]],
    ["compacted",         "compacting",    "inferring",  [],                       [],                         ["summarise", *_FIRST]],
    ["compaction-failed", "compacting",    "inferring",  [],                       [],                         ["warn", "truncate", *_FIRST]],
    ["text",              "inferring",     None,         ["another_item"],         [],                         ["say", "forget_item", "send_text", "note_item", "note_text"]],
    ["text",              "inferring",     None,         [],                       ["another_item"],           ["send_text", "note_item", "note_text"]],
    ["tool-call",         "inferring",     "executing",  ["unseen"],               [],                         ["say", "forget_item", "note_call", "open_call", "name_call", "name_tool", "status_calling", "call", "execute"]],
    ["tool-call",         "inferring",     None,         [],                       ["unseen"],                 ["refuse_call"]],
    ["broken-call",       "inferring",     None,         ["unseen"],               [],                         ["say", "forget_item", "note_call", "answer_call", "name_call", "name_tool", "status_calling", "call", "result_error", "status_error", "tool_error"]],
    ["broken-call",       "inferring",     None,         [],                       ["unseen"],                 ["refuse_call"]],
    ["stream-end",        "inferring",     "inferring",  ["called", "rounds_left"],  [],                       ["tell_finish", *_NEXT]],
    ["stream-end",        "inferring",     "idle",       ["called"],               ["rounds_left"],            [*_ROUND_END, "bound_error", *_END, "done_bound", "save"]],
    ["stream-end",        "inferring",     "idle",       [],                       ["called"],                 [*_ROUND_END, *_END, "done_completed", "save"]],
    ["stream-error",      "inferring",     "inferring",  ["called", "rounds_left"],  [],                       ["stream_error", *_NEXT]],
    ["stream-error",      "inferring",     "idle",       ["called"],               ["rounds_left"],            ["stream_error", *_ROUND_END, "bound_error", *_END, "done_bound", "save"]],
    ["stream-error",      "inferring",     "idle",       [],                       ["called"],                 ["stream_error", *_ROUND_END, *_END, "done_stream_error", "save"]],
    ["provider-error",    "inferring",     "idle",       [],                       [],                         ["llm_error", *_ROUND_END, *_END, "done_llm_error", "save"]],
    ["tool-output",       "executing",     None,         ["unseen"],               [],                         ["ignore"]],
    ["tool-output",       "executing",     None,         ["answered"],             [],                         ["ignore"]],
    ["tool-output",       "executing",     "inferring",  ["dataless", "bare"],     ["unseen", "answered"],     ["answer_call", "result", "status_done"]],
    ["tool-output",       "executing",     "inferring",  ["dataless"],             ["unseen", "answered", "bare"], ["merge_metadata", "answer_call", "result", "status_done"]],
    ["tool-output",       "executing",     "inferring",  ["bare"],                 ["unseen", "answered", "dataless"], ["send_data", "answer_call", "result", "status_done"]],
    ["tool-output",       "executing",     "inferring",  [],                       ["unseen", "answered", "dataless", "bare"], ["send_data", "merge_metadata", "answer_call", "result", "status_done"]],
    ["tool-error",        "executing",     None,         ["unseen"],               [],                         ["ignore"]],
    ["tool-error",        "executing",     None,         ["answered"],             [],                         ["ignore"]],
    ["tool-error",        "executing",     "inferring",  [],                       ["unseen", "answered"],     ["answer_call", "result_error", "status_error", "tool_error"]],
    ["client-gone",       "loading",       "idle",       [],                       [],                         ["done_interrupted"]],
    ["client-gone",       ["compacting", "inferring"], "idle", [],                 [],                         [*_ROUND_END, *_END, "done_interrupted", "save"]],
    ["client-gone",       "executing",     "idle",       [],                       [],                         ["skip_call", *_ROUND_END, *_END, "done_interrupted", "save"]],
]
# fmt: on

_ITEM, _SAID, _CALLS, _CALLED = Register("item"), Register("said"), Register("calls"), Register("called")
_NAME, _TOOL, _ROUNDS, _ASKED = Register("call"), Register("tool"), Register("rounds"), Register("asked")
_CALL = Lookup(_CALLS, Field("call_id"))
_MESSAGE = Field("message")
_FINISH: Final = (Field("finish_reason"), Field("usage"))
_CUT: Final = (Const(None), Const(None))
_COMPACTION = Table("compaction", Compaction)


def _open(calls: Mapping[str, int]) -> int:
    return sum(at != ANSWERED for at in calls.values())


SPEC: Final = Machine(
    name="engine",
    title="Engine",
    states=STATES,
    initial="idle",
    final=("idle",),
    events=EVENTS,
    table=TABLE,
    # ``item``: deltas since the last item; ``said``: the round's deltas; ``calls``: the run's calls by id, with position
    # or ANSWERED; ``called``: this round handled a call; ``call``, ``tool``: the one that runs; ``asked``: requests.
    registers={
        "item": "queue",
        "said": "queue",
        "calls": "map",
        "called": "number",
        "call": "number",
        "tool": "number",
        "rounds": "number",
        "asked": "number",
    },
    guards={
        "fits": Less(Field("messages"), Table("max_history_messages")),
        "summarises": Equal(_COMPACTION, Const("summary")),
        "cuts": Equal(_COMPACTION, Const("cut")),
        "another_item": Equal(Field("begins"), Const(1)),
        "unseen": Equal(_CALL, Const(None)),
        "answered": Equal(_CALL, Const(ANSWERED)),
        "called": Equal(_CALLED, Const(1)),
        "rounds_left": Less(_ROUNDS, Table("max_tool_rounds")),
        "dataless": Equal(Field("data"), Const(None)),
        "bare": Equal(Field("metadata"), Const(None)),
    },
    effects={
        "accept": Emit("accept", (Field("id"), Field("text"))),
        "load": Emit("load"),
        "refuse": Emit("refuse"),
        "ignore": Emit("ignore"),
        "push_user": Emit("push-user"),
        "compact": Emit("compact"),
        "summarise": Emit("summarise", (Field("text"),)),
        "warn": Emit("warn", (_MESSAGE,)),
        "truncate": Emit("truncate"),
        "first_round": Set(_ROUNDS, Const(1)),
        "count_round": Increment(_ROUNDS),
        "number_request": Increment(_ASKED),
        "no_call_yet": Set(_CALLED, Const(0)),
        "request": Emit("request", (_ASKED,)),
        "send_text": Emit("text", (Field("text"),)),
        "note_item": Push(_ITEM, Field("text")),
        "note_text": Push(_SAID, Field("text")),
        "say": Emit("say", (_ITEM, _ASKED)),
        "forget_item": Clear(_ITEM),
        "push_text": Emit("push-text", (_SAID,)),
        "forget_text": Clear(_SAID),
        "note_call": Set(_CALLED, Const(1)),
        "open_call": Set(_CALL, Here()),
        "answer_call": Set(_CALL, Const(ANSWERED)),
        "name_call": Set(_NAME, Field("call_id")),
        "name_tool": Set(_TOOL, Field("tool")),
        "forget_calls": Clear(_CALLS),
        "call": Emit("call", (Field("call_id"), Field("tool"), Field("arguments"), _ASKED)),
        "execute": Emit("execute", (Field("call_id"), Field("tool"), Field("arguments"))),
        "refuse_call": Emit("error", (Const("tool_error"), Const("a call id came twice in one run: not executed"))),
        "result": Emit("result", (_NAME, Field("output"), Const("done"))),
        "result_error": Emit("result", (_NAME, _MESSAGE, Const("error"))),
        "skip_call": Emit("result", (_NAME, Const("not finished: the client is gone"), Const("skipped"))),
        "send_data": Emit("data", (Field("data"),)),
        "merge_metadata": Emit("merge-metadata", (Field("metadata"),)),
        "status_calling": Emit("tool-status", (_TOOL, Const("calling"))),
        "status_done": Emit("tool-status", (_TOOL, Const("done"))),
        "status_error": Emit("tool-status", (_TOOL, Const("error"))),
        "tool_error": Emit("error", (Const("tool_error"), _MESSAGE)),
        "llm_error": Emit("error", (Const("llm_error"), _MESSAGE)),
        "stream_error": Emit("error", (Const("stream_error"), _MESSAGE)),
        "bound_error": Emit("error", (Const("max_tool_rounds"), Const("the bound of tool rounds is reached"))),
        "touch": Emit("touch"),
        "tell_finish": Emit("finish", (_ASKED, *_FINISH)),
        "done_completed": Emit("done", (Const("completed"), Const(None), *_FINISH)),
        "done_interrupted": Emit("done", (Const("interrupted"), Const("client gone"), *_CUT)),
        "done_llm_error": Emit("done", (Const("error"), Const("llm_error"), *_CUT)),
        "done_stream_error": Emit("done", (Const("error"), Const("stream_error"), *_CUT)),
        # A stream that broke has neither: its event has no such fields.
        "done_bound": Emit("done", (Const("error"), Const("max_tool_rounds"), *_FINISH)),
        "save": Emit("save"),
    },
    opposites={
        "fits": "too long",
        "another_item": "same item",
        "unseen": "seen",
        "answered": "open",
        "called": "no call",
        "rounds_left": "rounds used up",
        "dataless": "data",
        "bare": "metadata",
    },
    always={
        "one call is open while a tool runs, else none": lambda state, data: (
            _open(data["calls"]) == (1 if state == "executing" else 0)
        ),
        "an idle engine remembers nothing of its run": lambda state, data: (
            state != "idle" or not (data["calls"] or data["said"] or data["item"])
        ),
        "an item is part of what the round said": lambda _, data: len(data["item"]) <= len(data["said"]),
        "no call waits behind an item": lambda state, data: state != "executing" or not data["item"],
        "a round is a request": lambda _, data: data["rounds"] <= data["asked"] + 1,
    },
    sometimes={
        "a tool runs amid a round's text": lambda state, data: state == "executing" and bool(data["said"]),
        "the model goes on after a result": lambda state, data: state == "inferring" and bool(data["calls"]),
        "a run has a second round": lambda state, data: state == "inferring" and data["rounds"] == 2,
        "a history is compacted": lambda state, _: state == "compacting",
    },
    ignored=("ignore",),
)


def tables(*, max_tool_rounds: int, max_history_messages: int, compactor: bool) -> dict[str, object]:
    """Return the tables. Bounds are 1 or more; with a compactor a long history is summarised, else cut (RS-3)."""
    return {
        "max_tool_rounds": max_tool_rounds,
        "max_history_messages": max_history_messages,
        "compaction": "summary" if compactor else "cut",
    }


ROLES: Final = ProofRoles(
    machine=SPEC,
    bound=3,
    run=RunRoles(
        active=("loading", "compacting", "inferring", "executing"),
        begins=("accept",),
        ends=("done_completed", "done_interrupted", "done_llm_error", "done_stream_error", "done_bound"),
        answers={
            "loading": ("session-loaded",),
            "compacting": ("compacted", "compaction-failed"),
            "inferring": ("stream-end", "stream-error", "provider-error"),
            "executing": ("tool-output", "tool-error"),
        },
        awaited=dict.fromkeys(("tool-output", "tool-error"), ([], ["unseen", "answered"])),
        rounds=("request",),
        continues=("tool-call", "broken-call"),
        logged=("say", "call", "result"),
        reasons={
            "done_completed": [Ending(("stream-end",), (), ("called",))],
            "done_bound": [Ending(("stream-end", "stream-error"), ("called",), ("rounds_left",))],
            "done_stream_error": [Ending(("stream-error",), (), ("called",))],
            "done_llm_error": [Ending(("provider-error",))],
            "done_interrupted": [Ending(("client-gone",))],
        },
        late=dict.fromkeys(("tool-output", "tool-error"), ("unseen", "answered")),
        # A tool's end is what the stream that waits meanwhile is read on for.
        asks={
            "loading": ("load",),
            "compacting": ("compact",),
            "inferring": ("request", "result"),
            "executing": ("execute",),
        },
        numbers=("asked",),
    ),
    messages=MessageRoles(taken={"message": ("accept", "refuse")}, queues=("item", "said")),
    calls=CallRoles(
        registers=("calls",),
        makes=("call",),
        ids="calls",
        results=("result",),
        empty=dict.fromkeys(("loading", "compacting", "inferring"), ("calls",)),
        single={"executing": "call"},
    ),
    alphabet=AlphabetRoles(values={"begins": (0, 1)}),
    tables=[tables(max_tool_rounds=2, max_history_messages=2, compactor=compactor) for compactor in (True, False)],
    unbounded_counters=("asked",),
    refine=lambda outputs, _: refine(outputs),
)
