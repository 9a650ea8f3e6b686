"""Laws on compactions: a summary that takes the place of what the model was shown until then."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from turncheck.model.core.events import RunStop, UserMessage
from turncheck.model.core.history import CUT, Summarised
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Compact,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Shown,
    Text,
    TimerAwaited,
)

from ...observe.compactions import for_compaction
from ...observe.fields import input_entries
from ...observe.runtime_trace import ObservedStep, RuntimeTrace, flat
from ..law import WITNESS, Finding, Judgement
from ..runtime.requests import View, difference, line, views, well_formed
from ..runtime.subject import run_law

_FAILS: Final = "compactionFails"
"""The policy that says what becomes of the history where no summary can be had."""
_RETRIES: Final = "compactionRetries"
"""The policy that says how often a compaction is tried again."""
_BOUND: Final = "maxHistoryMessages"
"""The policy that says how many entries a history may have before it is compacted."""

End: TypeAlias = Literal["done", "failed", "aborted", "given-up", "open"]
"""The end of a request for a summary: answered, by a failure of the model, an abort, anything else, or not yet."""


class Compaction(NamedTuple):
    """One request for a summary: its position, what the model said, how it ended, and in which step."""

    at: int
    text: str
    end: End
    step: ObservedStep | None
    begun: ObservedStep

    def over(self, at: int) -> bool:
        """Return whether it had ended before a position."""
        return self.step is not None and self.step.first <= at


_law: Final = partial(run_law, since="0.2", overlapping="never")


@_law("L-C1", evidence="a request after a compaction", needs=("compaction", "tools", "model-input"))
def compacted_well_formed(trace: RuntimeTrace) -> Judgement:
    """After a compaction every request shows each result with its call, and each call with its result."""
    first = min((one.step.end for one in compactions(trace) if one.step is not None), default=None)
    for request in trace.requests:
        if first is not None and request.at >= first - 1 and request.input is not None:
            yield WITNESS
            yield from (one for one in well_formed(request.input, request.at) if isinstance(one, Finding))


@_law("L-C2", evidence="a request after a summary", needs=("compaction", "model-input"))
def compaction_keeps_the_rest(trace: RuntimeTrace) -> Judgement:
    """A summary stands for what was compacted; what was not is unchanged and in order, the message just sent above all.

    How much is compacted is the runtime's choice, up to what the model had been shown, or said, when it was asked for
    the summary. So a message that waits, or was just sent, is no part of it.
    """
    yield from _left(trace, ("done", "given-up"))


@_law("L-C2", evidence="a request after a second summary", needs=("compaction", "model-input"))
def earlier_summary_kept(trace: RuntimeTrace) -> Judgement:
    """The summary of a compaction is shown to the model that is asked for the next one, or stays beside that one.

    Else it was not compacted, and is gone with all that it stood for. It is looked for in each request of the next
    compaction, which may ask for its summary in parts, in those of further compactions, and in the request of the run
    behind these. Nothing is judged where the last request of a run before that compaction does not show it, which was
    lost earlier then, or where a later summary says the same.
    """
    every = compactions(trace)
    earlier: Compaction | None = None
    for one in (each for each in every if not any(again.begun is each.step for again in every)):
        if earlier is not None and one.end == "done" and one.step is not None:
            yield from _summary_kept(trace, earlier, one, [each for each in every if each.at > earlier.at])
        earlier = one if one.end == "done" and one.text.strip() else None


@_law("L-C3", evidence="a compaction that failed", needs=("compaction", "model-failure"))
def failed_compaction_harmless(trace: RuntimeTrace) -> Judgement:
    """A compaction that fails ends no run, is tried again no more than declared, and leaves the history as declared."""
    most = 1 + int(trace.policies.get(_RETRIES, 0))
    tries, last = 0, None
    for one in compactions(trace):
        after = one.begun.summarises is not None or isinstance(one.begun.stimulus, Advance)
        again = after and last is not None and last.end == "failed"
        tries = tries + 1 if again else 1
        if again and tries > most:
            yield Finding(one.at, "a compaction that failed is tried again more often than declared", most, tries)
        last = one
        if one.end != "failed" or one.step is None:
            continue
        yield WITNESS
        for at in range(one.step.first, one.step.end):
            if isinstance(trace.events[at], RunStop):
                yield Finding(at, "a run ends because a compaction failed", "it goes on", trace.log[at])
    if "model-input" in trace.capabilities:
        yield from (one for one in _left(trace, ("failed",)) if isinstance(one, Finding))


@_law("L-C4", evidence="a compaction that the user asked for", needs=("compaction",))
def compaction_is_no_run(trace: RuntimeTrace) -> Judgement:
    """A compaction is no run: it logs no message and no end, and what it asks the model for is marked."""
    for step in trace.steps:
        if not (isinstance(step.stimulus, Compact) and step.took_place) and step.summarises is None:
            continue
        yield WITNESS
        for at in range(step.first, step.end):
            event = trace.events[at]
            if isinstance(event, UserMessage) and event.id not in trace.sent:
                yield Finding(at, "a compaction logs a message that nobody sent", None, trace.log[at])
            elif isinstance(event, RunStop) and not step.was_active:
                yield Finding(at, "a compaction logs the end of a run", None, trace.log[at])
        if isinstance(step.stimulus, Compact) and not step.was_active:
            for request in (one for one in trace.requests if step.first <= one.at < step.end):
                yield Finding(request.at, "what is asked for a compaction is not marked", "compaction", None)


@_law("L-C5", evidence="a request after an abort amid a compaction", needs=("compaction", "abort", "model-input"))
def abort_amid_compaction(trace: RuntimeTrace) -> Judgement:
    """An abort amid a compaction leaves the history as it was before, or as it is after."""
    yield from _left(trace, ("aborted",))


def compactions(trace: RuntimeTrace) -> list[Compaction]:
    """Return the requests for summaries, in the log's order."""
    return [
        _followed(trace, str(trace.log[at].get("requestId")), at, step)
        for step in trace.steps
        for at in range(step.first, step.end)
        if for_compaction(trace.log[at])
    ]


