"""The environment of a runtime, as a machine: which stimuli are possible when. Generation takes its rules from it.

It is the queueing core of any chat agent, seen from outside (PROTOCOL, stimuli): a run infers and executes in turn
until the model ends it, it is aborted, or it fails. Guards and effects follow the declared policies (RC-D6, BED-002c,
TM-5). The machine says which situations are worth reaching; an implementation's behaviour is observed, never assumed,
and the laws say which answers are right.

It also runs (``reference:interaction``): its outputs say all that a shell has to do. A position names a message or a
call by its place among the environment's events.

A call that a person has to approve, or that the client executes, is *gated*: when the other calls of its response have
ended, the run pauses until all of these are decided. What is approved runs at once, and the run pauses again for the
others. The machine decides about them in their order; a decision that comes before its turn waits with the shell.

While no run is open, the user may ask for a compaction: a summary takes the place of the history, if the model gives
one. A message that comes amid it comes first: the compaction is given up.

Clients come and go. Where nothing else is declared, this changes no state: what a client is told is for the shell, by
the log and by what the client has seen of it. Else a client that leaves is an abort: its rows are those of ``abort``.

What the model is asked with is a history of positions, in the registers of that kind; ``request`` puts it out. A
message, an item or a tool's end stands where it came; a call's position that stands a second time is the result that
the call never got. What a runtime may choose there is ``Kept``, ``Aborted`` and ``Unread``.
"""

from collections.abc import Mapping
from typing import Any, Final

from ...core.history import CompactionFails
from ...core.policies import Aborted, Busy, Disconnect, Fate, Kept, SteerLands, SteerWhilePaused, Unread
from ...declaration.machine import Machine, NativeRow
from ...declaration.vocabulary import *

CONCURRENT: Final = "concurrent"
"""The value of the policy that this machine leaves out: such a message begins a run beside the one that is open.

The machine has one run per session. Laws on runs side by side take them from the trace, by ``runId``.
"""
STATES: Final = ("idle", "inferring", "executing", "paused", "compacting")

EVENTS: Final = {
    "user": ("RC-3.1", "RC-3.2", "BED-002a", "BED-002c"),
    "steer": ("RC-3.1", "RC-4.2", "TM-5.2"),
    "follow-up": ("RC-3.1", "RC-4.1", "TM-5.1"),
    "text": ("RC-7.3",),
    "reasoning": ("RC-7.3",),
    "tool-call": ("BED-003c", "BED-003d"),
    "gated-call": ("L-A1", "L-A2"),
    "client-call": ("L-A8",),
    "model-stop": ("BED-003a", "BED-003c", "RC-7.5"),
    "fatal-failure": ("BED-006f", "RC-D6"),
    "retryable-failure": ("BED-006a", "BED-006d", "RC-D6"),
    "tool-return": ("BED-004b", "BED-004c"),
    "tool-failure": ("BED-004e", "BED-004f"),
    "approve": ("L-A1", "L-A3", "L-A4"),
    "deny": ("L-A3", "L-A4"),
    "client-result": ("L-A8",),
    "abort": ("BED-005a", "BED-005b", "BED-005d", "BED-D3", "RC-D6", "L-A5"),
    "compact": ("L-C2", "L-C4", "RS-3.1"),
    "join": ("L-N1", "L-N2", "BED-011c"),
    "leave": ("L-N3",),
    "advance": ("BED-006a",),
}

