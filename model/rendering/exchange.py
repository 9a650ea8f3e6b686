"""Who says what to whom when a machine runs, as a sequence picture: Mermaid text and SVG, the same bytes everywhere.

``sequence`` draws a cycle of a log; this draws what a machine hears and asks for, whoever the parties are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, TypeAlias

from .sequence import columns

_GAP, _ROW, _TOP, _SIDE = 200, 34, 76, 90
_STYLE: Final = """<style>
text { font: 12px Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; fill: #000 }
.title { font-size: 17px; font-weight: bold }
.head { font-weight: bold }
line, rect { stroke: #000; stroke-width: 1.2; fill: none }
.life { stroke: #999; stroke-width: 0.8; stroke-dasharray: 2 3 }
.answer { stroke-dasharray: 6 3 }
.part { stroke: #777; stroke-width: 0.9 }
.box { fill: #fff }
.band { fill: #ededed; stroke: none }
.tip { fill: #000; stroke: none }
.paper { fill: #fff; stroke: none }
</style>"""
_HEAD: Final = (
    '<defs><marker id="head" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="9" markerHeight="9" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M 0 1 L 10 5 L 0 9 z" class="tip"/></marker></defs>'
)


@dataclass(frozen=True)
class Message:
    """One party tells another something; where they are the same it does something by itself. ``answer`` is dashed."""

    source: str
    dest: str
    words: str
    answer: bool = False


@dataclass(frozen=True)
class Part:
    """From here on something else is told: another way that it can go."""

    title: str


Line: TypeAlias = Message | Part


@dataclass(frozen=True)
class Exchange:
    """A picture before it is drawn. ``parties`` stand from left to right, and name whoever the lines speak of."""

    title: str
    parties: tuple[str, ...]
    lines: tuple[Line, ...]


def to_mermaid(exchange: Exchange) -> str:
    """Write *exchange* as Mermaid; a part is a note across."""
    first, last = exchange.parties[0], exchange.parties[-1]
    out = ["---", f"title: {exchange.title}", "---", "sequenceDiagram"]
    out += [f"    participant {_name(party)} as {party}" for party in exchange.parties]
    for line in exchange.lines:
        if isinstance(line, Part):
            out.append(f"    Note over {_name(first)},{_name(last)}: {_entities(line.title)}")
        else:
            arrow = "-->>" if line.answer else "->>"
            out.append(f"    {_name(line.source)}{arrow}{_name(line.dest)}: {_entities(line.words)}")
    return "\n".join(out) + "\n"


def _name(party: str) -> str:
    return party.replace(" ", "_")


def _entities(text: str) -> str:
    """All but letters, digits and a few marks as entities: Mermaid finds nothing to obey."""
    return "".join(char if char.isalnum() or char in " ,.()!“”_" else f"#{ord(char)};" for char in text)


def to_svg(exchange: Exchange) -> str:
    """Draw *exchange*."""
    width = 2 * _SIDE + _GAP * (len(exchange.parties) - 1)
    height = _y(len(exchange.lines)) + 10
    size = f'width="{width}" height="{height}"'
    places = {party: _SIDE + _GAP * index for index, party in enumerate(exchange.parties)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(exchange.title)}</title>",
        _STYLE,
        _HEAD,
        f'<rect {size} class="paper"/>',
        _text(width // 2, 28, exchange.title, "title"),
        *(part for party, x in places.items() for part in _lifeline(x, party, height)),
        *(part for row, line in enumerate(exchange.lines) for part in _drawn(_y(row), line, places, width)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _y(row: int) -> int:
    return _TOP + _ROW * (row + 1)


def _text(x: int, y: int, words: str, kind: str = "") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="middle">{escape(words)}</text>'


def _lifeline(x: int, party: str, height: int) -> Iterator[str]:
    half = 4 * columns(party) + 12
    yield f'<line x1="{x}" y1="80" x2="{x}" y2="{height - 10}" class="life"/>'
    yield f'<rect x="{x - half}" y="50" width="{2 * half}" height="30" rx="4" class="box"/>'
    yield _text(x, 69, party, "head")


def _drawn(y: int, line: Line, places: dict[str, int], width: int) -> Iterator[str]:
    if isinstance(line, Part):
        yield f'<rect x="12" y="{y - 12}" width="{width - 24}" height="24" class="band"/>'
        yield _text(width // 2, y + 4, line.title, "head")
        return
    start, end = places[line.source], places[line.dest]
    if start == end:
        half = 7 * columns(line.words) // 2 + 8
        yield f'<rect x="{start - half}" y="{y - 13}" width="{2 * half}" height="20" rx="4" class="box"/>'
        yield _text(start, y + 1, line.words)
        return
    kind = "answer" if line.answer else ""
    tip = end + (2 if end < start else -2)
    yield f'<line x1="{start}" y1="{y}" x2="{tip}" y2="{y}" class="{kind}" marker-end="url(#head)"/>'
    yield from _caption((start + end) // 2, y - 5, line.words)


def _caption(x: int, y: int, words: str) -> Sequence[str]:
    """The words over their arrow, on a ground that hides the lifelines behind them."""
    half = 7 * columns(words) // 2
    ground = f'<rect x="{x - half}" y="{y - 11}" width="{2 * half}" height="12" class="paper"/>'
    return ground, _text(x, y, words)
