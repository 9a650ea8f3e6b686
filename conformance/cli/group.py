"""The command line: one lazily imported module per command, so that ``--help`` imports no Hypothesis.

Exit codes: 0 nothing wrong, 1 a law is broken, 2 the check could not be made, 130 interrupted, 141 broken pipe, 128 + n
ended by signal n.
"""

import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

import click

from .failures import DEBUG, run
from .interruption import INTERRUPTED, Interruption, interruptible

COMMANDS: Final = {
    "check": "Judge recorded logs of an agent runtime.",
    "completion": "Print what makes a shell complete commands, targets and laws.",
    "diagrams": "Draw the machines, or check that the drawings are in step.",
    "drive": "Drive a runtime by hand: play the user, the model, the tools and the clock.",
    "explain": "Teach a law: why it matters, and the smallest example that breaks it.",
    "export": "Write a machine as Promela, DOT or JSON.",
    "formats": "List the log formats, or judge the reader of one.",
    "init": "Write a working adapter, or a projector (--kind projector), a test and a CI workflow.",
    "laws": "List the laws, or show one.",
    "learn": "Learn a runtime's own machine, draw it, and compare it with another one's.",
    "matrix": "Verify several runtimes, and write one table.",
    "mutants": "Mutate the rows of the machines, and say what finds the faults.",
    "project": "Show the cycles that a log projects to.",
    "prove": "Prove what holds of the machines, and say how far.",
    "redact": "Rename ids and replace texts by their length, so that a log can be shown.",
    "replay": "Judge a counterexample file again.",
    "smoke": "Walk through an implementation's life, for the author of its adapter.",
    "targets": "List the targets that can be verified.",
    "verify": "Hold an implementation to every law.",
}
"""Command → one line of help; the module of the same name in ``commands`` has the rest."""

COMPLETE: Final = "_TURNCHECK_COMPLETE"
"""The variable with which a shell asks for completions (click's protocol)."""


def _keep_quiet(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    context.meta["turncheck.quiet"] = value


def _debug(context: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's
    context.meta[DEBUG] = value


_QUIET: Final = click.Option(
    ["--quiet"],
    is_flag=True,
    expose_value=False,
    callback=_keep_quiet,
    help="Show no progress; without a terminal there is none.",
)
"""An option of every command, read by ``commands.output``."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".commands.{cmd_name}", __package__)
        command: click.Command = module.command
        command.name = cmd_name  # click would name it after its function, which is called command everywhere
        if _QUIET not in command.params:
            command.params.append(_QUIET)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="turncheck")
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_debug,
    help="Show where in turncheck an error arose; for a bug report.",
)
def turncheck() -> None:
    """Check chat-agent turns: each ends exactly once, nothing is lost, doubled or stuck."""


GARBAGE: Final = 50_000, 20, 100
"""Objects between two searches for garbage, and searches between two of older objects: Python's own 700 cost `verify`
1.1 s in 10.6, since each search goes through what the command keeps until it ends."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; never returns. A broken pipe is quiet; SIGTERM and SIGHUP end it as Ctrl-C does.

    click's own ``main`` would answer errors with exit code 1, which says here that a law is broken.
    """
    gc.set_threshold(*GARBAGE)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if COMPLETE in os.environ:
        from click.shell_completion import shell_complete  # noqa: PLC0415 - only a shell needs it

        sys.exit(shell_complete(turncheck, {}, "turncheck", COMPLETE, os.environ[COMPLETE]))
    interruption, code = Interruption(), INTERRUPTED
    with contextlib.suppress(KeyboardInterrupt), interruptible(interruption):  # it may come beside the command
        code = run(turncheck, given)
    sys.exit(interruption.code(code))
