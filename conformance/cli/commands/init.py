"""``turncheck init``."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from turncheck.adapters import kit
from turncheck.model.rendering.printable import fill
from turncheck.model.writing import write_file

from ..printing.output import echo

TEMPLATES: Final = Path(__file__).parents[2] / "templates"
_KIT: Final = Path(kit.__file__).parent / "turncheck_kit.mjs"
_WORKFLOW: Final = ".github/workflows/turncheck.yml"
_DEFAULT: Final = "runtime"
"""The kind without ``--kind``."""


@dataclass(frozen=True)
class Starter:
    """The files for one language, name → source, with a description and the commands to continue with."""

    what: str
    files: Mapping[str, Path]
    commands: tuple[str, ...]


def _files(folder: str, *names: str, workflow: str | None = None) -> Mapping[str, Path]:
    """The templates of a folder, with its own workflow or another folder's."""
    own = {name: TEMPLATES / folder / name for name in names}
    return {**own, _WORKFLOW: TEMPLATES / (workflow or folder) / "workflow.yml"}


STARTERS: Final[Mapping[str, Mapping[str, Starter]]] = {
    _DEFAULT: {
        "python": Starter(
            "a toy agent on asyncio, its adapter, and the laws as tests for pytest",
            _files("python", "agent.py", "adapter.py", "test_agent.py"),
            ("turncheck smoke python:adapter:AgentAdapter", "pytest"),
        ),
        "node": Starter(
            "a toy agent, its adapter with the helper library beside it, and a test for node --test",
            {**_files("node", "agent.mjs", "adapter.mjs", "agent.test.mjs"), "turncheck_kit.mjs": _KIT},
            ("turncheck smoke 'cmd:node adapter.mjs'", "node --test"),
        ),
        "http": Starter(
            "a toy agent server that speaks AG-UI, what it claims, and a test for pytest that starts it",
            _files("http", "server.py", "profile.json", "test_server.py"),
            (
                "pytest",
                "export TURNCHECK_MODEL_SECRET=$(python3 -c 'import secrets; print(secrets.token_hex())')",
                "OPENAI_BASE_URL=http://127.0.0.1:8790/$TURNCHECK_MODEL_SECRET/v1 python server.py 8000",
            ),
        ),
    },
    "projector": {
        "python": Starter(
            "a toy projector, and the laws as tests for pytest",
            _files("projector", "turns.py", "test_turns.py", workflow="python"),
            ("turncheck smoke python:turns:project", "pytest"),
        ),
        "node": Starter(
            "a toy projector, what answers turncheck for it, and a test for node --test",
            _files("projector", "turns.mjs", "projector.mjs", "turns.test.mjs", workflow="node"),
            ("turncheck smoke 'cmd:node projector.mjs'", "node --test"),
        ),
    },
    "collator": {
        "python": Starter(
            "a toy collator, and the laws as tests for pytest",
            _files("collator", "blocks.py", "test_blocks.py", workflow="python"),
            ("turncheck smoke python:blocks:Blocks", "pytest"),
        ),
        "node": Starter(
            "a toy collator, what answers turncheck for it, and a test for node --test",
            _files("collator", "blocks.mjs", "collator.mjs", "blocks.test.mjs", workflow="node"),
            ("turncheck smoke 'cmd:node collator.mjs'", "node --test"),
        ),
    },
}
"""Kind → language → its files: the single place to add one."""


@click.command()
@click.option(
    "--kind",
    type=click.Choice(list(STARTERS)),
    default=_DEFAULT,
    show_default=True,
    help="An agent that is driven, a function from a log to its turns, or one from frames to response blocks.",
)
@click.option(
    "--lang", type=click.Choice(list(STARTERS[_DEFAULT])), required=True, help="What your implementation is written in."
)
@click.option("--force", is_flag=True, help="Overwrite files that are there.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
def command(*, kind: str, lang: str, force: bool, folder: Path) -> None:
    """Write a working adapter, projector or collator, a test and a CI workflow into FOLDER, the current one by default.

    They check a toy that is written too: replace it by yours, and the few lines that speak with it. Nothing is
    overwritten without --force.
    """
    starter = STARTERS[kind].get(lang)
    if starter is None:
        raise click.BadParameter(f"for a {kind} there are {', '.join(STARTERS[kind])}", param_hint="'--lang'")
    there = [name for name in starter.files if (folder / name).exists()]
    if there and not force:
        raise click.ClickException(f"{', '.join(there)}: there already, and nothing was written; --force overwrites")
    try:
        for name, source in starter.files.items():
            write_file(folder / name, source.read_bytes())
            echo(fill("wrote {}", folder / name))
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder}: {error.strerror}") from error
    echo(fill("\nThat is {}. Next:", starter.what))
    for line in (*([] if folder == Path() else [f"cd {folder}"]), *starter.commands):
        echo(fill("  {}", line))