_ACTIVE: Final = ["inferring", "executing"]
_STOPPED: Final = ["executing", "paused"]
_OPEN_RUN: Final = [*_ACTIVE, "paused"]
_ASK: Final = ["first_try", "ask"]
_OPEN: Final = ["accept", "open", "record_joined", "record", "record_late", *_ASK]
_NEXT: Final = ["promote", "open_next", "record_next", "record_late", *_ASK]
_START: Final = ["take_call", "start"]
_ANSWER: Final = ["answer", "record"]
_FAILED: Final = ["answer_failure", "record"]
_READ: Final = ["read_steers", "record_steers", "take_steers"]
_LEAVE: Final = ["read_steers", "record_unread", "put_off_unread", "take_steers"]
_FORGET: Final = ["forget_calls", "forget_gated"]
_SKIP: Final = ["skip_calls", "record_skipped", "record_gated", *_FORGET]
_FAIL: Final = ["skip_calls", "settle_failed", *_FORGET]
_BREAK: Final = [*_FAIL, *_LEAVE, "fail"]
"""Effects of a run that ends before its model does: no call stays unanswered, and no steer unread."""
_ABORT: Final = ["skip_calls", "settle_aborted", *_FORGET, *_LEAVE, "interrupt"]
_JOIN: Final = ["read_queue", "put_off_queue", "forget_queue"]
_PAUSE: Final = ["pause", "take_gated"]
_GIVE_UP: Final = ["give_up", *_OPEN]
_INSTEAD: Final = ["accept", "keep_steer", "resume", "cut", "record_cut", "rest", *_SKIP, *_READ, *_ASK]
_DENY: Final = ["deny", "record"]
_CUT: Final = ["cut", "record_cut", "rest", *_SKIP, "retract", *_LEAVE, "interrupt"]


def _leaving(row: NativeRow) -> NativeRow:
    """Return the row of an abort as that of a client that leaves, where this aborts."""
    _, source, dest, given, unless, then = row
    assert isinstance(given, list)
    assert isinstance(then, list)
    return ["leave", source, dest, ["leaving_aborts", *given], unless, ["part", *then]]


