"""Generate the fast loops from what the formats declare: ``make generate`` writes the files, a test holds them to it.

Each branch gives the mapper's own method what the mapper's handler would give it. Where a branch is not sure, or the
method refuses, the mapper reads the value as a whole, on the same state: both can take turns at any value.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Final

from turncheck.model.writing import write_file

from ..formats import ai_sdk, anthropic, openai_responses, pi
from ..formats.wires import Field, Wire, by_type
from .ag_ui import branches as ag_ui
from .structures import class_name, is_fast, structures

FOLDER: Final = Path(__file__).with_name("loops")


def generate() -> Mapping[Path, str]:
    """Return the text of each loop, by its file."""
    return {FOLDER / f"{name}.py": text() for name, text in _LOOPS.items()}


def _loop(
    title: str, mapper: str, wires: tuple[Wire, ...], module: str, *, calm: str = "running", ready: str = "running"
) -> str:
    """The loop of a mapper: while it is *ready*, a row's method may be called, and nothing else is to be done.

    It is *calm* where nothing that a delta would decide is open.
    """
    fast = [row for rows in by_type(wires).values() for row in rows if is_fast(row, rows)]
    names = sorted(structures(wires), key=class_name)
    taken = ["WIRES", mapper] if fast else ["DELTAS", mapper]
    formats = [f"from ...formats.{module} import {', '.join(taken)}"]
    branches = _INT + "".join(_branches(fast, ready))
    if fast:
        formats += ["from ...formats.fields import MisfitError", "from ...formats.wires import deltas"]
        branches = f"try:\n{_in(branches)}except MisfitError:\n    pass\n"
    own = ["from ..fast_loop import FastLoop", "from ..runs import pattern"]
    own.append(f"from ..structures import {'decoder, structures' if fast else 'undecoded'}")
    made = "".join(f'{class_name(name)} = STRUCTURES["{name}"]\n' for name in names)
    return _FRAME.format(
        title=title,
        mapper=mapper,
        calm=calm,
        imports="\n".join([*sorted(formats), *own]),
        decode="decoder(WIRES).decode" if fast else "undecoded",
        deltas="deltas(WIRES)" if fast else "DELTAS",
        structures=f"\nSTRUCTURES = structures(WIRES)\n{made}" if fast else "",
        methods="".join(f"    {name} = mapper.{name}\n" for name in dict.fromkeys(row.take for row in fast) if name),
        known=_KNOWN if fast else "",
        forget="            kind = None\n" if fast else "",
        branches=_in(branches, 2),
    )


def _branches(fast: Sequence[Wire], ready: str) -> Iterator[str]:
    for name, rows in by_type(fast).items():
        told = "".join(_told(row, number) for number, row in enumerate(rows))
        sure = told if rows[0].opens else f"if mapper.{ready}:\n{_in(told)}"
        yield f"elif struct is {class_name(name)}:\n{_in(sure)}"


def _told(row: Wire, number: int) -> str:
    """Return the code for an event of a row, run if its word tells that it is one."""
    does = _delta(row) if row.delta else f"{_call(row)}at += 1\ncontinue\n"
    if row.when is None:
        return does
    field, words = row.when
    part = "part = type(inner)  # pyright: ignore[reportUnknownVariableType]\n"
    inner = "" if number else f"inner = event.{_above(field)}\n{part}"
    one_of = " or ".join(f"part is {class_name(f'{row.type}.{word}')}" for word in words)
    return f"{inner}if {one_of}:\n{_in(does)}"


def _above(field: Field) -> str:
    return field.path.rpartition(".")[0]


def _place(row: Wire, path: str) -> str:
    """Return the expression for the value that an event has at a path."""
    above = "" if row.when is None else f"{_above(row.when[0])}."
    return f"inner.{path[len(above) :]}" if above and path.startswith(above) else f"event.{path}"


def _call(row: Wire) -> str:
    if row.take is None:
        return ""
    given = "".join(f", {_place(row, one.path) if isinstance(one, Field) else dumps(one)}" for one in row.given)
    return f"{row.take}(at{given})\n"


def _delta(row: Wire) -> str:
    """A delta that repeats the line before changes nothing; nor do those that repeat this one, if it has a text."""
    (key,) = [_place(row, one.path) for one in row.given if isinstance(one, Field) and one.path != row.delta]
    kind = "part" if row.when else "struct"
    known = f"kind, name = {kind}, {key}  # pyright: ignore[reportUnknownVariableType]\n"
    empty = f"if not {_place(row, row.delta or '')}:\n    at += 1\n    continue\n"
    other = f"if good != at or name != {key} or kind is not {kind}:\n"
    return f"{other}{_in(_call(row) + empty + known)}at += 1\ngood = at\ncontinue\n"


def _in(text: str, levels: int = 1) -> str:
    return "".join(f"{'    ' * levels}{line}\n" for line in text.splitlines())


_FRAME: Final = '''"""The fast loop of {title}, generated from its rows: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

{imports}
{structures}

def feed(mapper: {mapper}, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``FastLoop``)."""
{methods}    good = -1  # the number behind a delta of which repetitions change nothing
{known}    for event in events:
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        behind = at + 1
{branches}        while at < behind:
            fine = hand(at)
            at += 1
            if fine and mapper.{calm}:
                good = at
{forget}    return at


LOOP = FastLoop({decode}, partial(pattern, {deltas}), feed)
'''
_INT: Final = """if struct is int:
    behind = at + event
    if good == at:
        at = good = behind
        continue
"""
_KNOWN: Final = """    kind: Any = None  # its structure
    name: Any = None  # its item
"""

_LOOPS: Final[Mapping[str, Callable[[], str]]] = {
    "ag_ui": ag_ui.generate,
    "ai_sdk": lambda: _loop("the AI SDK", "AiSdkMapper", ai_sdk.WIRES, "ai_sdk"),
    "anthropic": lambda: _loop("Anthropic", "AnthropicMapper", anthropic.WIRES, "anthropic"),
    "openai_responses": lambda: _loop(
        "OpenAI's Responses", "ResponsesMapper", openai_responses.WIRES, "openai_responses"
    ),
    "openai_chat": lambda: _loop("OpenAI's chat", "ChatMapper", (), "openai_chat"),
    "pi": lambda: _loop("pi", "PiMapper", pi.WIRES, "pi", calm="calm", ready="ready()"),
}
"""Module of a loop → what makes its text."""

if __name__ == "__main__":
    for path, text in generate().items():
        write_file(path, text)
