"""A scene as SVG: plain strings, the same bytes everywhere; the picture loads nothing.

A log's text is in a monospaced face, which has the same width in every font.
"""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate
from typing import Final

from .printable import columns
from .scene import Arrow, Band, Edge, Row, Scene, Span, Views

_TOP, _HEAD_TOP, _HEAD_BASE = 132, 62, 92
_LABELS, _BARS = 20, 122
_MARGIN: Final = 90
_FRAME, _INSET = 6, 6
"""px from the border to the outermost frame, and from each frame to the next within."""
_FIRST: Final = 196
"""px from the left border to the first lifeline, if rounds stand on its left."""
_STEPS, _GROUPS, _RIGHT = 76, 160, 260
"""px from the last lifeline to the steps, to their groups, and to the right border."""
_STYLE: Final = """<style>
text { font: 12px Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; fill: #000 }
.middle { text-anchor: middle }
.end { text-anchor: end }
.said { font: 11px "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace }
.title { font-size: 17px; font-weight: bold }
.head { font-weight: bold }
.note { font-size: 10.5px; fill: #555 }
.not-ours { fill: #777 }
line, path, rect, circle { stroke: #000; stroke-width: 1.2; fill: none }
.life { stroke: #999; stroke-width: 0.8; stroke-dasharray: 2 3 }
.answer { stroke-dasharray: 6 3 }
.asked, .other { stroke: #777; stroke-width: 0.9; stroke-dasharray: 2 3 }
.stop { stroke-width: 3 }
.box, .input { fill: #fff }
.output { fill: #000 }
.band { fill: #ededed; stroke: none }
.frame { stroke: #777; stroke-width: 0.9 }
.branch { stroke: #777; stroke-width: 0.9; stroke-dasharray: 6 3 }
.tip { fill: #000; stroke: none }
.paper { fill: #fff; stroke: none }
.mark { fill: #ededed; stroke-width: 1.6 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.note, .not-ours { fill: #9aa4af }
line, path, rect, circle { stroke: #c9d1d9 }
.life, .asked, .other, .frame, .branch { stroke: #6e7781 }
.box, .input, .paper { fill: #0d1117 }
.output, .tip { fill: #c9d1d9 }
.band, .mark { fill: #21262d }
.band, .tip, .paper { stroke: none }
}
</style>"""
HEAD: Final = (
    '<defs><marker id="head" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="9" markerHeight="9" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M 0 1 L 10 5 L 0 9 z" class="tip"/></marker></defs>'
)
"""The head of arrows."""


def to_svg(scene: Scene) -> str:
    """Draw *scene* as a file."""
    opening, title, *parts = _drawn(scene)
    opening = opening.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return "\n".join([opening, title, _STYLE, HEAD, *parts]) + "\n"


def embedded(scene: Scene) -> str:
    """Draw *scene* for a page that contains the styles of its classes, and ``HEAD`` once."""
    return "".join(_drawn(scene))


