"""``turncheck drive``."""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import click
import msgspec

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.messages import encode
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.targets.registry import open_runtime
from turncheck.model.core.decode import judge
from turncheck.model.core.events import RunStop
from turncheck.model.core.refused_json import why_refused
from turncheck.model.core.stimuli import Awaited, ResetOptions, Step, Stimulus
from turncheck.model.rendering.printable import fill, lines
from turncheck.model.rendering.words import awaited_line, event_line
from turncheck.model.writing import write_file

from ...observe.clients import Clients
from ..options.completing import complete_target
from ..options.shared import timeout_option
from ..options.shorthand import FORMS, SEE, Form, Shorthand, ShorthandError
from ..printing.output import echo, style
from ..printing.transcript import projected, session_lines

CONTROLS: Final = {
    "reset": Form("reset [OPTIONS]", "a new runtime; OPTIONS are JSON, and those of before without"),
    "log": Form("log [FILE]", "show the log, or write it as JSON lines, for turncheck check"),
    "cycles": Form("cycles", "show the cycles that the log projects to"),
    "awaiting": Form("awaiting", "show what is awaited"),
    "save": Form("save [FILE]", "write what was sent since the reset, and with what options: drive reads it again"),
    "help": Form("help", "show this"),
    "quit": Form("quit", "end, as the end of the input does"),
}
"""The commands that are no stimulus."""

_PATH: Final = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS: Final = tuple({"name": name, "schema": _PATH} for name in ("read", "bash"))
"""Two classes of tools, whose calls form two groups; the schema is that of verify."""


@click.command()
@click.argument("target", shell_complete=complete_target)
@timeout_option
def command(*, target: str, timeout: float) -> None:
    """Drive a runtime by hand: play the user, the model, the tools and the clock.

    Each line of the input is a stimulus, in short (user hello, text hi, stop) or as JSON; `help` lists them. After each
    you see the new events, the cycles when a run is over, and what is awaited. Without a terminal the first line that
    is wrong ends it, with exit code 2.
    """
    with open_runtime(target, timeout=timeout) as runtime:
        who = runtime.implementation
        echo(fill("{} ({}): type help, or a stimulus", style(f"{who.name} {who.version}", bold=True), who.language))
        echo(fill("declares {}", ", ".join(runtime.profile.capabilities) or "no capability"))
        try:
            _drive(_Session(runtime))
        except UnicodeDecodeError as error:
            raise click.ClickException(str(error)) from error


def completions(line: str) -> list[str]:
    """Complete *line*, which is being typed: each result is a word that replaces the last one."""
    first, *rest = line.lstrip().split(" ")
    if not rest:
        return [f"{name} " for name in (*FORMS, *CONTROLS) if name.startswith(first)]
    choices = FORMS[first].choices if first in FORMS and len(rest) == 1 else ()
    return [choice for choice in choices if choice.startswith(rest[0])]


def _drive(session: "_Session") -> None:
    """Do each line of the input. Raises ClickException for a wrong one, unless a person types them."""
    for line in _lines():
        if line == "quit":
            return
        try:
            session.do(line)
        except (TargetError, ShorthandError, OSError) as error:
            if not sys.stdin.isatty():
                raise click.ClickException(f"{line}: {error}") from error
            echo(lines(error), err=True)


def _lines() -> Iterator[str]:
    """The lines of the input that are not blank; on a terminal with a prompt, a history and completion."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if stripped := line.strip():
                echo(fill("> {}", stripped))
                yield stripped
        return
    with contextlib.suppress(ImportError):  # not every Python has it
        import readline  # noqa: PLC0415 - it writes to the terminal when it is imported

        readline.set_completer_delims(" ")
        readline.set_completer(lambda _, number: dict(enumerate(completions(readline.get_line_buffer()))).get(number))
        readline.parse_and_bind("tab: complete")
    with contextlib.suppress(EOFError):
        while True:
            if line := input("> ").strip():
                yield line
    echo()


class _Session:
    """A runtime, with the stimuli and events since its last reset."""

    def __init__(self, runtime: RuntimeTarget) -> None:
        self._runtime = runtime
        self._reset(ResetOptions(tools=TOOLS if runtime.profile.can("tools") else ()))

    def do(self, line: str) -> None:
        """Do one line.

        Raises ShorthandError where it is no command, TargetError where the target breaks, OSError where a file does.
        """
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        match name:
            case "reset":
                self._reset(_options(rest) if rest else self._options)
            case "log" if rest:
                _write(rest, map(_json, self._log))
            case "log":
                _echo(map(_event, self._log))
            case "cycles":
                self._show_cycles()
            case "awaiting":
                self._show_awaiting()
            case "save":
                _write(rest or "word.txt", [f"reset {_json(self._options)}", *map(_json, self._sent)])
            case "help":
                for form in (*FORMS.values(), *CONTROLS.values()):
                    echo(fill("  {}  {}", style(f"{form.form:22}", bold=True), form.description))
                echo(fill("  {:22}  any stimulus as JSON: {}", "{...}", SEE))
            case _:
                stimulus = self._clients.resolved(self._shorthand.read(line, self._awaiting))
                self._sent.append(stimulus)
                self._take(self._runtime.apply(stimulus), stimulus)

    def _reset(self, options: ResetOptions) -> None:
        self._options = options
        self._shorthand, self._clients = Shorthand(), Clients()
        self._sent: list[Stimulus] = []
        self._log: list[Any] = []
        self._awaiting: Sequence[Awaited] = ()
        self._take(self._runtime.reset(options))

    def _take(self, step: Step, stimulus: Stimulus | None = None) -> None:
        self._clients.follow(stimulus, step)
        self._log += step.events
        self._awaiting = step.awaiting
        if step.refused is not None:
            _echo([f"refused, {step.refused.why}: {step.refused.message}"], fg="yellow")
        if step.unsettled:
            _echo(["unsettled: it does not get quiet, and its process was ended; reset to go on"], fg="red")
            _echo(self._runtime.last_words)
        _echo(map(_event, step.events))
        _echo((f"{name} is told {_json(one)}" for name, told in step.clients.items() for one in told), fg="magenta")
        if any(isinstance(judge(event), RunStop) for event in step.events):
            self._show_cycles()
        self._show_awaiting()

    def _show_cycles(self) -> None:
        for name, projection in projected(self._log, self._runtime.profile.projection_policies()).items():
            _echo(session_lines(self._log, name, projection), fg="green")

    def _show_awaiting(self) -> None:
        _echo((f"awaiting {awaited_line(awaited, whole=True)}" for awaited in self._awaiting), fg="cyan")


def _options(text: str) -> ResetOptions:
    try:
        return msgspec.json.decode(text, type=ResetOptions)
    except msgspec.MsgspecError as error:
        why = error if isinstance(error, msgspec.ValidationError) else why_refused(text.encode(), error)
        raise ShorthandError(f"{why}; expected {CONTROLS['reset'].form}, see docs/protocol.md#reset") from error


def _event(event: Any) -> str:
    """Write an event without the model's input: the awaited request shows it."""
    return event_line(event, without={"input"})


def _json(value: object) -> str:
    return encode(value).decode()


def _write(name: str, lines: Iterable[str]) -> None:
    write_file(name, "".join(f"{line}\n" for line in lines))
    _echo([f"written: {name}"])


def _echo(texts: Iterable[str], **styles: Any) -> None:
    for one in texts:
        echo(fill("  {}", style(one, **styles)))