def _followed(trace: RuntimeTrace, name: str, at: int, begun: ObservedStep) -> Compaction:
    """Follow the request *name* to its end."""
    text = ""
    for step in (one for one in trace.steps if one.first >= begun.end and one is not begun):
        stimulus = step.stimulus
        if step.summarises == name:
            if isinstance(stimulus, ModelOutput) and isinstance(stimulus.item, Text):
                text += stimulus.item.text
            elif isinstance(stimulus, ModelStop | ModelFail):
                return Compaction(at, text, "done" if isinstance(stimulus, ModelStop) else "failed", step, begun)
        waits = [one.request_id for one in step.answer.awaiting if isinstance(one, ModelAwaited)]
        if name not in waits:
            aborted = any(isinstance(one, Abort) for one in flat(stimulus))
            return Compaction(at, text, "aborted" if aborted else "given-up", step, begun)
    return Compaction(at, text, "open", None, begun)


def _left(trace: RuntimeTrace, ends: Sequence[End]) -> Judgement:
    """Yield what is wrong with the histories that follow a compaction with one of *ends*, until the next one."""
    every = compactions(trace)
    if not any(one.end in ends for one in every):  # of most words: the histories need not be made then
        return
    known: list[Summarised] = [Summarised()]
    taken = 0
    for view in views(trace.of_runs, trace.policies):
        at = view.asked.request.at
        over = [one for one in every if one.over(at)]
        for one in (each for each in over[taken:] if not any(again.begun is each.step for again in every)):
            known = _after(known, one, view.asked.summarised.get(one.at, 0), trace)
        taken = len(over)
        if not over or not _judgeable(over):
            continue
        fits = [Summarised(one.summary, gone, gone) for one in known for gone in _fitting(view, one, trace)]
        if over[-1].end in ends:
            yield WITNESS
            if not fits:
                yield _finding(view, known, over[-1])
        if not fits:
            return
        known = fits


