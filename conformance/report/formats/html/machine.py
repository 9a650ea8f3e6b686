"""A machine's diagram for a page: drawn once, and coloured by style rules wherever it is used.

``state_diagram`` draws it. The text of each row gets a ground of its own, and each row, edge and state a custom
property that colours it. The page defines the picture as a symbol; each use of the symbol sets the properties.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from html import escape
from typing import Final
from xml.etree import ElementTree as ET

from turncheck.model.declaration.machine import Machine, Row
from turncheck.model.machines.registry import MACHINES
from turncheck.model.rendering.graphviz_svg import to_svg
from turncheck.model.rendering.state_diagram import activities, aside, edge_lines, edges, to_dot

_SVG: Final = "{http://www.w3.org/2000/svg}"
_KEPT: Final = ("d", "points", "cx", "cy", "rx", "ry", "x", "y", "text-anchor", "stroke-width")
_LINE: Final = 12.6
_RISE: Final = 9.6
_CHARACTER: Final = 5.9
"""Measures of a text of 10.5 px: line height, rise above the base, greatest width of a character."""


STRENGTH: Final = ("absent", "missed", "taken", "lit", "offending")
"""Colours of rows, the strongest last."""
OUTLINED: Final = {"offending", "missed"}
"""Colours of a row that come with an outline: no fact is shown by colour alone."""


@cache
def picture_of(machine: str) -> "MachinePicture":
    """Draw the machine of that name, once."""
    return MachinePicture(MACHINES[machine])


class MachinePicture:
    """A machine's diagram. A row's place in ``rows`` is its number in the style's names."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.name = f"machine-{machine.name}"
        self.rows: Final = machine.rows
        self._edges: Final = edges(machine)
        self._properties: Final[Mapping[object, str]] = {
            item: f"{machine.name}-{letter}{number}"
            for letter, items in zip("res", (self.rows, self._edges, machine.states), strict=True)
            for number, item in enumerate(items)
        }
        self._root: Final = ET.fromstring(to_svg(to_dot(machine)))  # noqa: S314 - it is our own
        self.view_box: Final = self._root.get("viewBox", "")
        self.width, self.height = (round(float(size)) for size in self.view_box.split()[2:])

    @cached_property
    def symbol(self) -> str:
        """The ``symbol`` element, with classes instead of colours: a strict content security policy accepts it."""
        graph = next(self._root.iter(f"{_SVG}g"))
        parts, groups = [*_texts(graph)], self._groups()
        for group in graph.iterfind(f".//{_SVG}g"):
            parts += self._group(group, *groups.get(group.findtext(f"{_SVG}title", ""), ("", [])))
        return (
            f'<symbol id="{self.name}" viewBox="{self.view_box}"><g class="machine" '
            f'transform="{graph.get("transform", "")}">{"".join(parts)}</g></symbol>'
        )

    @property
    def style(self) -> str:
        """The rules that colour the symbol by the properties."""
        rules: list[str] = []
        for item, name in self._properties.items():
            if isinstance(item, Row):
                rules.append(f".{name}{{fill:var(--{name},none);stroke:var(--{name}-line,none)}}")
            else:
                rules.append(f".machine .{name}{{stroke:var(--{name},var(--ink))}}")
            if item in self._edges:
                rules.append(f".machine .{name}.solid{{fill:var(--{name},var(--ink))}}")
        return "".join(rules)

    def lit(self, selector: str, colours: Mapping[Row, str], states: Iterable[str] = ()) -> str:
        """Write the rule that gives rows their colours, names of the page's custom properties, and *states* the way's.

        A row that leads to a state colours its edge too, by the colour's ``-line``; of several rows the strongest does.
        """
        said: dict[str, str] = {self._properties[state]: "lit-line" for state in states}
        for row, colour in sorted(colours.items(), key=lambda item: STRENGTH.index(item[1])):
            said[self._properties[row]] = colour
            if colour in OUTLINED:
                said[f"{self._properties[row]}-line"] = f"{colour}-line"
            if not row.internal:
                said[self._properties[row.source, row.dest]] = f"{colour}-line"
        return f"{selector}{{{''.join(f'--{name}:var(--{colour});' for name, colour in said.items())}}}"

    def _groups(self) -> dict[str, tuple[str, list[Row | None]]]:
        """Map a group's title to its class, and to the row of each line of its text."""
        groups = {
            f"{source}->{dest}": (
                self._properties[source, dest],
                [row for _, row in edge_lines(self.machine, rows)],
            )
            for (source, dest), rows in self._edges.items()
        }
        for state in self.machine.states:
            for title, kind, quiet in ((state, self._properties[state], False), (aside(state), "aside", True)):
                rows = [line.row for line in activities(self.machine, state) if line.quiet == quiet]
                groups[title] = kind, [None, *rows]
        return groups

    def _group(self, group: ET.Element, kind: str, lines: Sequence[Row | None]) -> Iterator[str]:
        yield f'<g class="{escape(group.get("class", ""))}">'
        texts = group.findall(f"{_SVG}text")
        bases = sorted({float(text.get("y", "0")) for text in texts})
        left, right = _extent(group, texts)
        for base, row in zip(bases, lines, strict=False):
            if row is not None:
                yield (
                    f'<rect class="{self._properties[row]}" x="{left:.1f}" y="{base - _RISE:.1f}" '
                    f'width="{right - left:.1f}" height="{_LINE}"/>'
                )
        for child in group:
            name = child.tag.removeprefix(_SVG)
            if name not in {"title", "text"}:
                solid = " solid" if child.get("fill") not in {None, "none", "white"} else ""
                yield _element(name, child, f"{kind}{solid}".strip())
        yield from _texts(group)
        yield "</g>"


def _extent(group: ET.Element, texts: Sequence[ET.Element]) -> tuple[float, float]:
    """Find the left and right ends of the grounds: of the whole state, or of the label beside an edge."""
    if "node" in group.get("class", "").split():
        shapes = [shape.get("d") or shape.get("points") or "" for shape in group]
        places = [float(x) for shape in shapes for x in re.findall(r"(-?[\d.]+),-?[\d.]+", shape)]
        return min(places, default=0) + 1, max(places, default=0) - 1
    starts = [float(text.get("x", "0")) for text in texts]
    ends = [start + _CHARACTER * len(text.text or "") for start, text in zip(starts, texts, strict=True)]
    return min(starts, default=0), max(ends, default=0)


def _texts(group: ET.Element) -> Iterator[str]:
    for text in group.findall(f"{_SVG}text"):
        if (words := text.text or "").strip("\N{NO-BREAK SPACE} "):
            yield _element("text", text, "quiet" if text.get("fill") else "", escape(words))


def _element(name: str, given: ET.Element, kind: str, content: str = "") -> str:
    kept = {key: given.get(key) for key in _KEPT if given.get(key) is not None}
    attributes = "".join(f' {key}="{escape(value or "")}"' for key, value in kept.items())
    return f'<{name} class="{kind}"{attributes}>{content}</{name}>'