# fmt: off
_ABORTS: Final[list[NativeRow]] = [
    ["abort",             "inferring",     "inferring", ["abort_promotes", "waiting"],        [],                                 [*_ABORT, *_NEXT]],
    ["abort",             _STOPPED,        "inferring", ["abort_promotes", "waiting"],        [],                                 [*_CUT, *_NEXT]],
    ["abort",             "inferring",     "idle",      ["abort_promotes"],                   ["waiting"],                        _ABORT],
    ["abort",             _STOPPED,        "idle",      ["abort_promotes"],                   ["waiting"],                        _CUT],
    ["abort",             "inferring",     "idle",      ["abort_drops"],                      [],                                 [*_ABORT, "forget_queue"]],
    ["abort",             _STOPPED,        "idle",      ["abort_drops"],                      [],                                 [*_CUT, "forget_queue"]],
    ["abort",             "inferring",     "idle",      ["abort_holds"],                      [],                                 _ABORT],
    ["abort",             _STOPPED,        "idle",      ["abort_holds"],                      [],                                 _CUT],
    ["abort",             "inferring",     "idle",      ["abort_joins"],                      [],                                 [*_ABORT, *_JOIN]],
    ["abort",             _STOPPED,        "idle",      ["abort_joins"],                      [],                                 [*_CUT, *_JOIN]],
    ["abort",             "compacting",    "idle",      [],                                   [],                                 ["give_up"]],
]
TABLE: Final[list[NativeRow]] = [
    # event               source           dest         if                                    unless                              then
    ["user",              "idle",          "inferring", [],                                   [],                                 _OPEN],
    ["user",              _ACTIVE,         None,        ["busy_steers"],                      [],                                 ["accept", "keep_steer"]],
    ["user",              "paused",        None,        ["busy_steers", "steers_wait"],       [],                                 ["accept", "keep_steer"]],
    ["user",              "paused",        "inferring", ["busy_steers", "steers_instead"],    [],                                 _INSTEAD],
    ["user",              _OPEN_RUN,       None,        ["busy_queues"],                      [],                                 ["accept", "enqueue"]],
    ["user",              _OPEN_RUN,       None,        ["busy_rejects"],                     [],                                 ["refuse"]],
    ["steer",             "idle",          "inferring", [],                                   [],                                 _OPEN],
    ["steer",             _ACTIVE,         None,        [],                                   [],                                 ["accept", "keep_steer"]],
    ["steer",             "paused",        None,        ["steers_wait"],                      [],                                 ["accept", "keep_steer"]],
    ["steer",             "paused",        "inferring", ["steers_instead"],                   [],                                 _INSTEAD],
    ["follow-up",         "idle",          "inferring", [],                                   [],                                 _OPEN],
    ["follow-up",         _OPEN_RUN,       None,        [],                                   [],                                 ["accept", "enqueue"]],
    ["text",              "inferring",     None,        [],                                   [],                                 ["say", "hold"]],
    ["reasoning",         "inferring",     None,        [],                                   [],                                 ["say"]],
    ["tool-call",         "inferring",     None,        [],                                   [],                                 ["call", "note_call", "hold"]],
    ["gated-call",        "inferring",     None,        [],                                   [],                                 ["call", "note_gated", "hold"]],
    ["client-call",       "inferring",     None,        [],                                   [],                                 ["call", "note_gated", "hold"]],
    ["model-stop",        "inferring",     "executing", ["called"],                           [],                                 ["settle", *_START]],
    ["model-stop",        "inferring",     "paused",    ["undecided"],                            ["called"],                         ["settle", *_PAUSE]],
    ["model-stop",        "inferring",     "inferring", ["steered"],                          ["called", "undecided"],                ["settle", *_READ, *_ASK]],
    ["model-stop",        "inferring",     "inferring", ["waiting"],                          ["called", "undecided", "steered"],     ["settle", "complete", *_NEXT]],
    ["model-stop",        "inferring",     "idle",      [],                                   ["called", "undecided", "steered", "waiting"], ["settle", "complete"]],
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
    ["tool-return",       "executing",     "paused",    ["undecided", "lands_after_batch"],       ["called"],                         [*_ANSWER, *_PAUSE]],
    ["tool-return",       "executing",     "paused",    ["undecided", "lands_after_call"],        ["called", "steered"],              [*_ANSWER, *_PAUSE]],
    ["tool-return",       "executing",     "inferring", ["undecided", "lands_after_call", "steered"], ["called"],                     [*_ANSWER, "rest", *_SKIP, *_READ, *_ASK]],
    ["tool-return",       "executing",     "inferring", ["steered"],                          ["called", "undecided"],                [*_ANSWER, "rest", *_READ, *_ASK]],
    ["tool-return",       "executing",     "inferring", [],                                   ["called", "undecided", "steered"],     [*_ANSWER, "rest", *_ASK]],
    ["tool-failure",      "executing",     None,        ["called", "lands_after_batch"],      [],                                 [*_FAILED, *_START]],
    ["tool-failure",      "executing",     None,        ["called", "lands_after_call"],       ["steered"],                        [*_FAILED, *_START]],
    ["tool-failure",      "executing",     "inferring", ["called", "lands_after_call", "steered"], [],                            [*_FAILED, "rest", *_SKIP, *_READ, *_ASK]],
    ["tool-failure",      "executing",     "paused",    ["undecided", "lands_after_batch"],       ["called"],                         [*_FAILED, *_PAUSE]],
    ["tool-failure",      "executing",     "paused",    ["undecided", "lands_after_call"],        ["called", "steered"],              [*_FAILED, *_PAUSE]],
    ["tool-failure",      "executing",     "inferring", ["undecided", "lands_after_call", "steered"], ["called"],                     [*_FAILED, "rest", *_SKIP, *_READ, *_ASK]],
    ["tool-failure",      "executing",     "inferring", ["steered"],                          ["called", "undecided"],                [*_FAILED, "rest", *_READ, *_ASK]],
    ["tool-failure",      "executing",     "inferring", [],                                   ["called", "undecided", "steered"],     [*_FAILED, "rest", *_ASK]],
    ["approve",           "paused",        "executing", [],                                   [],                                 ["resume", "start"]],
    ["deny",              "paused",        None,        ["undecided"],                        [],                                 [*_DENY, "take_gated"]],
    ["deny",              "paused",        "inferring", ["steered"],                          ["undecided"],                      [*_DENY, "rest", "resume", *_READ, *_ASK]],
    ["deny",              "paused",        "inferring", [],                                   ["undecided", "steered"],           [*_DENY, "rest", "resume", *_ASK]],
    ["client-result",     "paused",        None,        ["undecided"],                        [],                                 [*_ANSWER, "take_gated"]],
    ["client-result",     "paused",        "inferring", ["steered"],                          ["undecided"],                      [*_ANSWER, "rest", "resume", *_READ, *_ASK]],
    ["client-result",     "paused",        "inferring", [],                                   ["undecided", "steered"],           [*_ANSWER, "rest", "resume", *_ASK]],
    *_ABORTS,
    ["abort",             "idle",          None,        [],                                   [],                                 ["ignore"]],
    ["compact",           "idle",          "compacting", [],                                  [],                                 ["first_try", "summarise"]],
    ["compact",           [*_OPEN_RUN, "compacting"], None, [],                               [],                                 ["refuse"]],
    ["user",              "compacting",    "inferring", [],                                   [],                                 _GIVE_UP],
    ["steer",             "compacting",    "inferring", [],                                   [],                                 _GIVE_UP],
    ["follow-up",         "compacting",    "inferring", [],                                   [],                                 _GIVE_UP],
    ["text",              "compacting",    None,        [],                                   [],                                 ["gist"]],
    ["reasoning",         "compacting",    None,        [],                                   [],                                 ["ignore"]],
    ["model-stop",        "compacting",    "idle",      [],                                   [],                                 ["summary", "condense"]],
    ["retryable-failure", "compacting",    None,        ["summaries_left"],                   [],                                 ["give_up", "try_again", "summarise"]],
    ["retryable-failure", "compacting",    "idle",      [],                                   ["summaries_left"],                 ["give_up", "drop_prefix"]],
    ["fatal-failure",     "compacting",    "idle",      [],                                   [],                                 ["give_up", "drop_prefix"]],
    ["join",              "*",             None,        [],                                   [],                                 ["welcome"]],
    ["leave",             "*",             None,        ["leaving_ignored"],                  [],                                 ["part"]],
    ["leave",             "idle",          None,        ["leaving_aborts"],                   [],                                 ["part"]],
    *map(_leaving, _ABORTS),
    ["advance",           "*",             None,        [],                                   [],                                 ["ignore"]],
]
# fmt: on

