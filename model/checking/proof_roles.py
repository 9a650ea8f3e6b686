"""What is claimed of each machine, in the names of its own rows: the one place to add a machine's claims.

From these and the rows alone come the proofs (``proofs``), the Promela export (``promela``) and the exploration beside
the core (``refinement``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

from ..core.policies import Policies
from ..declaration.machine import Machine, Row
from ..declaration.operands import Register
from ..machines import collation, conversation, engine, event_flow, interaction, request_cycle, turn
from .alphabet import Letter, alphabet
from .refinement import Refine


@dataclass(frozen=True)
class ProofRoles:
    """A machine with the roles that its states, events, effects and registers play.

    A run is open in the states of ``active``; in those of ``either``, and nowhere else, it depends on data: the guard
    ``closed`` says that none is. ``begins`` and ``ends`` are the effects that begin and end a run.
    """

    machine: Machine
    active: Sequence[str]
    begins: Sequence[str]
    ends: Sequence[str]
    answers: Mapping[str, Sequence[str]]
    """Active state → the events that answer what is awaited there. All other events are the environment's whim."""
    messages: Mapping[str, Sequence[str]]
    """Event → the effects of which each of its rows has exactly one: no message is lost or taken twice (X-7)."""
    either: Sequence[str] = ()
    closed: str | None = None
    queues: Sequence[str] = ()
    """Queues that are first-in-first-out without loss: what leaves is popped in its turn, or an output shows it."""
    drops: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Event → the effects by which its rows discard what waits, as declared."""
    calls: Sequence[str] = ()
    """Registers that hold unanswered calls: a map's positions, a queue, the one under way."""
    makes: Sequence[str] = ()
    """Outputs that make a call."""
    results: Sequence[str] = ()
    """Outputs that answer a call, or remark that nothing did; one without arguments is about the event's own call."""
    empty: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """State → those of ``calls`` that hold none there; where no run is open, none does."""
    single: Mapping[str, str] = field(default_factory=dict[str, str])
    """State → the register that names the only unanswered call there."""
    awaited: Mapping[str, tuple[Sequence[str], Sequence[str]]] = field(
        default_factory=dict[str, tuple[Sequence[str], Sequence[str]]]
    )
    """Answer → the guards that hold, and those that do not, where it is the answer to what is awaited."""
    rounds: Sequence[str] = ()
    """Effects that ask the model again, where the machine declares a bound: no run has them without end."""
    ignores: Sequence[str] = ("ignore",)
    """Effects of rows that only ignore: an event that is ignored answers nothing."""
    echoed: Sequence[str] = ()
    """Registers that number what is asked for: they grow without end, and answers only echo them."""
    tables: Sequence[Mapping[str, Any]] = ({},)
    """The tables that the machine is explored with."""
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict[str, Sequence[Any]])
    """A field → its values in the abstract alphabet, where the terms say too little or too much.

    A register among them stands for its value at the time.
    """
    carries: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Event → its fields that no row reads, but the refinement does."""
    payloads: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Event → what it carries, which neither rows nor refinement read: a test suite needs it in two colours."""
    facets: Sequence[Mapping[str, int]] = ({},)
    """Bounds of registers for a test suite; more than one where a machine is too large to be looked at whole."""
    refine: Refine | None = None


def letters(claims: ProofRoles, tables: Mapping[str, Any], *, coloured: bool = False) -> tuple[Letter, ...]:
    """The abstract alphabet of the machine under *tables*; *coloured* gives ``payloads`` two colours as well."""
    carries = {**claims.carries, **(claims.payloads if coloured else {})}
    return alphabet(claims.machine, tables, claims.values, carries)


def leads_on(claims: ProofRoles, row: Row) -> bool:
    """Whether a row is the answer to what is awaited, and more than ignoring it."""
    ignored = row.source == row.dest and all(name in claims.ignores for name in row.effects)
    return row.event in claims.answers.get(row.source, ()) and not ignored