class _Sheet:
    """Measures in px, of a picture with room for a log's texts and views, or of a narrower one without.

    Captions are in small print beside a log's own words.
    """

    def __init__(self, scene: Scene) -> None:
        self.lifelines, views = scene.lifelines, scene.views is not None
        self.caption = "note" if views else ""
        self.first, self.gap, self.pitch, right = (_FIRST, 256, 42, _RIGHT) if views else (_MARGIN, 200, 34, _MARGIN)
        self.last = self.first + self.gap * (len(self.lifelines) - 1)
        self.middle = (self.first + self.last) // 2
        self.width = self.last + right
        heights = (self.pitch // 2 if isinstance(row, Edge) and row.kind == "end" else self.pitch for row in scene.rows)
        self.tops = [*accumulate(heights, initial=_TOP)]

    def x(self, lifeline: str) -> int:
        return self.first + self.gap * self.lifelines.index(lifeline)

    def y(self, row: int) -> int:
        return self.tops[row]


def _drawn(scene: Scene) -> Iterator[str]:
    sheet = _Sheet(scene)
    height = sheet.y(len(scene.rows)) - 2
    size = f'width="{sheet.width}" height="{height}"'
    yield f'<svg {size} viewBox="0 0 {sheet.width} {height}" role="img">'
    yield f"<title>{escape(scene.title)}</title>"
    yield f'<rect {size} class="paper"/>'
    yield _text(sheet.middle, 30, scene.title, "title", "middle")
    if scene.views is not None:
        yield from _view_heads(sheet)
    for name in scene.lifelines:
        yield from _lifeline(sheet.x(name), name, height)
    yield from _frames(sheet, scene.rows)
    for place, row in enumerate(scene.rows):
        if not isinstance(row, Edge):
            yield from _row(sheet, sheet.y(place), row)
    if scene.views is not None:
        yield from _rounds(sheet, scene.views.rounds)
        yield from _steps(sheet, scene.views)
    yield "</svg>"


def _text(x: int, y: int, words: str, *classes: str) -> str:
    return f'<text x="{x}" y="{y}"{_kind(*classes)}>{escape(words)}</text>'


def _kind(*classes: str) -> str:
    names = " ".join(filter(None, classes))
    return f' class="{names}"' if names else ""


def _line(start: tuple[int, int], end: tuple[int, int], kind: str = "", more: str = "") -> str:
    return f'<line x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}"{_kind(kind)}{more}/>'


def _rect(x: int, y: int, width: int, height: int, kind: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{kind}"/>'


def _box(x: int, y: int, half: int, height: int) -> str:
    """Draw a box around *x*, with its top at *y*."""
    return f'<rect x="{x - half}" y="{y}" width="{2 * half}" height="{height}" rx="4" class="box"/>'


def _circle(x: int, y: int, kind: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="4" class="{kind}"/>'


def _view_heads(sheet: _Sheet) -> Iterator[str]:
    yield _text(_LABELS, 70, "InferenceLoop", "head")
    yield _text(_LABELS + 9, 88, "input", "note")
    yield _circle(_LABELS + 1, 84, "input")
    yield _text(_LABELS + 57, 88, "output", "note")
    yield _circle(_LABELS + 49, 84, "output")
    yield _text(sheet.last + _STEPS - 5, 70, "ResolutionStep", "head")
    yield _text(sheet.last + _STEPS - 5, 88, "steps and their groups", "note")


def _lifeline(x: int, name: str, height: int) -> Iterator[str]:
    yield _line((x, _HEAD_BASE), (x, height - 14), "life")
    yield _box(x, _HEAD_TOP, max(44, 4 * columns(name) + 12), _HEAD_BASE - _HEAD_TOP)
    yield _text(x, 81, name, "head", "middle")


def _frames(sheet: _Sheet, rows: Sequence[Row]) -> Iterator[str]:
    """Draw a frame around the rows between two edges, one inside the other; a branch begins below a dashed line."""
    tops: list[int] = []
    for place, row in enumerate(rows):
        if not isinstance(row, Edge):
            continue
        y = sheet.y(place)
        if row.kind == "end":
            top, inset = tops.pop(), _INSET * len(tops)
            yield _rect(_FRAME + inset, top - 14, sheet.width - 2 * (_FRAME + inset), y - top + 6, "frame")
            continue
        if row.kind != "else":
            tops.append(y)
        left = _FRAME + _INSET * (len(tops) - 1)
        if row.kind == "else":
            yield _line((left, y - 14), (sheet.width - left, y - 14), "branch")
        yield _text(left + 6, y + 1, row.kind, "head")
        words = row.caption and f"[{row.caption}]"
        yield _rect(left + 40, y - 9, 6 * columns(words), 12, "paper")
        yield _text(left + 42, y + 1, words, "note")


def _row(sheet: _Sheet, y: int, row: Arrow | Band) -> Iterator[str]:
    numbers = sheet.first - 30
    if row.marked:
        width, height = sheet.last - numbers + 62, sheet.pitch - 2
        yield f'<rect x="{numbers - 34}" y="{y - 2 - height // 2}" width="{width}" height="{height}" class="mark"/>'
        yield f'<path d="M {numbers + 6} {y - 5} l 9 5 l -9 5 z" class="output"/>'
    if row.at is not None:
        yield _text(numbers, y + 4, str(row.at), "head" if row.marked else "note", "end")
    if isinstance(row, Band):
        yield from _band(sheet, y, row)
    elif row.source == row.dest:
        yield _box(sheet.x(row.source), y - 13, 7 * columns(row.caption) // 2 + 8, 20)
        yield _text(sheet.x(row.source), y + 1, row.caption, "middle")
    else:
        yield from _arrow(sheet, y, row)


def _arrow(sheet: _Sheet, y: int, row: Arrow) -> Iterator[str]:
    """Draw an arrow, with its words beside its source: there only long ones cross a lifeline."""
    start, end = sheet.x(row.source), sheet.x(row.dest)
    back = end < start
    yield _line((start, y), (end + (2 if back else -2), y), row.stroke, ' marker-end="url(#head)"')
    middle = start + (-sheet.gap if back else sheet.gap) // 2
    if row.text:
        yield _text(middle, y - 6, row.text, "said", "not-ours" if row.stroke == "other" else "", "middle")
    base = y + (13 if row.text else -5)
    half = (6 if sheet.caption else 7) * columns(row.caption) // 2
    if 2 * half > sheet.gap:
        yield f'<rect x="{middle - half}" y="{base - 11}" width="{2 * half}" height="12" class="paper"/>'
    yield _text(middle, base, row.caption, sheet.caption, "middle")


def _band(sheet: _Sheet, y: int, row: Band) -> Iterator[str]:
    """Draw the boundary as a heavy line across all lifelines, another event on a light one, a part on a ground."""
    words = f"{row.caption}: {row.text}" if row.text else row.caption
    if row.stroke == "part":
        yield _rect(12, y - 12, sheet.width - 24, 24, "band")
    else:
        yield _line((sheet.first - 12, y), (sheet.last + 12, y), row.stroke)
        yield _box(sheet.middle, y - 12, 4 * columns(words) + 12, 24)
    yield _text(sheet.middle, y + 4, words, "note" if row.stroke == "other" else "head", "middle")


def _rounds(sheet: _Sheet, rounds: Sequence[Span]) -> Iterator[str]:
    """Draw a bar per round, with a circle on it for each event; overlapping rounds get bars side by side."""
    lanes: list[int] = []
    for item in rounds:
        lane = next((index for index, last in enumerate(lanes) if last < item.first), len(lanes))
        lanes[lane : lane + 1] = [item.last]
        x = _BARS - 14 * lane
        yield _text(_LABELS, sheet.y(item.first) + 4, item.label)
        yield _line((x, sheet.y(item.first)), (x, sheet.y(item.last)))
        yield from (_circle(x, sheet.y(row), "input") for row in item.inputs)
        yield from (_circle(x, sheet.y(row), "output") for row in item.outputs)


def _steps(sheet: _Sheet, views: Views) -> Iterator[str]:
    for step in views.steps:
        yield from _bracket(sheet, sheet.last + _STEPS, step)
        for group in step.parts:
            yield from _bracket(sheet, sheet.last + _GROUPS, group)
    for row, call in views.attached.items():
        yield _text(sheet.last + _STEPS + 10, sheet.y(row) + 4, f"result of {call}", "note")


def _bracket(sheet: _Sheet, x: int, span: Span) -> Iterator[str]:
    top, bottom = sheet.y(span.first) - 13, sheet.y(span.last) + 13
    yield f'<path d="M {x - 5} {top} H {x} V {bottom} H {x - 5}"/>'
    for index, words in enumerate(span.label.split(", ")):
        yield _text(x + 10, sheet.y(span.first) + 4 + 14 * index, words, "note" if index else "")
