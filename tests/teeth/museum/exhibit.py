"""Exhibits, and two readings of their files: as they stand, faulty, or with the hunk beside them applied."""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
THREADS: Final = "https://github.com/"


@dataclass(frozen=True)
class Exhibit:
    """A defect: its runtime, the thread that reports it, its title, and the law that names it first.

    ``version`` is the one in the report, if it names one.
    """

    runtime: str
    reference: str
    title: str
    law: str
    version: str | None = None

    @property
    def url(self) -> str:
        """The thread's address; a pull request's number leads there too."""
        repository, _, number = self.reference.partition("#")
        return f"{THREADS}{repository}/issues/{number}"


def source(name: str) -> str:
    """Return an exhibit's own text, which is faulty."""
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def hunks(name: str) -> list[tuple[str, str]]:
    """Return the hunks of an exhibit's patch, each as the text that it finds and its replacement."""
    parts: list[list[str]] = []
    for line in (FOLDER / f"{name}.patch").read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("@@"):
            parts.append([])
        elif parts:
            parts[-1].append(line)
    return [(_side(part, "-"), _side(part, "+")) for part in parts]


def _side(lines: list[str], sign: str) -> str:
    return "".join(line[1:] for line in lines if line[0] in {" ", sign})


def mended(name: str) -> str:
    """Return an exhibit's text with its hunks applied. Raises ValueError if one does not fit exactly one place."""
    text = source(name)
    for old, new in hunks(name):
        if text.count(old) != 1:
            raise ValueError(f"{name}.patch: its hunk fits {text.count(old)} places of {name}.py, and not one")
        text = text.replace(old, new)
    return text


def exhibited(name: str, text: str) -> Any:
    """Return the class ``Runtime`` or ``Projector`` of *text*, which is the exhibit's or its mended variant's."""
    folder, _, _ = name.partition("/")
    module = ModuleType(f"{__package__}.{name.replace('/', '.')}")
    module.__package__ = f"{__package__}.{folder}"
    code = compile(text, str(FOLDER / f"{name}.py"), "exec")
    exec(code, vars(module))  # it is our own file, as an import would run it
    return getattr(module, "Runtime", None) or module.Projector


def is_projector(name: str) -> bool:
    """Return whether an exhibit turns a log into cycles; the others are runtimes, which are driven."""
    return "\nclass Projector(" in source(name)
