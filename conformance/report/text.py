"""Counterexamples and coverage as lines of text.

Each function takes ``paint(text, **styles)``, which spells an implementation's text and, on a terminal, colours it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, TypeAlias, cast

import msgspec

from turncheck.model.clauses import clause_text
from turncheck.model.core.stimuli import Step, Stimulus, Word
from turncheck.model.rendering.printable import Printable, fill, joined
from turncheck.model.rendering.words import awaited_line, event_line, short

from ..generation.flows import frames_of
from ..verify.outcome.covered import Covered
from ..verify.outcome.results import (
    BREAKS,
    AnyCounterexample,
    Counterexample,
    Crash,
    FlowCounterexample,
    Input,
    WordCounterexample,
)

Paint: TypeAlias = Callable[..., Printable]

COLUMNS: Final = ("to be shown", "shown")
WIDTH: Final = 48
"""Characters of an entry of a history in a column of its own: two fit into a line."""
LONG: Final = 4096
"""Characters of a string that a report shows as it is."""


def counterexample_lines(found: AnyCounterexample, paint: Paint, *, clauses: bool = True) -> Iterator[Printable]:
    """Write *found*: its log or word, the difference, and the text of its clauses unless these stand elsewhere."""
    yield fill("{}: {}", paint("✗ " + found.law, fg="red", bold=True), paint(found.message))
    if found.variant is not None:
        yield fill("    variant: {}", paint(found.variant))
    match found:
        case Counterexample():
            yield from _log_lines(found.input, found.position, paint)
        case FlowCounterexample():
            yield from _event_lines(found.frames, 0, found.position, paint)
        case WordCounterexample():
            yield from _word_lines(found, paint)
    yield from history_lines(found, paint) or difference_lines(found.expected, found.observed, paint)
    for clause in found.clauses if clauses else ():
        yield fill("  {}{}", paint(f"{clause:10}", dim=True), clause_text(clause))


def crash_lines(crash: Crash, paint: Paint) -> Iterator[Printable]:
    """Write how the target broke, and the smallest case on which it did, where that is known."""
    yield fill("{}: {}", paint("✗ " + BREAKS, fg="red", bold=True), paint(crash.message))
    if crash.variant is not None:
        yield fill("    variant: {}", paint(crash.variant))
    if crash.word is not None:
        yield from _options_lines(crash.word, paint)
        yield from (_applied_line(stimulus, paint) for stimulus in crash.word.stimuli)
    if crash.log is not None:
        yield from _log_lines(crash.log, None, paint)
    if crash.flow is not None:
        yield from _event_lines(frames_of(crash.flow), 0, None, paint)


def history_lines(found: AnyCounterexample, paint: Paint) -> list[Printable]:
    """Write what the model had to be shown and what it was shown side by side, the first difference marked.

    Nothing for the counterexample of a law that says nothing of histories.
    """
    if found.law != "history-whole":
        return []
    pairs = [*zip_longest(map(str, found.expected or ()), map(str, found.observed or ()), fillvalue="")]
    first = next((place for place, (right, shown) in enumerate(pairs) if right != shown), len(pairs))
    width = min(max([len(COLUMNS[0]), *(len(right) for right, _ in pairs)]), WIDTH)
    told = [fill("      {}  {}", paint(COLUMNS[0].ljust(width), fg="green"), paint(COLUMNS[1], fg="red"))]
    for place, (right, shown) in enumerate(pairs):
        mark = paint("▶" if place == first else " ", fg="red")
        cells = (paint(_cell(right).ljust(width)), paint(_cell(shown))) if shown else (paint(_cell(right)),)
        told.append(fill("    {} {}", mark, joined("  ", cells)))
    return told


def _cell(entry: str) -> str:
    flat = " ".join(entry.split())
    return flat if len(flat) <= WIDTH else f"{flat[: WIDTH - 1]}…"


def difference_lines(expected: Any, observed: Any, paint: Paint) -> Iterator[Printable]:
    """Write the parts in which two values differ; nothing where both are None."""
    if expected is not None or observed is not None:
        expected, observed = _difference(expected, observed)
        yield fill("  {}  {}", paint("expected", fg="green"), paint(short(expected)))
        yield fill("  {}  {}", paint("observed", fg="red"), paint(short(observed)))


def inferred_lines(inferred: Mapping[str, str | int]) -> Iterator[Printable]:
    """Write what a profile leaves out of a history's policies, and how to declare it."""
    for name, value in inferred.items():
        template = 'inferred: {} is {}; declare it in the profile\'s policies: "{}": {}'
        yield fill(template, name, value, name, json.dumps(value))


