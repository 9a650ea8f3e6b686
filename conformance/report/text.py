"""A counterexample, and what a run exercised, as lines of text: the log, what was expected, what came, the clauses.

Each function takes ``paint``, which makes what an implementation wrote fit to be shown, and colours it where that is
wanted: ``paint(text, **styles)``.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias, cast

import msgspec

from turncheck.model.clauses import clause_text
from turncheck.model.core.stimuli import Awaited, ModelAwaited, TimerAwaited, ToolAwaited

from ..verify.results import AnyCounterexample, Counterexample, Covered, SuiteRun, WordCounterexample

Paint: TypeAlias = Callable[..., str]

_WIDE: Final = 160
"""Characters of a value that are shown: a screen line and a half."""


def counterexample_lines(found: AnyCounterexample, paint: Paint, *, clauses: bool = True) -> Iterator[str]:
    """*found* for people, with the text of its clauses unless these stand elsewhere."""
    yield f"{paint('✗ ' + found.law, fg='red', bold=True)}: {paint(found.message)}"
    yield from _log_lines(found, paint) if isinstance(found, Counterexample) else _word_lines(found, paint)
    yield from difference_lines(found.expected, found.observed, paint)
    for clause in found.clauses if clauses else ():
        yield f"  {paint(f'{clause:10}', dim=True)}{clause_text(clause)}"


def difference_lines(expected: Any, observed: Any, paint: Paint) -> Iterator[str]:
    """Where two values differ; nothing where both are None."""
    if expected is not None or observed is not None:
        expected, observed = _difference(expected, observed)
        yield f"  {paint('expected', fg='green')}  {paint(_short(expected))}"
        yield f"  {paint('observed', fg='red')}  {paint(_short(observed))}"


def coverage_lines(coverage: Covered) -> Iterator[str]:
    """What was exercised, and what was not."""
    for share in coverage.get("shares", ()):
        yield f"covered by the {share.role}: {share.what} {share}"
        missed = share.missed if share.what == "rows" else filter(None, [", ".join(share.missed)])
        for name in missed:
            yield f"  not taken: {name}"
    suite = coverage.get("suite")
    if suite is not None:
        yield from _suite_lines(suite)


def _suite_lines(suite: SuiteRun) -> Iterator[str]:
    """What follows from a suite, or why nothing does."""
    size = f"{suite.words:,} words of {suite.stimuli:,} stimuli"
    yield f"suite {suite.method}, k={suite.k}: {size}, for the {suite.n} states of {suite.reference}"
    if not suite.complete:
        yield f"no guarantee: {suite.why}"
        return
    yield "guarantee:"
    for line in suite.guarantee:
        yield f"  {line}"


def _log_lines(found: Counterexample, paint: Paint) -> Iterator[str]:
    for at, event in enumerate(found.input.events):
        mark = paint("▶", fg="red") if at == found.position else " "
        yield f"  {mark} {at:>3}  {paint(brief(event))}"
    policies = found.input.policies
    if found.input.events:
        fates = f"interrupted {policies.queue_after_interrupted}, error {policies.queue_after_error}"
        yield f"         policies: while active {policies.while_active}, queue after {fates}"


def _word_lines(found: WordCounterexample, paint: Paint) -> Iterator[str]:
    """What the environment did, what the log then held, and what was awaited."""
    options = msgspec.to_builtins(found.word.options)
    options.pop("tools", None)
    if options:
        yield f"    options: {paint(_short(options))}"
    at = 0
    for place, (stimulus, step) in enumerate(zip(found.applied, found.steps, strict=True)):
        closing = " (closing)" if place >= len(found.word.stimuli) else ""
        fields = msgspec.to_builtins(stimulus)
        yield f"  {paint('→', fg='cyan')} {paint(brief({'type': fields.pop('kind'), **fields}), bold=True)}{closing}"
        for event in step.events:
            mark = paint("▶", fg="red") if at == found.position else " "
            yield f"  {mark} {at:>3}  {paint(brief(event))}"
            at += 1
        if step.refused is not None:
            yield f"         refused: {step.refused.why} {paint(step.refused.message)}"
        awaited = ", ".join(_awaited(one) for one in step.awaiting)
        yield paint(f"         awaits {awaited or 'nothing'}", dim=True)


def _awaited(one: Awaited) -> str:
    match one:
        case ModelAwaited(request_id=request):
            return f"model {request}"
        case ToolAwaited(call_id=call, execution=execution, cancelled=cancelled):
            return f"tool {call} ({execution}{', cancelled' if cancelled else ''})"
        case TimerAwaited(due=due):
            return f"timer in {due} s"


def brief(event: Any) -> str:
    """An event on a line: its type first, then its other fields."""
    if not isinstance(event, dict):
        return "unreadable line" if event is None else _short(event)
    fields = cast(dict[str, Any], event)
    shown = "  ".join(f"{key}={_short(value)}" for key, value in fields.items() if key != "type")
    return f"{fields.get('type')!s:13} {shown}".rstrip()


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDE else f"{text[:_WIDE]} … ({len(text):,} characters)"


def _difference(expected: Any, observed: Any) -> tuple[Any, Any]:
    """The parts of two values that differ: what two lists begin and end with alike is left out."""
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
