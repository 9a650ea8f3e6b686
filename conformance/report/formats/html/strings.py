"""Values of an implementation as text: nothing is interpreted, nothing hidden, and long strings are folded.

Values become pieces, which the templates escape: strings, and ``Folded`` for one that is too long.
"""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple, TypeAlias, cast

from turncheck.model.rendering.printable import spelled

from ...text import LONG

LONGEST: Final = 16_384
"""Characters of a folded string that the page holds; the counterexample file has the rest."""
BRIEF: Final = 1024
"""The same limit, for strings that may occur hundreds of times on a page."""
DEEP: Final = 40
"""Levels of a value that are shown; deeper ones are left out."""
DIGITS: Final = 8192
"""Bits of a number; Python refuses to write much longer ones."""
LINES: Final = 400
"""Lines of a value that are shown."""
WIDE: Final = 64
"""Greatest width of a value on one line, in columns: two values fit side by side."""
_FOLD: Final = re.compile("\ue000(\\d+)\ue000")  # of a private-use character, which no text keeps


class Folded(NamedTuple):
    """A long string: its length in characters, the text that is shown, and whether that is only its beginning."""

    length: int
    text: str
    cut: bool


Pieces: TypeAlias = Sequence[str | Folded]


class Line(NamedTuple):
    """A line of a value; ``differs`` where it is not in the value beside it."""

    pieces: Pieces
    differs: bool = False


def said(text: object, most: int = LONGEST) -> Pieces:
    """Spell *text*, and fold it where it is long; then at most *most* characters are shown."""
    whole = str(text)
    return [spelled(whole)] if len(whole) <= LONG else [_folded(whole, most)]


def compact(value: Any) -> Pieces:
    """Write a JSON value on one line."""
    folds: list[Folded] = []
    return _pieces(_dumped(_tame(value, folds, 0)), folds)


def compared(expected: Any, observed: Any) -> tuple[Sequence[Line], Sequence[Line]]:
    """Write two JSON values line by line, and mark the lines that differ."""
    return beside(_pretty(expected), _pretty(observed))


def beside(first: Sequence[Pieces], second: Sequence[Pieces]) -> tuple[Sequence[Line], Sequence[Line]]:
    """Mark the lines of two texts that differ."""
    matcher = SequenceMatcher(None, [*map(str, first)], [*map(str, second)], autojunk=False)
    blocks = matcher.get_matching_blocks()
    kept = {block.a + step for block in blocks for step in range(block.size)}
    others = {block.b + step for block in blocks for step in range(block.size)}
    return (
        [Line(pieces, place not in kept) for place, pieces in enumerate(first)],
        [Line(pieces, place not in others) for place, pieces in enumerate(second)],
    )


def shortened(value: Any) -> Any:
    """Prepare *value* for a picture: strings cut and spelled, and nothing deeply nested."""
    return _tame(value, None, 0)


def _pretty(value: Any) -> list[Pieces]:
    folds: list[Folded] = []
    lines = [*itertools.islice(_lines(_tame(value, folds, 0)), LINES + 1)]
    lines[LINES:] = ["…"] * (len(lines) > LINES)
    return [_pieces(text, folds) for text in lines]


def _lines(value: Any, indent: str = "", before: str = "", after: str = "") -> Iterator[str]:
    """Write JSON, each value on one line if it fits there; *before* and *after* stand around it."""
    flat = f"{indent}{before}{_dumped(value)}{after}"
    if len(flat) <= WIDE or not value or not isinstance(value, dict | list):
        yield flat
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if isinstance(value, dict):
        inner = [(f"{_dumped(name)}: ", one) for name, one in cast("dict[str, Any]", value).items()]
    else:
        inner = [("", one) for one in cast("Sequence[Any]", value)]
    yield f"{indent}{before}{opening}"
    for place, (name, one) in enumerate(inner, 1):
        yield from _lines(one, indent + "  ", name, "," if place < len(inner) else "")
    yield f"{indent}{closing}{after}"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _tame(value: Any, folds: list[Folded] | None, depth: int) -> Any:
    """Spell the strings of *value*; long ones are replaced by their places in *folds*, or cut where it is None."""
    if isinstance(value, str):
        return _string(value, folds)
    if depth == DEEP and isinstance(value, dict | list):
        return "⟨nested deeper⟩"
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        return {_string(str(name), folds): _tame(inner, folds, depth + 1) for name, inner in named.items()}
    if isinstance(value, list | tuple):
        return [_tame(inner, folds, depth + 1) for inner in cast("Sequence[Any]", value)]
    if isinstance(value, int) and value.bit_length() > DIGITS:
        return f"⟨a number of {value.bit_length()} bits⟩"
    return value


def _string(text: str, folds: list[Folded] | None) -> str:
    if folds is None or len(text) <= LONG:
        return spelled(text[:LONG])
    folds.append(_folded(text))
    return f"\ue000{len(folds) - 1}\ue000"


def _folded(text: str, most: int = LONGEST) -> Folded:
    shown = spelled(text[:most])
    return Folded(len(text), shown[:most], cut=len(text) > most or len(shown) > most)


def _pieces(text: str, folds: Sequence[Folded]) -> Pieces:
    return [folds[int(part)] if place % 2 else part for place, part in enumerate(_FOLD.split(text))]
