"""Completions for the shell: targets, laws, machines. Each imports only the names that it lists: a key press waits."""

from collections.abc import Iterable
from typing import Final

import click
from click.shell_completion import CompletionItem

_FORMS: Final = {
    "reference": "the model's own projector",
    "python:": "python:module:attribute",
    "cmd:": "cmd:command line",
    "http://127.0.0.1:": "an AG-UI endpoint on this machine",
}


def complete_law(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The laws with this prefix, each with its sentence."""
    from ...laws.registry import LAWS  # noqa: PLC0415 - --help must not import it

    return _fitting(((law.name, law.says) for law in LAWS.values()), incomplete)


def complete_target(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The known runtimes, the reference runtimes, and the prefixes of other targets."""
    from turncheck.adapters.references.registry import REFERENCES  # noqa: PLC0415
    from turncheck.adapters.targets.runtime_catalog import known  # noqa: PLC0415

    runtimes = ((name, runtime.description) for name, runtime in known().items())
    references = ((f"reference:{machine}", "a reference runtime") for machine in REFERENCES)
    return _fitting((*_FORMS.items(), *runtimes, *references), incomplete)


def complete_machine(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The machines that can be drawn."""
    from turncheck.model.machines.registry import MACHINES  # noqa: PLC0415

    return _fitting(((name, "") for name in MACHINES), incomplete)


def _fitting(found: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name, help=text or None) for name, text in found if name.startswith(incomplete)]