def _summary_kept(trace: RuntimeTrace, earlier: Compaction, later: Compaction, rest: Sequence[Compaction]) -> Judgement:
    """Judge whether *earlier*'s summary is shown where *later* and the *rest* ask for theirs, or behind these."""
    before = [one for one in trace.requests if earlier.over(one.at) and one.at < rest[0].at]
    behind = next((one for one in trace.requests if later.over(one.at)), None)
    if not before or behind is None or not _shows(before[-1].input, earlier.text):
        return
    between = [one for one in rest if one.at < behind.at]
    inputs = [*(input_entries(trace.log[one.at].get("input")) for one in between), behind.input]
    if None in inputs or any(_says(one.text, earlier.text) for one in between):
        return
    yield WITNESS
    if not any(_shows(one, earlier.text) for one in inputs):
        told = "a summary is gone that the model was not shown when it was asked for the next one"
        yield Finding(later.at, told, earlier.text, trace.log[later.at].get("input"))


def _shows(entries: Sequence[Mapping[str, Any]] | None, summary: str) -> bool:
    return any(_says(str(entry.get("text")), summary) for entry in entries or ())


def _after(known: list[Summarised], one: Compaction, there: int, trace: RuntimeTrace) -> list[Summarised]:
    """Return what may be left of the history after one compaction more, which had *there* entries before it."""
    least = min(before.least for before in known)
    summed = Summarised(one.text, least, there)
    if one.end == "done":
        return [summed]
    if one.end == "failed":
        fate, bounded = trace.policies.get(_FAILS), _BOUND in trace.policies
        if fate == "keep":
            return known
        dropped = Summarised(None, max(least, min(there, 1)), there)
        # A history that is within its bound may stay; so may one that is to be summed up again later.
        later = one.step is not None and any(isinstance(each, TimerAwaited) for each in one.step.answer.awaiting)
        return [dropped] if fate == "drop-prefix" and not bounded and not later else [*known, dropped]
    return [*known, summed] if one.end == "aborted" and one.text else known


def _judgeable(over: Sequence[Compaction]) -> bool:
    """Return whether each summary has a text: nobody can say what an empty one stands for."""
    return not any(one.end == "done" and not one.text.strip() for one in over)


def _fitting(view: View, summarised: Summarised, trace: RuntimeTrace) -> Iterator[int]:
    """Yield how many entries may be gone, where what is shown is what is left then."""
    found = view.found if summarised.summary is None else _behind(view.found, summarised.summary)
    for gone, left in summarised.left(view.asked.history) if found is not None else ():
        if difference(view.arranged(left), found or (), trace.policies.get(CUT)) is None:
            yield gone


def _behind(found: Sequence[Shown], summary: str) -> Sequence[Shown] | None:
    """Return what is shown behind the *summary*, None where that does not stand first."""
    first = found[0] if found else None
    if first is None or first.call_id is not None or not _says(first.text, summary):
        return None
    return found if first.ids else found[1:]  # joined with a message: that one is known by its id


def _says(text: str | None, summary: str) -> bool:
    return "".join(summary.split()) in "".join((text or "").split())


def _finding(view: View, known: Sequence[Summarised], last: Compaction) -> Finding:
    """The first place where what is shown is none of what may be left."""
    told: Final = {
        "done": "after a compaction",
        "failed": "after a compaction that failed",
        "aborted": "after an abort amid a compaction",
    }
    whole = view.arranged(view.asked.history)
    right = [*map(line, whole)]
    if known[0].summary is not None:
        right = [f"a summary: {known[0].summary}", *right[-max(len(view.found) - 1, 0) :]]
    when = told.get(last.end, "after a compaction that was given up")
    return Finding(
        view.asked.request.at,
        f"{when} the model is shown neither the whole history nor a summary and all that follows",
        right,
        [*map(line, view.found)],
    )
