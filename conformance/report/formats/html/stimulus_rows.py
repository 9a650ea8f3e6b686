"""Stimuli as rows of a sequence picture, where the log alone does not show them."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from turncheck.model.core.stimuli import (
    ClientResult,
    Deny,
    ModelOutput,
    Step,
    Stimulus,
    Together,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.rendering.printable import shown
from turncheck.model.rendering.scene import Arrow, Band, Row
from turncheck.model.rendering.words import as_object, of_stimulus

from ....observe.runtime_trace import flat
from ....verify.outcome.results import WordCounterexample

_ECHOES: Final[Mapping[type, str]] = {
    User: "user-message",
    ModelOutput: "agent-output",
    ToolReturn: "tool-result",
    ToolFail: "tool-result",
    ClientResult: "tool-result",
    Deny: "tool-result",
}
"""A stimulus → the event that shows it."""


def rows_of_word(found: WordCounterexample) -> Mapping[int, Sequence[Row]]:
    """Map each position of the log to the rows before it: the stimuli that no event of their own step shows."""
    rows: defaultdict[int, list[Row]] = defaultdict(list)
    ends = itertools.accumulate((len(step.events) for step in found.steps), initial=0)
    for place, (at, stimulus, step) in enumerate(zip(ends, found.applied, found.steps, strict=False)):
        if place == len(found.word.stimuli):
            rows[at].append(_across("from here on the environment answers what is awaited"))
        rows[at] += _rows(stimulus, step)
    return rows


def _rows(stimulus: Stimulus, step: Step) -> Iterator[Row]:
    events = [as_object(event) for event in step.events]
    ids = [event.get("id") for event in events]
    echoes = Counter(str(event.get("type")) for event in events)
    refused = "" if step.refused is None else f", refused: {step.refused.why}"
    if isinstance(stimulus, Together):
        yield _across(of_stimulus(stimulus).what)
    one: Stimulus
    for one in flat(stimulus):
        echo = _ECHOES.get(type(one), "")
        told = not refused and echoes[echo] > 0 and (not isinstance(one, User) or one.id in ids or None in ids)
        echoes[echo] -= told
        if not told:
            yield _row(one, refused)


def _row(stimulus: Stimulus, refused: str) -> Row:
    told = of_stimulus(stimulus)
    caption = ", ".join(filter(None, [told.what, told.how])) + refused
    if told.source == told.dest:
        return _across(caption)
    return Arrow(told.source, told.dest, caption, shown(told.text), "asked")


def _across(caption: str) -> Band:
    return Band(caption, stroke="other")
