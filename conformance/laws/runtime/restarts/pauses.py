"""The law on a pause that a kill cuts: what waited for a person or the client still does."""

from collections.abc import Collection
from typing import Any, Final, TypeAlias, cast

from turncheck.model.core.stimuli import ApprovalAwaited, Awaited, ClientToolAwaited, Deny, ToolAwaited

from ....observe.killed import Killed
from ....observe.runtime_trace import RuntimeTrace
from ...law import WITNESS, Finding, Judgement
from ...lifecycle.decisions import approved_before_executed, asked_about_once, client_result_once, decisions_honoured
from ..subject import Rerun, relation_law
from .kills import broken_since, worth

Question: TypeAlias = tuple[str, str | None, str]
"""The kind of decision (``ApprovalAwaited`` or ``ClientToolAwaited``), the session, and the call's id."""
_ANSWERS: Final = (approved_before_executed, asked_about_once, decisions_honoured, client_result_once)
"""The laws that answers after a restart keep too."""


@relation_law(
    "L-A7",
    evidence="a kill while calls wait for decisions",
    needs=("approval", "persistence", "policy pauseAfterRestart=kept"),
    since="0.2",
)
def pause_outlives_restart(rerun: Rerun) -> Judgement:
    """A pause outlives a restart: the same calls are pending, and their answers honoured."""
    steps = [step for step in rerun.trace.steps if not step.closing]
    word = tuple(step.stimulus for step in steps)
    if not worth(len(word), rerun.kills) or not _only_questions(steps[-1].answer.awaiting):
        return
    killed = rerun.kills.killed(word, rerun.trace.options)
    if killed is None or not paused(killed.before):
        return
    yield WITNESS
    waited, waits = questions(killed.before.steps[-1].answer.awaiting), questions(killed.start.awaiting)
    running = [one.call_id for one in killed.start.awaiting if isinstance(one, ToolAwaited)]
    if running:
        said = f"a restart executes {running[0]}, about which nobody decided"
        yield Finding(None, said, waited, running, killed.applied)
    elif waits != waited:
        yield Finding(None, "after a restart other calls wait for decisions", waited, waits, killed.applied)
    else:
        yield from broken_since(killed, _ANSWERS)
        yield from _denied(rerun, killed)


def paused(trace: RuntimeTrace) -> bool:
    """Return whether nothing but decisions is awaited at a trace's end."""
    return bool(trace.steps) and _only_questions(trace.steps[-1].answer.awaiting)


def questions(awaiting: Collection[Awaited]) -> list[Question]:
    """Return the decisions among what is awaited, in an order of their own."""
    found = [one for one in awaiting if isinstance(one, ApprovalAwaited | ClientToolAwaited)]
    return sorted((type(one).__name__, one.session_id, one.call_id) for one in found)


def _only_questions(awaiting: Collection[Awaited]) -> bool:
    return bool(awaiting) and all(isinstance(one, ApprovalAwaited | ClientToolAwaited) for one in awaiting)


def _denied(rerun: Rerun, killed: Killed) -> Judgement:
    """Deny the one call that waits, after the restart: it is not executed, and has one result."""
    asked = killed.start.awaiting
    if len(asked) != 1 or not isinstance(asked[0], ApprovalAwaited):
        return
    word, call = tuple(step.stimulus for step in killed.before.steps), asked[0].call_id
    steps = rerun.restarted(word, (Deny(call_id=call, session_id=asked[0].session_id),), rerun.trace.options)
    last = steps[-1]
    executed = [one for one in last.awaiting if isinstance(one, ToolAwaited) and one.call_id == call]
    events = [cast("dict[str, Any]", event) for event in last.events if isinstance(event, dict)]
    results = [one for one in events if (one.get("type"), one.get("callId")) == ("tool-result", call)]
    if executed or last.refused is not None or len(results) != 1:
        said = f"after a restart {call} was denied, and has not one result, or is executed"
        yield Finding(None, said, "one result", results or last.refused or executed, killed.applied)
