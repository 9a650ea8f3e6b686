"""A sequence picture before it is drawn: lifelines, rows of arrows and bands, and the views of a log beside them.

``svg``, ``mermaid`` and ``text`` each draw any scene; ``log_scene`` and ``stories`` make some.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Stroke: TypeAlias = Literal["", "answer", "asked", "other"]


@dataclass(frozen=True)
class Arrow:
    """A row: *source* tells *dest* something; if both are the same, the party does something by itself.

    ``caption`` is our word for it, ``text`` the party's own words, ``at`` an event's position. The stroke is dashed for
    an ``answer``, and light for a row that the log does not hold (``asked``) or that is no part of a cycle (``other``).
    ``marked`` is True for the row to point at.
    """

    source: str
    dest: str
    caption: str
    text: str = ""
    stroke: Stroke = ""
    at: int | None = None
    marked: bool = False


@dataclass(frozen=True)
class Band:
    """A row across all lifelines: a ``part`` begins here, a run ends (``stop``), or something ``other`` happens."""

    caption: str
    text: str = ""
    stroke: Literal["part", "stop", "other"] = "part"
    at: int | None = None
    marked: bool = False


@dataclass(frozen=True)
class Edge:
    """A row at the border of a frame: one opens there (``opt``, ``alt``, ``loop``), goes on (``else``), or ends."""

    kind: Literal["opt", "alt", "loop", "else", "end"]
    caption: str = ""


Row: TypeAlias = Arrow | Band | Edge


@dataclass(frozen=True)
class Span:
    """A round, a step or a group: its rows (in a round, ``inputs`` and ``outputs``) and its parts."""

    label: str
    outputs: tuple[int, ...]
    inputs: tuple[int, ...] = ()
    parts: "tuple[Span, ...]" = ()

    @property
    def first(self) -> int:
        """The topmost row."""
        return min(self.inputs + self.outputs)

    @property
    def last(self) -> int:
        """The lowest row."""
        return max(self.inputs + self.outputs)


@dataclass(frozen=True)
class Views:
    """The InferenceLoop view, drawn on the left, and the ResolutionStep view, drawn on the right.

    Spans name rows by their index. ``attached`` maps the row of each result to the position of its call.
    """

    rounds: tuple[Span, ...]
    steps: tuple[Span, ...]
    attached: Mapping[int, int]


@dataclass(frozen=True)
class Scene:
    """The whole picture. ``lifelines``, from left to right, name every source and destination."""

    title: str
    lifelines: tuple[str, ...]
    rows: tuple[Row, ...]
    views: Views | None = None


def label(row: Arrow | Band, mark: str) -> str:
    """Write *row* on one line, with *mark* before it if it is marked."""
    at = None if row.at is None else str(row.at)
    return " ".join(filter(None, (mark * row.marked, at, row.caption, row.text and f"“{row.text}”")))
