"""``turncheck redact``."""

import sys

import click

from turncheck.adapters.logs.places import without_secrets
from turncheck.model.rendering.printable import Document

from ...check.fleet.one import reason
from ...check.redaction import Unknown, redact
from ..options.inputs import log_options, opened
from ..printing.output import OutputError, Progress, document, notice


@click.command()
@click.argument("log")
@log_options
def command(*, log: str, max_line: int, format_name: str | None) -> None:
    """Rename ids and replace texts by their length, so that a log can be shown; its verdict stays the same.

    LOG is a file, a URL, or - for standard input, in any format that is read; the redacted log goes to standard output,
    one JSON line for each line or event. Names of tools are kept, and so are numbers of sequence and time. State never
    comes from content (X-8), which is why the verdict stays.

    What the format does not know is replaced too, and counted on standard error for turncheck's own. Exits 2 for a log
    that no format fits, and for one of which no line is an event.
    """
    unknown = Unknown()
    number = 0
    try:
        with opened(log) as stream, Progress(log) as progress:
            for number, line in enumerate(redact(stream, max_line, unknown, format_name=format_name), 1):
                document(Document(line))
                if not sys.stdout.isatty():  # on a terminal the lines themselves show the progress
                    progress.say(f"{number:,} lines")
    except (BrokenPipeError, OutputError):
        raise  # the reader has seen enough, or its disk is full: no fault of the log
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{without_secrets(log)}: {reason(error)}") from error
    for line in unknown.lines():
        notice(f"{without_secrets(log)}: {line}")
    if number and not unknown.events:
        raise click.ClickException(
            f"{without_secrets(log)}: no line is an event of turncheck's own format, so that nothing of it is left"
        )