def _each(**values: Sequence[Any]) -> tuple[dict[str, Any], ...]:
    """All tables of some values."""
    return tuple(dict(zip(values, choice, strict=True)) for choice in product(*values.values()))


_FATES: Final = ("promote", "hold", "drop")

REQUEST_CYCLE: Final = ProofRoles(
    machine=request_cycle.SPEC,
    active=("active",),
    begins=("open_direct", "open_promoted"),
    ends=("close",),
    answers={"active": ("run-stop",)},
    messages={"user-message": ("open_direct", "append_steer", "enqueue")},
    queues=("queue",),
    calls=("calls",),
    results=("append-result", "remark"),
    tables=[
        dict(request_cycle.tables(Policies(**chosen)))
        for chosen in _each(
            while_active=("steer", "followUp"), queue_after_interrupted=_FATES, queue_after_error=_FATES
        )
    ],
    values={"delivery": (None, "steer", "followUp")},
    payloads={"user-message": ("text",)},
)

INTERACTION: Final = ProofRoles(
    machine=interaction.SPEC,
    active=("inferring", "executing"),
    begins=("open", "open_next"),
    ends=("complete", "fail", "interrupt"),
    answers={
        "inferring": ("model-stop", "retryable-failure", "fatal-failure"),
        "executing": ("tool-return", "tool-failure"),
    },
    messages={
        "user": ("open", "keep_steer", "enqueue", "refuse"),
        "steer": ("open", "keep_steer"),
        "follow-up": ("open", "enqueue"),
    },
    queues=("queue", "steers", "calls"),
    drops=dict.fromkeys(("abort", "fatal-failure", "retryable-failure"), ("forget_queue",)),
    calls=("calls", "running"),
    makes=("call",),
    results=("result", "failure", "cut", "skip"),
    empty={"inferring": ("running",)},
    ignores=("ignore", "not_awaited"),
    tables=_each(
        busy=("steer", "followUp", "reject"),
        steer_lands=("after-batch", "after-call"),
        retries=(2,),
        queue_after_error=_FATES,
        queue_after_interrupted=_FATES,
    ),
)

TURN: Final = ProofRoles(
    machine=turn.SPEC,
    active=("receive", "lock", "understand", "decide", "approve", "execute", "respond", "record", "torn"),
    either=("down",),
    closed="closed",
    begins=("open", "next"),
    ends=("finish",),
    answers={
        "receive": ("valid", "invalid"),
        "lock": ("locked", "timeout"),
        "understand": ("loaded", "denied", "timeout"),
        "decide": ("model-stop", "model-failure", "timeout"),
        "approve": ("approved", "refused", "timeout"),
        "execute": ("tool-return", "tool-failure", "timeout"),
        "respond": ("responded",),
        "record": ("recorded",),
        "down": ("restart",),
        "torn": ("restart",),
    },
    rounds=("ask",),
    messages={"inbound": ("open", "keep_steer", "collect", "repeat", "refuse")},
    queues=("queue", "pending"),
    calls=("pending", "call"),
    results=("result", "failure", "refusal", "skip"),
    empty={
        **dict.fromkeys(("receive", "lock", "understand", "respond", "record", "torn"), ("pending", "call")),
        "decide": ("call",),
    },
    tables=[
        {"while_active": "steer", "max_calls": 1, "max_rounds": 2, "token_bound": 1},
        {"while_active": "followUp", "max_calls": 2, "max_rounds": 2, "token_bound": 1},
    ],
    values={"delivery": (None, "steer", "followUp"), "key": (None, "red")},
    carries={"text": ("text",), "reasoning": ("text",), "call": ("tool",)},
    payloads={"inbound": ("text",)},
    facets=(
        {"queue": 2, "steers": 0, "keys": 0, "pending": 0, "seen": 0},
        {"queue": 0, "steers": 2, "keys": 1, "pending": 0, "seen": 0},
        {"queue": 0, "steers": 1, "keys": 0, "pending": 2, "seen": 2},
    ),
    refine=turn.refine,
)

