"""Edits of rows that a proof must refute, or else the exploration: each is one wrong machine with a name.

Each edit says which theorem refutes it first; of those that none refutes, the exploration's promise that breaks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from turncheck.model.declaration.machine import NativeRow
from turncheck.model.declaration.proof_roles import ProofRoles
from turncheck.model.machines.registry import PROOF_ROLES


@dataclass(frozen=True)
class Edit:
    """In the rows of *event* (with the given guards, where some are named), effects are exchanged or left out."""

    name: str
    machine: str
    event: str
    by: str
    """The theorem that refutes it, or the promise that the exploration finds broken."""
    change: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    where: Sequence[str] | None = None
    """The guards of the row that is edited: exactly these hold there."""
    dest: str | None = None
    effects: Sequence[str] | None = None

    @property
    def roles(self) -> ProofRoles:
        """The edited machine with the roles of the right one."""
        roles = PROOF_ROLES[self.machine]
        rows = [self._edited(row) for row in roles.machine.table]
        assert rows != [*roles.machine.table], f"{self.name} edits nothing"
        return replace(roles, machine=replace(roles.machine, table=rows))

    def _edited(self, row: NativeRow) -> NativeRow:
        if row[0] != self.event or (self.where is not None and [*(row[3] or ())] != [*self.where]):
            return row
        effects = [self.change.get(one, one) for one in row[5] or ()] if self.effects is None else self.effects
        return [row[0], row[1], self.dest or row[2], row[3], row[4], [one for one in effects if one is not None]]


EDITS: Final = (
    Edit("a cancel skips no call", "conversation", "cancel", "calls-answered", {"skip": None}),
    Edit("kept results are dropped", "conversation", "tool-result", "calls-answered", {"answer": None}),
    Edit(
        "a stale stop completes",
        *("conversation", "model-stop", "right-reason"),
        where=("stale",),
        dest="idle",
        effects=("save", "commit", "complete", "forget_said"),
    ),
    Edit(
        "a stale result is kept", "conversation", "tool-result", "late-changes-nothing", {}, ("stale",), None, ("keep",)
    ),
    Edit("a tool is never started", "interaction", "tool-return", "asked-before-awaited", {"start": None}),
    Edit("the next tool is never taken", "turn", "tool-return", "calls-answered", {"take_call": None}),
    Edit("a call is never marked answered", "event_flow", "tool-result", "calls-answered", {"answer_call": None}),
    Edit("a result comes twice", "engine", "tool-output", "calls-answered", {"status_done": "result"}),
    Edit(
        "a result of an answered call is shown",
        *("event_flow", "tool-result", "late-changes-nothing"),
        where=("answered",),
        effects=("result",),
    ),
    Edit(
        "a follow-up is not promoted",
        *("request_cycle", "run-stop", "what-waits-is-promoted"),
        where=("promotes", "waiting"),
        dest="idle",
        effects=("remark_unanswered", "close", "forget_calls"),
    ),
    Edit(
        "a turn rests while events wait",
        *("turn", "recorded", "what-waits-is-promoted"),
        where=("held", "waiting"),
        dest="idle",
        effects=("release", "let_go", "finish", "no_outcome", "close"),
    ),
    Edit("a steer is queued", "request_cycle", "user-message", "queued-is-never-steered", {"append_steer": "enqueue"}),
    Edit("a follow-up steers", "interaction", "follow-up", "queued-is-never-steered", {"enqueue": "keep_steer"}),
    Edit("an abort completes", "interaction", "abort", "right-reason", {"interrupt": "complete"}),
    Edit("a timeout completes", "turn", "timeout", "right-reason", {"exceed_time": "complete"}),
    Edit(
        "a provider's failure completes",
        "engine",
        "provider-error",
        "right-reason",
        {"done_llm_error": "done_completed"},
    ),
    Edit(
        "a steer is forgotten unread",
        "turn",
        "model-stop",
        "first-in-first-out",
        {"ask": None},
        ("tokens_left", "steered", "rounds_left"),
    ),
    Edit(
        "what waits is forgotten at a stop",
        "interaction",
        "model-stop",
        "first-in-first-out",
        {"promote": "forget_queue"},
    ),
    Edit("a message is dropped", "interaction", "follow-up", "no-message-lost", {"enqueue": None}),
    Edit("a round is not counted", "engine", "stream-end", "rounds-bounded", {"count_round": None}),
    Edit("a retry is not counted", "conversation", "retryable-failure", "never-stuck", {"try_again": None}),
    Edit("a retry is never asked for", "conversation", "retry-due", "asked-before-awaited", {"ask": None}),
    Edit(
        "a client that leaves ends its run twice",
        "engine",
        "client-gone",
        "one-terminal",
        {"touch": "done_interrupted"},
    ),
    Edit("a call is said and never run", "conversation", "tool-call", "calls-answered", {"open_slot": None}),
    Edit("a restart forgets open calls", "turn", "restart", "calls-answered", {"skip": None}),
    Edit("text is logged at rest", "interaction", "text", "nothing-outside-a-run", {"not_awaited": "say"}),
    Edit("a call id comes twice", "event_flow", "tool-call", "call-ids-are-new", {"drop_call": "call"}),
    Edit(
        "the lock is not held",
        *("turn", "locked", "the lock is held from understand to execute"),
        change={"hold": None},
    ),
    Edit("a slot has no size", "conversation", "tool-call", "each slot has its size", {"measure": None}),
)
