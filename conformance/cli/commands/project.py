"""``turncheck project``."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import click
import msgspec

from turncheck.adapters.logs.places import without_secrets
from turncheck.model.core.cycles import Call, CycleViews, Projection, SessionProjection, SteerStep, UserStep
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import AnomalyError
from turncheck.model.rendering.printable import Printable, fill

from ...check.fleet.one import reason
from ...check.projecting import projected
from ..options.inputs import log_options, opened
from ..options.shared import options
from ..printing.output import Progress, echo, emit, style


def _policy_option(field: msgspec.structs.FieldInfo) -> Callable[[Any], Any]:
    name = f"--{field.name.replace('_', '-')}"
    return click.option(name, type=click.Choice(get_args(field.type)), default=field.default, show_default=True)


@click.command()
@click.argument("log")
@log_options
@options(*map(_policy_option, msgspec.structs.fields(Policies)))
@click.option("--view", type=click.Choice(["steps", "rounds", "both"]), default="both", show_default=True)
@click.option("--strict", is_flag=True, help="Stop at the first anomaly, with exit code 1.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per session: positions only.")
@click.pass_context
def command(
    context: click.Context,
    /,
    *,
    log: str,
    format_name: str | None,
    max_line: int,
    view: str,
    strict: bool,
    as_json: bool,
    **policies: Any,
) -> None:
    """Show the cycles that a log projects to: their steps, their rounds, the queue and the anomalies.

    LOG is a file, a URL, or - for standard input. Exits 0 whatever anomalies there are, 1 at the first with --strict, 2
    when the log cannot be read.
    """
    try:
        with opened(log) as stream, Progress(without_secrets(log)) as progress:
            sessions = projected(
                stream,
                format_name=format_name,
                max_line=max_line,
                policies=Policies(**policies),
                strict=strict,
                progress=progress.events,
            )
    except AnomalyError as error:
        echo(fill("{}: {}", without_secrets(log), error), err=True)
        context.exit(1)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{without_secrets(log)}: {reason(error)}") from error
    for session in sessions:
        emit(session) if as_json else _show_session(session, view)


def _show_session(session: SessionProjection, view: str) -> None:
    if session.session_id is not None:
        echo(style(f"session {session.session_id}", bold=True))
    _show(session, view)
    for name, agent in session.agents.items():
        echo(style(fill("sub-agent {}", name), bold=True))
        _show(agent, view)


def _show(session: SessionProjection | Projection, view: str) -> None:
    for number, cycle in enumerate(session.cycles, 1):
        end = "still open" if cycle.stop is None else f"{cycle.reason} at {cycle.stop}"
        echo(fill("{}  {} root {}, {}", style(f"cycle {number}", bold=True), cycle.kind, cycle.root, end))
        branches = [*_branches(cycle, view)]
        for place, (title, leaves) in enumerate(branches):
            last = place == len(branches) - 1
            echo(fill("{} {}", "└─" if last else "├─", title))
            for leaf in leaves:
                echo(fill("{}    {}", "  " if last else "│ ", leaf))
    for name, positions in (("queued", session.queued), ("dropped", session.dropped)):
        if positions:
            echo(fill("{}  {}", name, ", ".join(map(str, positions))))
    for anomaly in session.anomalies:
        echo(fill("{}  at {}", style(anomaly.kind, fg="yellow"), anomaly.at))


def _branches(cycle: CycleViews, view: str) -> Iterator[tuple[Printable, list[str]]]:
    for step in cycle.steps if view != "rounds" else ():
        if isinstance(step, UserStep):
            yield fill("{} {}", style("steer" if isinstance(step, SteerStep) else "non-steer", fg="cyan"), step.at), []
        else:
            text = "without text" if step.text is None else f"text {step.text}"
            yield (
                fill("ai-block {}", text),
                [f"{group.type}: {', '.join(map(_called, group.calls))}" for group in step.groups],
            )
    for number, part in enumerate(cycle.rounds if view != "steps" else (), 1):
        fed, made = _listed(part.inputs), _listed(part.outputs)
        yield fill("{} {}: fed {}; made {}", style("round", fg="magenta"), number, fed, made), []


def _called(call: Call) -> str:
    return f"{call.at} → {'no result' if call.result is None else call.result}"


def _listed(positions: Sequence[int]) -> str:
    return ", ".join(map(str, positions)) or "nothing"
