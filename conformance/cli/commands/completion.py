"""``turncheck completion``."""

import click
from click.shell_completion import get_completion_class

from turncheck.model.rendering.printable import Document

from ..printing.output import document


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(*, shell: str) -> None:
    """Print what makes SHELL complete commands, options, targets, laws and machines.

    \b
    bash  turncheck completion bash > ~/.local/share/bash-completion/completions/turncheck
    zsh   turncheck completion zsh > ~/.zfunc/_turncheck       (where ~/.zfunc is in fpath)
    fish  turncheck completion fish > ~/.config/fish/completions/turncheck.fish
    """  # noqa: D301 - the mark is click's, for lines that are not to be wrapped
    from ..group import turncheck  # noqa: PLC0415 - it imports the commands by name

    script = get_completion_class(shell)
    assert script is not None, "click has all three"
    document(Document(script(turncheck, {}, "turncheck", "_TURNCHECK_COMPLETE").source()))
