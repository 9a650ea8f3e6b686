"""A block of lines of a live stream, read by the fast loop of its format on the state of the stream's mapper."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ..beginning import read_value
from ..formats.lines import LineMapper
from ..formats.mapping import Format, Mapped, Mapper
from ..formats.registry import FORMATS
from ..framing import Block
from .cutting import with_line_feeds
from .fast_loop import FastLoop, FastMapper, LineDecoding
from .lines.reading import LineLoop, LineReader
from .lines.registry import LINES
from .registry import LOOPS, fast_loop
from .spans import LineSpan

Told: TypeAlias = tuple[list[Mapped], int, int]
"""The settled events of lines, the number of settled lines that told nothing, and the position behind the last."""

_SENT: Final = re.compile(rb"(?:\A|\n)\n*+(?:(?:event|id|retry):[^\n]*+\n)*+data: ?(?=\{)")
_HEAD: Final = 256
"""Bytes at a block's beginning in which server-sent events show that they are such."""


class Lines(NamedTuple):
    """Lines of JSON that are decoded; ``values`` are those of a ``FastLoop``, or the structures of a ``LineLoop``."""

    loop: FastLoop | LineLoop
    span: LineSpan
    values: list[Any]

    def fed(self, mapper: Mapper, at: int) -> Told:
        """Let a mapper of the format take the lines, the first of which is at position *at*."""
        if isinstance(self.loop, FastLoop):
            return self._by_loop(self.loop, cast("FastMapper", mapper), at)
        return self._by_lines(self.loop, cast("LineMapper", mapper), at)

    def _by_loop(self, loop: FastLoop, mapper: FastMapper, at: int) -> Told:
        def hand(number: int) -> bool:
            mapper.accept(number, read_value(self._text(number - at)))
            return not mapper.items.complains(number)

        start = mapper.items.waits_from(at)
        behind = loop.feed(mapper, self.values, at, hand)
        return *mapper.items.told(start, at, behind), behind

    def _by_lines(self, loop: LineLoop, mapper: LineMapper, at: int) -> Told:
        heard = LineReader(loop, mapper).heard(self.values, at, lambda number: self._text(number - at))
        behind = at + len(self.values)
        waits = heard.waiting(behind - 1)
        silent = len(self.values) - (len(heard.ats) - heard.more) - (waits is not None)
        return mapper.together(zip(heard.ats, heard.events, strict=True), behind - 1, waits), silent, behind

    def _text(self, number: int) -> bytes:
        return (self.span.text(number) or b"").strip()

    @property
    def refused(self) -> Iterator[bytes]:
        """The lines that were not decoded."""
        number = 0
        for value in self.values:
            if value is None:
                yield self._text(number)
            number += _lines_of(value)


def _lines_of(value: Any) -> int:
    """Return how many lines a value of a block stands for: a run has a number, alone or behind its first value."""
    if type(value) is tuple:
        return cast("tuple[Any, int]", value)[1]
    return value if type(value) is int else 1


def lines_in(form: Format, block: bytes) -> Lines | None:
    r"""Decode a block of whole lines, of JSON or of server-sent events.

    None where they are to be read one by one: the format has no fast loop, or a line is no object of JSON.

    >>> form = FORMATS["ag-ui"]
    >>> found = lines_in(form, b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n{"type":"RAW"}\n')
    >>> found.fed(form.mapper(), 5)[1:]
    (0, 7)
    """
    name = form.name
    if FORMATS.get(name) is not form or not (name in LOOPS or name in LINES):
        return None
    block = with_line_feeds(block)
    texts = _SENT.sub(b"\n", block) if b"data:" in block[:_HEAD] else block
    span = LineSpan(0, Block(texts, 0), 1, texts)
    loop = fast_loop(name) if name in LOOPS else LINES[name]
    found = Lines(loop, span, span.decoded(loop if isinstance(loop, FastLoop) else LineDecoding(loop.decode)))
    return found if all(found.values) or all(text.startswith(b"{") for text in found.refused) else None
