"""Diagrams of a learned machine, and of two compared: agreed, missing and extra edges by colour and by line style.

Letters that are not awaited are left out, and so are steps without output that change no state. Letters of one edge
share it, one per line. If exchanging the two colours changes nothing, as X-8 demands, only one of two states that are
each other's image is drawn.
"""

import re
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Final, TypeAlias

from turncheck.model.rendering.graphviz_svg import digraph, to_svg
from turncheck.model.rendering.printable import line

from ..automata.learn.learned import LOCAL_TEXTS, Comparison, Edge, Learned, Share
from ..automata.learn.output_abstraction import ARROW, QUIET
from ..generation.situations import COLOURS

_WIDTH: Final = 34
_LEGEND: Final = (
    "agreed: solid, black",
    "missing, in the reference only: dashed, red",
    "extra, in the target only: heavy, blue",
    "two numbers: the target's state, and the reference's",
)
_STYLES: Final[Mapping[Share, Mapping[str, str]]] = {
    "agreed": {"color": "#222222", "fontcolor": "#222222", "style": "solid", "penwidth": "1.2"},
    "missing": {"color": "#b3261e", "fontcolor": "#b3261e", "style": "dashed", "penwidth": "2"},
    "extra": {"color": "#0b57d0", "fontcolor": "#0b57d0", "style": "bold", "penwidth": "3"},
}
Name: TypeAlias = tuple[str, str, Share]
"""A node's number in its machine, what is awaited in it, and which machine has it."""
_HOME: Final = "→ 0"
"""Steps that end a run lead to state 0. They are written in the node: as edges, they would be half of all."""
_SWAP: Final[Mapping[str, str]] = dict(zip(COLOURS, reversed(COLOURS), strict=True))


def machine_svg(learned: Learned) -> str:
    """Draw one machine. Raises ValueError where Graphviz refuses it."""
    edges = [
        Edge(one.source, one.letter, one.output, one.dest, "agreed")
        for one in learned.transitions
        if one.output not in LOCAL_TEXTS
    ]
    names: list[Name] = [(f"{number}", state.awaits, "agreed") for number, state in enumerate(learned.states)]
    return _draw(f"{learned.target}: {len(names)} states", names, edges, [_bounded(learned)])


def comparison_svg(found: Comparison) -> str:
    """Draw two machines over each other. Raises ValueError where Graphviz refuses it."""
    names: list[Name] = []
    for node in found.nodes:
        if node.target is not None:
            share: Share = "agreed" if node.reference is not None else "extra"
            both = f"{node.target}" if node.reference is None else f"{node.target}, {node.reference}"
            names.append((both, found.target.states[node.target].awaits, share))
        elif node.reference is not None:
            names.append((f"{node.reference}", found.reference.states[node.reference].awaits, "missing"))
    title = f"{found.target.target} over {found.reference.target}"
    return _draw(title, names, found.edges, [_bounded(found.target), *_LEGEND])


def _bounded(learned: Learned) -> str:
    options = {**learned.policies, **learned.limits}
    given = "".join(f", {name} {value}" for name, value in options.items())
    bounds = learned.bounds
    return f"messages that wait: at most {bounds.messages}; calls of a response: at most {bounds.calls}{given}"


