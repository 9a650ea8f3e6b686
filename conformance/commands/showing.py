"""How a counterexample is shown: the log, what was expected, what was observed, and the clause."""

import json
from typing import Any, Final, cast

import click
import msgspec

from turncheck.model.requirements import CLAUSES
from turncheck.model.stimuli import Awaited, ModelAwaited, TimerAwaited, ToolAwaited

from ..results import AnyCounterexample, Counterexample, Verdict, WordCounterexample
from .output import style

MARKS: Final[dict[Verdict, tuple[str, str]]] = {
    "pass": ("✓", "green"),
    "fail": ("✗", "red"),
    "inconclusive": ("?", "yellow"),
    "skipped": ("-", "blue"),
    "error": ("!", "red"),
}

_WIDE: Final = 160
"""Characters of a value that are shown: a screen line and a half."""


def show_counterexample(found: AnyCounterexample) -> None:
    """Print *found* for people."""
    click.echo(f"{style('✗ ' + found.law, fg='red', bold=True)}: {style(found.message)}")
    if isinstance(found, Counterexample):
        _show_log(found)
    else:
        _show_word(found)
    if found.expected is not None or found.observed is not None:
        expected, observed = _difference(found.expected, found.observed)
        click.echo(f"  {style('expected', fg='green')}  {style(_short(expected))}")
        click.echo(f"  {style('observed', fg='red')}  {style(_short(observed))}")
    for clause in found.clauses:
        click.echo(f"  {style(f'{clause:10}', dim=True)}{CLAUSES.get(clause, '')}")


def _show_log(found: Counterexample) -> None:
    for at, event in enumerate(found.input.events):
        mark = style("▶", fg="red") if at == found.position else " "
        click.echo(f"  {mark} {at:>3}  {style(_brief(event))}")
    policies = found.input.policies
    if found.input.events:
        fates = f"interrupted {policies.queue_after_interrupted}, error {policies.queue_after_error}"
        click.echo(f"         policies: while active {policies.while_active}, queue after {fates}")


def _show_word(found: WordCounterexample) -> None:
    """What the environment did, what the log then held, and what was awaited."""
    options = msgspec.to_builtins(found.word.options)
    options.pop("tools", None)
    if options:
        click.echo(f"    options: {style(_short(options))}")
    at = 0
    for place, (stimulus, step) in enumerate(zip(found.applied, found.steps, strict=True)):
        closing = " (closing)" if place >= len(found.word.stimuli) else ""
        fields = msgspec.to_builtins(stimulus)
        click.echo(
            f"  {style('→', fg='cyan')} {style(_brief({'type': fields.pop('kind'), **fields}), bold=True)}{closing}"
        )
        for event in step.events:
            mark = style("▶", fg="red") if at == found.position else " "
            click.echo(f"  {mark} {at:>3}  {style(_brief(event))}")
            at += 1
        if step.refused is not None:
            click.echo(f"         refused: {step.refused.why} {style(step.refused.message)}")
        awaited = ", ".join(_awaited(one) for one in step.awaiting)
        click.echo(style(f"         awaits {awaited or 'nothing'}", dim=True))


def _awaited(one: Awaited) -> str:
    match one:
        case ModelAwaited(request_id=request):
            return f"model {request}"
        case ToolAwaited(call_id=call, execution=execution, cancelled=cancelled):
            return f"tool {call} ({execution}{', cancelled' if cancelled else ''})"
        case TimerAwaited(due=due):
            return f"timer in {due} s"


def _brief(event: Any) -> str:
    """An event on a line: its type first, then its other fields."""
    if not isinstance(event, dict):
        return "unreadable line" if event is None else _short(event)
    fields = cast(dict[str, Any], event)
    shown = "  ".join(f"{key}={_short(value)}" for key, value in fields.items() if key != "type")
    return f"{fields.get('type')!s:13} {shown}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDE else text[:_WIDE] + " …"


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
