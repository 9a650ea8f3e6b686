"""A sequence picture as plain text, for a terminal: one row a line, an arrow with its words on it."""

from typing import Final

from .exchange import Exchange, Line, Part
from .sequence import columns

WIDE: Final = 72
"""Columns from the first lifeline to the last, at most: with what stands beside them a screen line."""
_WIDEST: Final = 50
_LEFT: Final = 3


def to_text(exchange: Exchange) -> str:
    """Write *exchange* as lines of text; words that are too long for their arrow are cut."""
    gap = min(WIDE // max(len(exchange.parties) - 1, 1), _WIDEST)
    places = {party: _LEFT + gap * index for index, party in enumerate(exchange.parties)}
    heads = "".join(f" {party}".ljust(gap) for party in exchange.parties).rstrip()
    return "\n".join([heads, *(_row(line, places) for line in exchange.lines)]) + "\n"


def _row(line: Line, places: dict[str, int]) -> str:
    life = [" "] * (max(places.values()) + 1)
    for place in places.values():
        life[place] = "│"
    if isinstance(line, Part):
        return f"   ── {line.title}"
    start, end = places[line.source], places[line.dest]
    if start == end:
        return _over(life, start + 1, f" {_cut(line.words, WIDE // 2)} ")
    left, right = min(start, end), max(start, end)
    dash = "╌" if line.answer else "─"
    words = f" {_cut(line.words, right - left - 7)} "
    room = right - left - 2 - columns(words)
    before, after = dash * (room // 2), dash * (room - room // 2)
    arrow = f"{before}{words}{after}▶" if start < end else f"◀{before}{words}{after}"
    return _over(life, left + 1, arrow)


def _over(life: list[str], begin: int, words: str) -> str:
    """The lifelines with *words* laid over them from column *begin* on."""
    return ("".join(life[:begin]) + words + "".join(life[begin + columns(words) :])).rstrip()


def _cut(text: str, wide: int) -> str:
    out = ""
    for char in text:
        if columns(out + char) > wide - 1:
            return out + "…"
        out += char
    return out
