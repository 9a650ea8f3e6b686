"""Every small change to a file of a runtime's loop: by acorn in JavaScript, by cosmic-ray in Python."""

import json
import platform
import subprocess
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from mutation.mutants import mutants

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Change:
    """One change to a ``file`` of the environment; ``number`` is its place among those of its operator.

    ``make`` returns the whole text after it: it takes seconds, and few of all changes are tried.
    """

    file: str
    operator: str
    number: int
    line: int
    definition: str
    make: Callable[[], str]

    @property
    def key(self) -> str:
        """Its name, which is the same in each run."""
        return f"{self.file}:{self.operator}:{self.number}"


def changes(file: str, source: str, lines: Collection[int]) -> Iterator[Change]:
    """All changes of a file in the *lines* that the runtime comes by."""
    found = _of_javascript(file, source) if file.endswith((".js", ".mjs")) else _of_python(file, source)
    return (one for one in found if one.line in lines)


def difference(source: str, text: str) -> tuple[str, str]:
    """The lines that differ: before, and after."""
    old, new = source.splitlines(), text.splitlines()
    first = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    last = next((at for at, (one, other) in enumerate(zip(old[::-1], new[::-1], strict=False)) if one != other), 0)
    last = min(last, len(old) - first, len(new) - first)
    before, after = (" ".join(line.strip() for line in part[first : len(part) - last]) for part in (old, new))
    return before, after


def _of_javascript(file: str, source: str) -> Iterator[Change]:
    done = subprocess.run(
        ["node", str(HERE / "mutate.mjs"), "/dev/stdin"], input=source.encode(), capture_output=True, check=True
    )
    units = source.encode("utf-16-le")  # acorn counts as JavaScript does
    for number, one in enumerate(json.loads(done.stdout)):
        before, after = (part.decode("utf-16-le") for part in (units[: 2 * one["start"]], units[2 * one["end"] :]))
        make = partial("".join, (before, one["text"], after))
        yield Change(file, one["operator"], number, one["line"], one["definition"], make)


def _of_python(file: str, source: str) -> Iterator[Change]:
    for one in mutants(file, source):
        operator = one.operator.rpartition("/")[2]
        yield Change(file, operator, one.occurrence, one.line, one.definition, partial(one.code, source))


def versions() -> dict[str, str]:
    """The versions of what runs and makes mutants."""
    lock = json.loads((HERE / "package-lock.json").read_bytes())
    node = (
        subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
        .stdout.strip()
        .removeprefix("v")
    )
    acorn = lock["packages"]["node_modules/acorn"]["version"]
    return {"Python": platform.python_version(), "Node": node, "acorn": acorn, "cosmic-ray": version("cosmic-ray")}