CONVERSATION: Final = ProofRoles(
    # No ``calls``: which calls a slot holds is in the log, not in registers; no ``refine``: it reads the log so far.
    # Both are explored beside the machine's own tests.
    machine=conversation.SPEC,
    active=("awaiting", "executing"),
    begins=("accept",),
    ends=("complete", "interrupt", "cut_off", "give_up", "fail"),
    answers={"awaiting": ("model-stop", "retryable-failure", "fatal-failure"), "executing": ("tool-result",)},
    messages={"user": ("accept", "refuse")},
    queues=("said", "calls"),
    drops=dict.fromkeys(("retryable-failure", "fatal-failure", "cancel", "restart"), ("forget_said", "forget_calls")),
    awaited={
        "model-stop": (["turn_ends"], ["stale"]),
        "retryable-failure": ([], ["stale"]),
        "fatal-failure": ([], ["stale"]),
        "tool-result": (["first"], ["stale"]),
    },
    echoed=("asked",),
    tables=_each(retries=(conversation.RETRIES,), kind=("user", "sub-agent"), limit=(2,)),
    values={"answers": (Register("asked"), -2), "call": (0, 1, 2)},
    payloads={"user": ("text",), "text": ("text",), "tool-call": ("tool",)},
)

ENGINE: Final = ProofRoles(
    machine=engine.SPEC,
    active=("loading", "compacting", "inferring", "executing"),
    begins=("accept",),
    ends=("done_completed", "done_interrupted", "done_llm_error", "done_stream_error", "done_bound"),
    answers={
        "loading": ("session-loaded",),
        "compacting": ("compacted", "compaction-failed"),
        "inferring": ("stream-end", "stream-error", "provider-error"),
        "executing": ("tool-output", "tool-error"),
    },
    messages={"message": ("accept", "refuse")},
    queues=("item", "said"),
    calls=("calls",),
    makes=("call",),
    results=("result",),
    empty=dict.fromkeys(("loading", "compacting", "inferring"), ("calls",)),
    single={"executing": "call"},
    awaited=dict.fromkeys(("tool-output", "tool-error"), ([], ["unseen", "answered"])),
    rounds=("request",),
    echoed=("asked",),
    tables=[
        engine.tables(max_tool_rounds=2, max_history_messages=2, compactor=compactor) for compactor in (True, False)
    ],
    values={"begins": (0, 1)},
    refine=lambda outputs, _: engine.refine(outputs),
)

EVENT_FLOW: Final = ProofRoles(
    # No ``calls``: that those open are those that wait, and one, is a count; the exploration beside the core sees it.
    machine=event_flow.SPEC,
    active=("streaming", "executing"),
    begins=("accept",),
    ends=("end_completed", "end_bound", "end_failed", "end_interrupted"),
    answers={"streaming": ("response-end", "provider-failure"), "executing": ("tool-result", "tool-failure")},
    awaited=dict.fromkeys(("tool-result", "tool-failure"), ([], ["unseen", "answered"])),
    messages={"chat": ("accept", "refuse")},
    queues=("item", "waiting"),
    drops=dict.fromkeys(("provider-failure", "abort"), ("forget_waiting",)),
    rounds=("request",),
    echoed=("asked",),
    tables=[event_flow.tables(max_tool_iterations=2, always_completes=always) for always in (True, False)],
    values={"begins": (0, 1)},
    refine=lambda outputs, _: event_flow.refine(outputs),
)

COLLATION: Final = ProofRoles(
    machine=collation.SPEC,  # it follows what others run: it has no run of its own
    active=(),
    begins=(),
    ends=(),
    answers={},
    messages={},
    values={"index": (0, 1, 2)},
)

PROOF_ROLES: Final[Mapping[str, ProofRoles]] = {
    claims.machine.name: claims
    for claims in (REQUEST_CYCLE, INTERACTION, TURN, CONVERSATION, ENGINE, EVENT_FLOW, COLLATION)
}
"""A machine's name → what is claimed of it."""
