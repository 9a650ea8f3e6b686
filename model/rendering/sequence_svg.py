"""The sequence picture of a cycle as SVG: plain strings, the same bytes everywhere, nothing but what it says in it.

A text of the log is in a monospaced face: it takes the same room whatever font is at hand.
"""

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from ..core.cycles import CycleViews
from .sequence import LIFELINES, Arrow, Scene, Span, columns, layout

_GAP, _ROW, _TOP = 256, 42, 132
_LABELS, _BARS, _NUMBERS, _FIRST = 20, 122, 166, 196
_LINES: Final = tuple(_FIRST + _GAP * index for index in range(len(LIFELINES)))
_STEPS: Final = _LINES[-1] + 76
_GROUPS: Final = _STEPS + 84
_WIDTH: Final = _GROUPS + 100
_STYLE: Final = """<style>
text { font: 12px Helvetica, Arial, "Liberation Sans", "DejaVu Sans", sans-serif; fill: #000 }
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
.tip { fill: #000; stroke: none }
.paper { fill: #fff; stroke: none }
.mark { fill: #ededed; stroke-width: 1.6 }
</style>"""
HEAD: Final = (
    '<defs><marker id="head" viewBox="0 0 10 10" refX="9.5" refY="5" markerWidth="9" markerHeight="9" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M 0 1 L 10 5 L 0 9 z" class="tip"/></marker></defs>'
)
"""The arrows' head."""


def to_svg(log: Sequence[object], cycle: CycleViews, mark: int | None = None) -> str:
    """Draw *cycle*. See ``sequence.layout`` for the arguments."""
    return _document(layout(log, cycle, mark), (_STYLE, HEAD))


def embedded(scene: Scene) -> str:
    """Draw *scene* for a page that has the styles of its classes, and ``HEAD`` once."""
    return _document(scene, ())


def _document(scene: Scene, definitions: Sequence[str]) -> str:
    height = _y(len(scene.arrows)) - 2
    size = f'width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escape(scene.title)}</title>",
        *definitions,
        f'<rect {size} class="paper"/>',
        *_heads(scene.title, height),
        *(part for row, arrow in enumerate(scene.arrows) for part in _arrow(row, arrow)),
        *_rounds(scene.rounds),
        *_steps(scene),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _y(row: int) -> int:
    return _TOP + _ROW * row


def _text(x: int, y: int, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" class="{kind}" text-anchor="{anchor}">{escape(words)}</text>'


def _line(start: tuple[int, int], end: tuple[int, int], kind: str = "", more: str = "") -> str:
    return f'<line x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}" class="{kind}"{more}/>'


def _circle(x: int, y: int, kind: str) -> str:
    return f'<circle cx="{x}" cy="{y}" r="4" class="{kind}"/>'


def _heads(title: str, height: int) -> Iterator[str]:
    yield _text((_LINES[0] + _LINES[-1]) // 2, 30, title, "title", "middle")
    yield _text(_LABELS, 70, "InferenceLoop", "head")
    yield _text(_LABELS + 9, 88, "input", "note")
    yield _circle(_LABELS + 1, 84, "input")
    yield _text(_LABELS + 57, 88, "output", "note")
    yield _circle(_LABELS + 49, 84, "output")
    yield _text(_STEPS - 5, 70, "ResolutionStep", "head")
    yield _text(_STEPS - 5, 88, "steps and their groups", "note")
    for x, name in zip(_LINES, LIFELINES, strict=True):
        yield _line((x, 92), (x, height - 14), "life")
        yield f'<rect x="{x - 44}" y="62" width="88" height="30" rx="4" class="box"/>'
        yield _text(x, 81, name, "head", "middle")


def _arrow(row: int, arrow: Arrow) -> Iterator[str]:
    y = _y(row)
    if arrow.marked:
        width = _LINES[-1] - _NUMBERS + 62
        yield f'<rect x="{_NUMBERS - 34}" y="{y - 22}" width="{width}" height="{_ROW - 2}" class="mark"/>'
        yield f'<path d="M {_NUMBERS + 6} {y - 5} l 9 5 l -9 5 z" class="output"/>'
    if arrow.at is not None:
        yield _text(_NUMBERS, y + 4, str(arrow.at), "head" if arrow.marked else "note", "end")
    if arrow.source == arrow.dest:
        yield from _across(y, arrow)
        return
    x1, x2 = _LINES[arrow.source], _LINES[arrow.dest]
    back = x2 < x1
    kind = (
        "asked"
        if arrow.at is None
        else "other"
        if not arrow.ours
        else "answer"
        if abs(arrow.dest - arrow.source) > 1
        else ""
    )
    yield _line((x1, y), (x2 + (2 if back else -2), y), kind, ' marker-end="url(#head)"')
    middle = x1 + (-_GAP if back else _GAP) // 2
    colour = "" if arrow.ours else " not-ours"
    if arrow.text:
        yield _text(middle, y - 6, arrow.text, f"said{colour}", "middle")
    yield _text(middle, y + (13 if arrow.text else -5), arrow.caption, "note", "middle")


def _across(y: int, arrow: Arrow) -> Iterator[str]:
    """Draw an event that nobody sends: the boundary, a heavy line across all lifelines; others stand on a light one."""
    stop = arrow.ours
    yield _line((_LINES[0] - 12, y), (_LINES[-1] + 12, y), "stop" if stop else "other")
    words = f"{arrow.caption}: {arrow.text}" if arrow.text else arrow.caption
    half = 4 * columns(words) + 12
    middle = (_LINES[0] + _LINES[-1]) // 2
    yield f'<rect x="{middle - half}" y="{y - 12}" width="{2 * half}" height="24" rx="4" class="box"/>'
    yield _text(middle, y + 4, words, "head" if stop else "note", "middle")


def _rounds(rounds: Sequence[Span]) -> Iterator[str]:
    """Draw a bar a round, a circle on it for each of its events; rounds that overlap get bars side by side."""
    lanes: list[int] = []
    for item in rounds:
        lane = next((index for index, last in enumerate(lanes) if last < item.first), len(lanes))
        lanes[lane : lane + 1] = [item.last]
        x = _BARS - 14 * lane
        yield _text(_LABELS, _y(item.first) + 4, item.label)
        yield _line((x, _y(item.first)), (x, _y(item.last)))
        yield from (_circle(x, _y(row), "input") for row in item.inputs)
        yield from (_circle(x, _y(row), "output") for row in item.outputs)


def _steps(scene: Scene) -> Iterator[str]:
    for step in scene.steps:
        yield from _bracket(_STEPS, step)
        for group in step.parts:
            yield from _bracket(_GROUPS, group)
    for row, call in scene.attached.items():
        yield _text(_STEPS + 10, _y(row) + 4, f"result of {call}", "note")


def _bracket(x: int, span: Span) -> Iterator[str]:
    top, bottom = _y(span.first) - 13, _y(span.last) + 13
    yield f'<path d="M {x - 5} {top} H {x} V {bottom} H {x - 5}"/>'
    for index, words in enumerate(span.label.split(", ")):
        yield _text(x + 10, _y(span.first) + 4 + 14 * index, words, "note" if index else "")
