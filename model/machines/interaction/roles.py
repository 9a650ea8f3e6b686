"""The roles of ``interaction``'s states, events, effects and registers: what provers and explorers take from it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, get_args

from ...core.policies import Busy, Fate, SteerLands
from ...declaration.proof_roles import CallRoles, DeliveryRole, Ending, MessageRoles, ProofRoles, RunRoles, every_choice
from .machine import SPEC

_ALWAYS: Final[Mapping[str, Sequence[Any]]] = {
    "busy": get_args(Busy),
    "steer_lands": get_args(SteerLands),
    "retries": (2,),
    "aborted_response": ("keep",),  # what a history holds decides nothing
    "failed_response": ("keep",),
    "unread": ("keep",),
    "compaction_retries": (1,),
    "compaction_fails": ("keep",),
}

ROLES: Final = ProofRoles(
    machine=SPEC,
    run=RunRoles(
        active=("inferring", "executing", "paused"),
        begins=("open", "open_next"),
        ends=("complete", "fail", "interrupt"),
        answers={
            "inferring": ("model-stop", "retryable-failure", "fatal-failure"),
            "executing": ("tool-return", "tool-failure"),
            "paused": ("approve", "deny", "client-result"),
            "compacting": ("model-stop", "retryable-failure", "fatal-failure"),
        },
        ignores=("ignore", "not_awaited"),
        reasons={
            "complete": [Ending(("model-stop",), (), ("called", "undecided", "steered"))],
            "fail": [Ending(("fatal-failure",)), Ending(("retryable-failure",), (), ("retries_left",))],
            "interrupt": [Ending(("abort",)), Ending(("leave",), ("leaving_aborts",))],
        },
        logged=("output", "call", "result", "failure", "deny", "cut", "skip", "pause", "resume"),
        asks={"inferring": ("request",), "executing": ("start",), "compacting": ("summarise",)},
        numbers=("running",),
    ),
    messages=MessageRoles(
        taken={
            "user": ("open", "keep_steer", "enqueue", "refuse"),
            "steer": ("open", "keep_steer"),
            "follow-up": ("open", "enqueue"),
        },
        queues=("queue", "steers", "calls", "gated"),
        drops=dict.fromkeys(("abort", "leave", "fatal-failure", "retryable-failure"), ("forget_queue",)),
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
        registers=("calls", "gated", "running"),
        makes=("call",),
        results=("result", "failure", "deny", "cut", "skip"),
        empty={"inferring": ("running",)},
    ),
    # The fates of a queue after an error and after an abort are independent, and a steer's while it pauses is of both;
    # of what a client's leaving does, only the rows of an abort depend.
    tables=(
        *every_choice(
            **_ALWAYS,
            queue_after_error=get_args(Fate),
            queue_after_interrupted=("promote",),
            steer_while_paused=("waits",),
            disconnect=("ignored",),
        ),
        *every_choice(
            **_ALWAYS,
            queue_after_error=("promote",),
            queue_after_interrupted=("hold", "drop", "join"),
            steer_while_paused=("waits",),
            disconnect=("ignored",),
        ),
        *every_choice(
            **_ALWAYS,
            queue_after_error=("promote",),
            queue_after_interrupted=("promote",),
            steer_while_paused=("instead",),
            disconnect=("ignored",),
        ),
        *every_choice(
            **{**_ALWAYS, "busy": ("followUp",), "steer_lands": ("after-batch",)},
            queue_after_error=("promote",),
            queue_after_interrupted=get_args(Fate),
            steer_while_paused=("waits",),
            disconnect=("abort",),
        ),
    ),
    parts={"run": ("idle", "inferring", "executing"), "decisions": ("paused",), "compaction": ("compacting",)},
    asides={"clients": ("join", "leave")},
)
