"""``turncheck redact``."""

import sys

import click

from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.model.rendering.printable import Document

from ...check.redaction import Unknown, redact
from ..inputs import opened, reason
from ..output import Progress, document, notice


@click.command()
@click.argument("log")
@click.option("--max-line", type=click.IntRange(1), default=MAX_LINE, help="Longer lines are left out as unreadable.")
def command(*, log: str, max_line: int) -> None:
    """Rename ids and replace texts by their length, so that a log can be shown; its verdict stays the same.

    LOG is a file, or - for standard input, in turncheck's own format; the redacted log goes to standard output, one
    line for each line. Names of tools are kept, and so are numbers of sequence and time. State never comes from
    content (X-8), which is why the verdict stays.

    What the format does not know is replaced too, and counted on standard error. Exits 2 for a log in another format,
    and for one of which no line is an event: it is no log of ours.
    """
    unknown = Unknown()
    number = 0
    try:
        with opened(log) as stream, Progress(log) as progress:
            for number, line in enumerate(redact(stream, max_line, unknown), 1):
                document(Document(line))
                if not sys.stdout.isatty():  # on a terminal the lines themselves show the progress
                    progress.say(f"{number:,} lines")
    except BrokenPipeError:
        raise  # the reader has seen enough
    except (OSError, ValueError) as error:
        raise click.ClickException(f"{log}: {reason(error)}") from error
    for line in unknown.lines():
        notice(f"{log}: {line}")
    if number and not unknown.events:
        raise click.ClickException(
            f"{log}: no line is an event of turncheck's own format, so that nothing of it is left"
        )