def coverage_lines(coverage: Covered) -> Iterator[Printable]:
    """Write the shares of the model that were exercised, and what was missed."""
    for share in coverage.get("shares", ()):
        yield fill("covered by the {}: {} {}", share.role, share.what, share)
        missed = share.missed if share.what == "rows" else filter(None, [", ".join(share.missed)])
        for name in missed:
            yield fill("  not taken: {}", name)
    if suite := coverage.get("suite"):
        size = f"{suite.words:,} words of {suite.stimuli:,} stimuli"
        yield fill("suite {}, k={}: {}, for the {} states of {}", suite.method, suite.k, size, suite.n, suite.reference)
        yield fill("guarantee:" if suite.complete else "no guarantee: {}", suite.why)
        yield from (fill("  {}", one) for one in suite.guarantee if suite.complete)


def _log_lines(given: Input, position: int | None, paint: Paint) -> Iterator[Printable]:
    yield from _event_lines(given.events, 0, position, paint)
    policies = given.policies
    if given.events:
        fates = f"interrupted {policies.queue_after_interrupted}, error {policies.queue_after_error}"
        yield fill("         policies: while active {}, queue after {}", policies.while_active, fates)


def _event_lines(events: Sequence[Any], first: int, marked: int | None, paint: Paint) -> Iterator[Printable]:
    for at, event in enumerate(events, first):
        mark = paint("▶", fg="red") if at == marked else " "
        yield fill("  {} {:>3}  {}", mark, at, paint(event_line(event)))


def _word_lines(found: WordCounterexample, paint: Paint) -> Iterator[Printable]:
    """Write each stimulus, the events that followed it, and what was awaited then."""
    yield from _options_lines(found.word, paint)
    at = 0
    for place, (stimulus, step) in enumerate(zip(found.applied, found.steps, strict=True)):
        closing = " (closing)" if place >= len(found.word.stimuli) else ""
        yield fill("{}{}", _applied_line(stimulus, paint), closing)
        yield from _event_lines(step.events, at, found.position, paint)
        at += len(step.events)
        if found.law != BREAKS:  # of what it answered before it broke, the file says nothing
            yield from _answer_lines(step, paint)
    if found.again:
        yield fill("    what the law applied then, until it broke:")
    at = 0
    for one in found.again:
        if one.restarted:
            yield fill("  {} the process is killed, and started again", paint("→", fg="cyan"))
        yield _applied_line(one.stimulus, paint)
        yield from _event_lines(one.step.events, at, None, paint)
        at += len(one.step.events)
        yield from _answer_lines(one.step, paint)


def _options_lines(word: Word, paint: Paint) -> Iterator[Printable]:
    options = msgspec.to_builtins(word.options)
    options.pop("tools", None)
    if options:
        yield fill("    options: {}", paint(short(options)))


def _applied_line(stimulus: Stimulus, paint: Paint) -> Printable:
    fields = msgspec.to_builtins(stimulus)
    applied = event_line({"type": fields.pop("kind"), **fields})
    return fill("  {} {}", paint("→", fg="cyan"), paint(applied, bold=True))


def _answer_lines(step: Step, paint: Paint) -> Iterator[Printable]:
    if step.refused is not None:
        yield fill("         refused: {} {}", step.refused.why, paint(step.refused.message))
    awaited = ", ".join(map(awaited_line, step.awaiting))
    yield paint(f"         awaits {awaited or 'nothing'}", dim=True)


def _difference(expected: Any, observed: Any) -> tuple[Any, Any]:
    """Narrow two values to the parts that differ: equal beginnings and ends of two lists are left out."""
    while True:
        match expected, observed:
            case [first, *rest], [other, *others] if first == other:
                expected, observed = rest, others
            case [*rest, last], [*others, other] if last == other:
                expected, observed = rest, others
            case [only], [other]:
                return _difference(only, other)
            case dict(), dict():
                left, right = cast(dict[str, Any], expected), cast(dict[str, Any], observed)
                keys = [key for key in {**left, **right} if left.get(key) != right.get(key)]
                return {key: left.get(key) for key in keys}, {key: right.get(key) for key in keys}
            case _:
                return expected, observed
