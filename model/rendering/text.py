"""A scene as plain text, for a terminal: one row per line, an arrow with its words on it."""

from typing import Final

from .printable import columns, cut
from .scene import Band, Edge, Row, Scene, label

WIDE: Final = 72
"""Columns from the first lifeline to the last, at most: with the texts beside them, one screen line."""
_WIDEST: Final = 50
_LEFT: Final = 3
_EDGES: Final = {"else": "├", "end": "└"}


def to_text(scene: Scene) -> str:
    """Write *scene* as lines of text; words too long for their arrow are cut."""
    gap = min(WIDE // max(len(scene.lifelines) - 1, 1), _WIDEST)
    places = {party: _LEFT + gap * index for index, party in enumerate(scene.lifelines)}
    heads = "".join(f" {party}".ljust(gap) for party in scene.lifelines).rstrip()
    return "\n".join([heads, *(_row(row, places) for row in scene.rows)]) + "\n"


def _row(row: Row, places: dict[str, int]) -> str:
    if isinstance(row, Edge):
        return f"   {_EDGES.get(row.kind, '┌')} {'' if row.kind == 'end' else row.kind} {row.caption}".rstrip()
    words = label(row, "✗")
    if isinstance(row, Band):
        return f"   ── {words}"
    life = [" "] * (max(places.values()) + 1)
    for place in places.values():
        life[place] = "│"
    start, end = places[row.source], places[row.dest]
    if start == end:
        return _over(life, start + 1, f" {cut(words, WIDE // 2)} ")
    left, right = min(start, end), max(start, end)
    dash = "╌" if row.stroke else "─"
    words = f" {cut(words, right - left - 7)} "
    room = right - left - 2 - columns(words)
    before, after = dash * (room // 2), dash * (room - room // 2)
    arrow = f"{before}{words}{after}▶" if start < end else f"◀{before}{words}{after}"
    return _over(life, left + 1, arrow)


def _over(life: list[str], begin: int, words: str) -> str:
    """Lay *words* over the lifelines from column *begin* on."""
    return ("".join(life[:begin]) + words + "".join(life[begin + columns(words) :])).rstrip()
