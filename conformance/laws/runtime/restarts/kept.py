"""Laws on what outlives a kill: ended runs, accepted messages, and a session that is idle."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile
from typing import Any, Final, cast

from turncheck.model.core.stimuli import Compact, TimerAwaited

from ....observe.compactions import for_compaction, summarises
from ....observe.fields import input_entries
from ....observe.killed import PROBE, Killed
from ....observe.runtime_trace import RuntimeTrace
from ...law import WITNESS, Finding, Judgement
from ..subject import Rerun, relation_law
from .kills import Entry, asked, kills, names, plain, texts, worth

_COUNTED: Final = ("requestId", "responseId", "seq", "timestamp", "ids")
"""Fields that a process may count anew, or not know any more."""
_COMPACTED: Final = "maxHistoryMessages"


@relation_law(
    *("L-R1", "L-R3"), evidence="a kill after something was accepted", needs=("persistence", "model-input"), since="0.2"
)
def restart_keeps(rerun: Rerun) -> Judgement:
    """After a kill at any point ended runs are there, once and whole, and each accepted message was served or ended."""
    for killed, whole in kills(rerun):
        if killed.before.messages and not _condensed(killed, whole, rerun.trace.policies):
            yield WITNESS
            yield from lost(killed, whole, rerun.trace.policies, texts(rerun))


def lost(killed: Killed, whole: RuntimeTrace, policies: Mapping[str, Any], sent: Mapping[str, str]) -> Judgement:
    """Yield what of an ended run is missing, changed or there twice, and each accepted message that is gone."""
    expected, observed = asked(whole.requests, sent), asked(killed.requests, sent)
    if expected is None or observed is None or _condensed(killed, whole, policies):
        return  # another law judges that nothing is asked, and what a compaction leaves
    before, applied = killed.before, killed.applied
    read = {name for request in before.requests for name in before.shown(request)}
    ended = {name for name, cycle in before.message_cycles.items() if name in read and _over(before, cycle)}
    kept = [*map(plain, takewhile(lambda entry: not {*names(entry, sent)} - ended, expected))]
    there = [*map(plain, observed)]
    if there[: len(kept)] != kept:
        yield Finding(None, "after a restart an ended run is not what it was", kept, there, applied)
    for name in _twice(observed, sent, Counter(_named(expected, sent)), read | {PROBE.id}):
        yield Finding(None, f"after a restart the model is shown {name} twice", kept, there, applied)
    shown = {name for request in killed.requests for entry in request.input or () for name in names(entry, sent)}
    for name, cycle in before.message_cycles.items():
        gone = name not in shown and not _over(before, cycle) and before.messages[name] not in before.projection.dropped
        if gone and not _excused(killed, name, cycle, policies):
            yield Finding(
                None, f"after a restart the message {name} is lost", "a request that shows it", there, applied
            )


@relation_law("L-R6", evidence="two kills while idle", needs=("persistence",), since="0.2")
def idle_restart_changes_nothing(rerun: Rerun) -> Judgement:
    """A restart while no run is open tells nothing, awaits nothing, and the next message is served as without it."""
    steps = [step for step in rerun.trace.steps if not step.closing]
    if not worth(len(steps), rerun.kills) or steps[-1].active or not any(step.active for step in steps):
        return
    if any(map(summarises, steps[-1].answer.awaiting)):
        return
    word = tuple(step.stimulus for step in steps)
    killed = rerun.kills.killed(word, rerun.trace.options, times=2)
    whole = rerun.kills.unkilled(word, rerun.trace.options)
    if killed is None or whole is None or killed.probe is None:
        return
    yield WITNESS
    awaited = [one for one in killed.start.awaiting if not isinstance(one, TimerAwaited)]
    if killed.told or awaited:
        yield Finding(None, "a restart while idle is not silent", [], killed.told or awaited, killed.applied)
    probe = next(step for step in whole.steps if step.stimulus == PROBE)
    one, two = _events(probe.answer.events), _events(killed.probe.answer.events)
    if one != two:
        yield Finding(None, "a restart while idle changes what follows", one, two, killed.applied)


def _condensed(killed: Killed, whole: RuntimeTrace, policies: Mapping[str, Any]) -> bool:
    """Return whether a history may be shorter than what was said: by its bound, or by a compaction, cut or not."""
    return _COMPACTED in policies or isinstance(killed.amid, Compact) or any(map(for_compaction, whole.log))


def _over(trace: RuntimeTrace, cycle: int) -> bool:
    return cycle >= 0 and trace.cycles[cycle].stop is not None


def _excused(killed: Killed, name: str, cycle: int, policies: Mapping[str, Any]) -> bool:
    """Return whether a message that is shown no more may be gone: its run was told to be over, or a policy drops it."""
    if cycle < 0:
        return "drop" in {policies.get("queueAfterInterrupted"), policies.get("queueAfterError")}
    if killed.amid is not None and (killed.fate, policies.get("openTurnAfterRestart")) != ("untold", "untold"):
        return True  # its end was told, perhaps in the answer that was lost
    if killed.fate != "untold":
        return _over(killed.after, cycle)
    return policies.get("unread") == "drop" and killed.before.messages[name] != killed.before.cycles[cycle].root


def _named(entries: Collection[Entry], sent: Mapping[str, str]) -> Iterator[str]:
    return (name for entry in entries for name in names(entry, sent))


def _twice(
    entries: Collection[Entry], sent: Mapping[str, str], allowed: Mapping[str, int], among: Collection[str]
) -> Iterator[str]:
    """Yield the messages *among* those that are shown more often than *allowed*, and more than once."""
    for name, count in Counter(_named(entries, sent)).items():
        if name in among and count > max(allowed.get(name, 0), 1):
            yield name


def _events(events: Collection[Any]) -> list[dict[str, Any]]:
    """Return the events of a step without native ones, and without what a process counts."""
    found = [cast("dict[str, Any]", event) for event in events if isinstance(event, dict)]
    return [
        {key: _entries(value) if key == "input" else value for key, value in event.items() if key not in _COUNTED}
        for event in found
        if event.get("type") != "native"
    ]


def _entries(given: Any) -> list[dict[str, Any]]:
    return [*map(plain, input_entries(given) or ())]
