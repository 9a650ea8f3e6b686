"""Generate the fast loops from what the formats declare: ``make generate`` writes the files, a test holds them to it.

Each branch gives the mapper's own method what the mapper's handler would give it. Where a branch is not sure, or the
method refuses, the mapper reads the value as a whole, on the same state: both can take turns at any value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Final

from turncheck.model.writing import write_file

from ..formats import ai_sdk
from ..formats.wires import Field, Wire, by_type
from . import ag_ui_branches
from .structures import class_name

FOLDER: Final = Path(__file__).with_name("loops")


def generate() -> Mapping[Path, str]:
    """Return the text of each loop, by its file."""
    return {FOLDER / f"{name}.py": text() for name, text in _LOOPS.items()}


def _loop(title: str, module: str, mapper: str, wires: Sequence[Wire]) -> str:
    kinds = [name for name, rows in by_type(wires).items() if rows[0].when is None]
    taken = dict.fromkeys(wire.take for wire in wires if wire.take is not None)
    return _FRAME.format(
        title=title,
        imports="\n".join(sorted([f"from ...formats.{module} import WIRES, {mapper}", _MISFIT])),
        mapper=mapper,
        structures="".join(f'{class_name(name)} = STRUCTURES["{name}"]\n' for name in sorted(kinds)),
        methods="".join(f"    {name} = mapper.{name}\n" for name in taken),
        branches="".join(_in(text, 3) for text in _branches(wires)),
    )


def _branches(wires: Sequence[Wire]) -> Iterator[str]:
    for name, rows in by_type(wires).items():
        (row,) = rows
        does = "".join(_delta(row) if row.delta else _call(row))
        sure = "" if row.opens else "if mapper.running:\n"
        done = f"{does}at += 1\n{'good = at' + chr(10) if row.delta else ''}continue\n"
        yield f"elif struct is {class_name(name)}:\n{_in(sure + _in(done) if sure else done)}"


def _call(row: Wire) -> str:
    if row.take is None:
        return ""
    given = "".join(f", {f'event.{one.path}' if isinstance(one, Field) else dumps(one)}" for one in row.given)
    return f"{row.take}(at{given})\n"


def _delta(row: Wire) -> str:
    """A delta that repeats the line before changes nothing; nor do those that repeat this one, if it has a text."""
    (key,) = [one.path for one in row.given if isinstance(one, Field) and one.path != row.delta]
    same = f"good != at or name != event.{key} or kind is not struct"
    known = f"kind, name = struct, event.{key}  # pyright: ignore[reportUnknownVariableType]\n"
    return (
        f"if {same}:\n{_in(_call(row))}    if not event.{row.delta}:\n        at += 1\n        continue\n{_in(known)}"
    )


def _in(text: str, levels: int = 1) -> str:
    return "".join(f"{'    ' * levels}{line}\n" for line in text.splitlines())


_MISFIT: Final = "from ...formats.fields import MisfitError"
_FRAME: Final = '''"""The fast loop of {title}, generated from its rows: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from typing import Any

{imports}
from ..structures import structures

STRUCTURES = structures(WIRES)
{structures}

def feed(mapper: {mapper}, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``registry.FastLoop``)."""
{methods}    good = -1  # the number behind a delta of which repetitions change nothing
    kind: Any = None  # its structure
    name: Any = None  # its item
    for event in events:
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        behind = at + 1
        try:
            if struct is int:
                behind = at + event
                if good == at:
                    at = good = behind
                    continue
{branches}        except MisfitError:
            pass
        while at < behind:
            hand(at)
            at += 1
    return at
'''

_LOOPS: Final[Mapping[str, Callable[[], str]]] = {
    "ag_ui": ag_ui_branches.generate,
    "ai_sdk": lambda: _loop("the AI SDK", "ai_sdk", "AiSdkMapper", ai_sdk.WIRES),
}
"""Module of a loop → what makes its text."""

if __name__ == "__main__":
    for path, text in generate().items():
        write_file(path, text)
