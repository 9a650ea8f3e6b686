"""The law on writes that fail."""

from collections.abc import Sequence
from zlib import crc32

from msgspec import to_builtins
from msgspec.json import encode

from turncheck.model.core.stimuli import Stimulus, StoreFail

from ....observe.runtime_trace import Applied, RuntimeTrace
from ...law import WITNESS, Finding, Judgement
from ..subject import Rerun, relation_law
from .kept import lost
from .kills import held, texts, worth
from .served import unserved


@relation_law("L-R5", evidence="a write that fails", needs=("persistence", "model-input", "store-faults"), since="0.2")
def store_faults(rerun: Rerun) -> Judgement:
    """A write that fails ends its run with error, or is tried again, as declared; nothing acknowledged is lost."""
    word = tuple(step.stimulus for step in rerun.trace.steps if not step.closing)
    options, sent = rerun.trace.options, texts(rerun)
    right = rerun.kills.unkilled(word, options) if worth(len(word), rerun.kills) else None
    if right is None:
        return
    for place in _places(word, every=rerun.kills.in_process):
        failing = (*word[:place], StoreFail(times=1), *word[place:])
        whole = rerun.kills.unkilled(failing, options, spare=True)  # where no write came until then, its own fails
        yield WITNESS
        if whole is None:
            said = "after a write that failed the next message is not served"
            yield Finding(None, said, "a request", None, rerun.second())
            return
        yield from _ended(whole, right, held(rerun, "storeFails"))
        killed = rerun.kills.killed(failing, options)
        if killed is not None:
            yield from unserved(killed, whole, sent)
            yield from lost(killed, whole, rerun.trace.policies, sent)


def _places(word: Sequence[Stimulus], *, every: bool) -> Sequence[int]:
    """Return the places at which a write fails: *every* one, or one that the word decides."""
    if every:
        return range(len(word))
    return [crc32(encode(to_builtins(tuple(word)))) % len(word)]


def _ended(whole: RuntimeTrace, right: RuntimeTrace, declared: str | None) -> Judgement:
    """Compare the run with a write that failed with the one without it."""
    again = tuple(Applied(step.stimulus, step.answer) for step in whole.steps)
    if not _unanswered(right):
        for call in _unanswered(whole):
            yield Finding(None, "a write failed, and a call stays unanswered", "a result", call, again)
    if declared == "retry" and _errors(whole) > _errors(right):
        said = "a write that failed ended its run, which declares to try again"
        yield Finding(None, said, "retry", "error", again)
    if whole.requests[-1].input is None:
        return
    shown, usual = (set(trace.shown(trace.requests[-1])) for trace in (whole, right))
    for name, cycle in whole.message_cycles.items():
        completed = cycle >= 0 and whole.cycles[cycle].reason == "completed"
        if completed and name in usual - shown:
            said = f"a write failed, and the message {name} of a completed run is gone"
            yield Finding(None, said, name, sorted(shown), again)


def _errors(trace: RuntimeTrace) -> int:
    return sum(cycle.reason == "error" for cycle in trace.cycles)


def _unanswered(trace: RuntimeTrace) -> list[str]:
    found = [one for one in trace.projection.anomalies if one.kind == "unanswered-call"]
    return [str(trace.log[one.at].get("callId")) for one in found]
