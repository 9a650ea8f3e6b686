"""``turncheck smoke``."""

from itertools import chain
from typing import Final

import click

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.targets.registry import open_target
from turncheck.model.rendering.printable import fill

from ...smoke.stage import Outcome
from ...smoke.walk import walk
from ...verify.outcome.results import Verdict
from ..options.completing import complete_target
from ..options.shared import timeout_option
from ..printing.output import echo, emit, style
from ..printing.showing import MARKS

_HELLO: Final = "starts and says hello"
_WHOSE: Final[dict[Verdict, str]] = {
    "pass": "ok",
    "fail": "the implementation is broken",
    "error": "the adapter is broken",
}
_AMBIGUOUS: Final = "the adapter is broken, or the implementation behind it"


@click.command()
@click.argument("target", shell_complete=complete_target)
@timeout_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object per step.")
@click.pass_context
def command(context: click.Context, *, target: str, timeout: float, as_json: bool) -> None:
    """Walk through the life of TARGET, for the author of its adapter: each step is ok, or says what to repair where.

    Exits 0 when every step is ok, 1 when the implementation is broken, 2 when the adapter is.
    """
    worst = 0
    try:
        with open_target(target, timeout=timeout) as opened:
            for outcome in chain([Outcome(_HELLO, "pass")], walk(opened)):
                _show(outcome, as_json=as_json)
                worst = max(worst, {"fail": 1, "error": 2}.get(outcome.verdict, 0))
    except TargetError as error:
        _show(Outcome(_HELLO, "error", str(error)), as_json=as_json)
        worst = 2
    context.exit(worst)


def _show(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        emit(outcome)
        return
    mark, colour = MARKS[outcome.verdict]
    first = _AMBIGUOUS if outcome.ambiguous else _WHOSE.get(outcome.verdict, outcome.message)
    echo(fill("{} {:58} {}", style(mark, fg=colour, bold=True), outcome.step, style(first, fg=colour)))
    if outcome.verdict in _WHOSE:
        for line in outcome.message.splitlines():
            echo(fill("    {}", style(line)))