_QUEUE, _STEERS, _CALLS = Register("queue"), Register("steers"), Register("calls")
_GATED = Register("gated")
_RUNNING, _ATTEMPTS, _TAKEN = Register("running"), Register("attempts"), Register("taken")
_HISTORY, _SAID, _LATE = Register("history"), Register("said"), Register("late")
_OPEN_CALLS = (_CALLS, _GATED)
_JOINED, _ITEMS = Register("joined"), Register("items")
_BUSY, _LANDS = Table("busy", Busy), Table("steer_lands", SteerLands)
_PAUSED = Table("steer_while_paused", SteerWhilePaused)
_UNREAD, _ABORTED = Table("unread", Unread), Table("aborted_response", Aborted)
_COMPACTION = Table("compaction_fails", CompactionFails)
_DISCONNECT = Table("disconnect", Disconnect)
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
        "calls": "queue",  # calls that are not started, and may be
        "gated": "queue",  # calls that wait for a decision, but for the one that is decided next
        "running": "number",  # the call that runs, or that is decided next; -1 for none
        "attempts": "number",  # retries of the request, a summary's too
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
        "undecided": Nonempty(_GATED),
        "steers_wait": Equal(_PAUSED, Const("waits")),
        "steers_instead": Equal(_PAUSED, Const("instead")),
        "lands_after_batch": Equal(_LANDS, Const("after-batch")),
        "lands_after_call": Equal(_LANDS, Const("after-call")),
        "retries_left": Less(_ATTEMPTS, Table("retries")),
        "summaries_left": Less(_ATTEMPTS, Table("compaction_retries")),
        "leaving_ignored": Equal(_DISCONNECT, Const("ignored")),
        "leaving_aborts": Equal(_DISCONNECT, Const("abort")),
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
    #   have no result, and get a synthetic one (``skip`` has two lists of them);
    # * ``pause``: ask about those of these calls that were not asked about; ``resume``: the run goes on; ``deny``: a call (the first position) was denied, as
    #   the second says;
    # * ``summarise``: ask the model to sum up what stands at these positions; ``gist``: a part of the summary;
    #   ``summary``: it is whole, and is shown where this position stands; ``give-up``: nobody asks for it any more;
    # * ``welcome``: tell the client that joins what it has not been told; ``part``: tell one that leaves nothing more;
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
        "skip_calls": Emit("skip", (_CALLS, _GATED)),
        "forget_calls": Clear(_CALLS),
        "note_gated": Push(_GATED, Here()),
        "pause": Emit("pause", (_GATED,)),
        "take_gated": Pop(_GATED, into=_RUNNING),
        "deny": Emit("deny", (_RUNNING, Here())),
        "resume": Emit("resume"),
        "forget_gated": Clear(_GATED),
        "summarise": Emit("summarise", (_HISTORY,)),
        "gist": Emit("gist", (Here(),)),
        "summary": Emit("summary", (Here(),)),
        "give_up": Emit("give-up"),
        "welcome": Emit("welcome", (Here(),)),
        "part": Emit("part", (Here(),)),
        "condense": Condense(_HISTORY, Here()),
        "drop_prefix": Condense(_HISTORY, when=Equal(_COMPACTION, Const("drop-prefix"))),
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
        "record_gated": Record(_HISTORY, _GATED),
        "hold": Record(_SAID, Here()),
        "settle": Settle(_HISTORY, _SAID, _OPEN_CALLS, Const("whole"), _ITEMS),
        "settle_aborted": Settle(_HISTORY, _SAID, _OPEN_CALLS, _ABORTED),
        "settle_failed": Settle(_HISTORY, _SAID, _OPEN_CALLS, Table("failed_response", Kept)),
        "retract": Retract(_HISTORY, _ITEMS, Equal(_ABORTED, Const("drop-with-calls"))),
        "ignore": Emit("ignore"),
        "not_awaited": Emit("not-awaited"),
    },
    opposites={
        "waiting": "nobody waits",
        "steered": "no steer",
        "called": "no call left",
        "undecided": "all decided",
        "retries_left": "retries used up",
        "summaries_left": "retries of a summary used up",
    },
    always={
        "without a run there is no call and no steer": lambda state, data: (
            state not in {"idle", "compacting"} or not (data["calls"] or data["gated"] or data["steers"])
        ),
        "a call runs while the agent executes, and one is decided next while it pauses": lambda state, data: (
            (state in {"executing", "paused"}) == (data["running"] >= 0)
        ),
        "nothing that may run waits while it pauses": lambda state, data: state != "paused" or not data["calls"],
        "messages wait in the order in which they came": lambda _, data: list(data["queue"]) == sorted(data["queue"]),
    },
    sometimes={
        "a steer and a follow-up wait side by side": lambda _, data: bool(data["steers"] and data["queue"]),
        "calls wait while one runs": lambda state, data: state == "executing" and bool(data["calls"]),
        "a call waits for a decision while another runs": lambda state, data: (
            state == "executing" and bool(data["gated"])
        ),
        "a queue waits while compacting": lambda state, data: state == "compacting" and bool(data["queue"]),
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
    "steer_while_paused": ("steerWhilePaused", "waits"),
    "compaction_retries": ("compactionRetries", 0),
    "compaction_fails": ("compactionFails", "keep"),
    "disconnect": ("disconnect", "ignored"),
}
"""Table → its name in a profile, and its default."""


def tables(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables for a runtime's declared policies; where ``busy`` is CONCURRENT, it has its default here."""
    given = {name: value for name, value in policies.items() if value not in (None, CONCURRENT)}
    return {table: given.get(name, default) for table, (name, default) in POLICIES.items()}