def _draw(title: str, names: Sequence[Name], edges: Sequence[Edge], notes: list[str]) -> str:
    images = _images(len(names), edges)
    if images is not None and images != [*range(len(names))]:
        kept = [edge for edge in edges if edge.source <= images[edge.source]]
        edges = [Edge(one.source, one.letter, one.output, min(one.dest, images[one.dest]), one.share) for one in kept]
        notes = [*notes, f"{COLOURS[0]} and {COLOURS[1]} exchanged give the states that are not drawn"]
    notes = [
        *notes,
        "in a node: its number and what is awaited; what changes no state; what leads to state 0",
        "left out: what is not awaited or beyond the bound, and what neither says nor changes anything",
    ]
    said = [line(text).replace("\\", "\\\\") for text in (title, " ", *notes, " ")]
    label = "".join(f"{text}\\n" for text in said)
    sizes = {"fontsize": "11", "nodesep": "0.35", "ranksep": "0.5"}
    graph = digraph("learned", label, sizes, {"shape": "box", "fontsize": "11"}, {"fontsize": "9.5"})
    groups = _groups(edges, names)
    for number in sorted({0, *(edge.source for edge in edges), *(edge.dest for edge in edges)}):
        name, awaits, share = names[number]
        lines = [*groups.get((number, number, "agreed"), [])]
        if number:
            lines += [f"{line} {_HOME}" for line in groups.get((number, 0, "agreed"), [])]
        label = f"{name} · {awaits}" + ("\\n" + _left(lines) if lines else "")
        look = {key: value for key, value in _STYLES[share].items() if "color" in key}
        outline = {"agreed": "rounded", "missing": "rounded,dashed", "extra": "rounded,bold"}[share]
        graph.node(str(number), label=label, style=outline, penwidth="2.6" if number == 0 else "1.4", **look)
    for (source, dest, share), lines in groups.items():
        if share != "agreed" or dest not in {source, 0}:
            graph.edge(str(source), str(dest), label=_left(lines, "  "), **_STYLES[share])
    return to_svg(str(graph.source))


def _groups(edges: Sequence[Edge], names: Sequence[Name]) -> dict[tuple[int, int, Share], list[str]]:
    """Map (source, dest, share) to the lines beside that edge: letters that lead to one output share a line."""
    found: dict[tuple[int, int, Share], dict[str, list[str]]] = {}
    for edge in edges:
        said, _, awaits = edge.output.rpartition(ARROW)
        if edge.source == edge.dest and edge.share == "agreed" and said == QUIET:
            continue
        text = said if awaits == names[edge.dest][1] else edge.output
        found.setdefault((edge.source, edge.dest, edge.share), {}).setdefault(text, []).append(edge.letter)
    return {key: [_line(letters, text) for text, letters in _merged(outputs)] for key, outputs in found.items()}


def _merged(outputs: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    """Merge two letters that differ only in their colour, and whose outputs do too."""
    merged: dict[str, list[str]] = {}
    pairs = [(letter, text) for text, letters in outputs.items() for letter in letters]
    for letter, text in pairs:
        swapped = _swapped(letter)
        both = (swapped, _swapped(text)) in pairs and (swapped, _swapped(text)) != (letter, text)
        if not both and (swapped == letter or (swapped, text) not in pairs):
            merged.setdefault(text, []).append(letter)
        elif COLOURS[0] in letter:
            merged.setdefault(_anyhow(text) if both else text, []).append(_anyhow(letter))
    return [*merged.items()]


def _line(letters: Sequence[str], text: str) -> str:
    return ", ".join(letters) + ("" if text == QUIET else f" / {text}")


def _left(lines: Sequence[str], indent: str = "") -> str:
    """Wrap the lines of a label, and set them to the left."""
    wrapped = (part for line in lines for part in wrap(line, _WIDTH, subsequent_indent="   "))
    return "".join(f"{indent}{part}\\l" for part in wrapped)


def _swapped(text: str) -> str:
    return re.sub(r"\b(red|blue)\b", lambda found: _SWAP[found[1]], text)


def _anyhow(text: str) -> str:
    """Replace the colours' names, where both colours do the same."""
    return re.sub(r"\b(red|blue)\b", "any", text)


def _images(size: int, edges: Sequence[Edge]) -> list[int] | None:
    """Map each node to its image when the colours are exchanged; None if that is no symmetry of the diagram.

    A node that only differing steps reach gets its image from these steps.
    """
    table = {(edge.source, edge.letter, edge.share): edge for edge in edges}
    images, stubs, waiting = {0: 0}, dict[int, int](), [0]
    for node in waiting:
        for edge in (one for one in edges if one.source == node):
            twin = table.get((images[node], _swapped(edge.letter), edge.share))
            if twin is None or twin.output != _swapped(edge.output):
                return None
            if edge.share != "agreed":
                stubs.setdefault(edge.dest, twin.dest)
                continue
            if edge.dest not in images:
                waiting.append(edge.dest)
            if images.setdefault(edge.dest, twin.dest) != twin.dest:
                return None
    images = stubs | images
    symmetric = len(images) == size and all(images[image] == node for node, image in images.items())
    return [images[node] for node in range(size)] if symmetric else None
