"""Runs of deltas: lines that are like the one before them, but for a text, found by one regular pattern.

Such lines are as good as the first one, which is read by itself: they differ in the content of one JSON string, and in
fields that mean nothing.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from ..formats.wires import Delta

PLAIN: Final = r'[^"\\\x00-\x1f]'
TEXT: Final = rf'{PLAIN}*+(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{{4}}){PLAIN}*+)*+'
"""The content of a string, without halves of characters, which may lack the other half."""
LINE: Final = r"\n"
"""The bytes between two lines."""

SENT: Final = b"\n\ndata: "
"""The bytes between the data of server-sent events that have no other field, as most servers write them."""
_ATOM: Final = rf'"{TEXT}"|[-0-9][-+.eE0-9]*+|true|false|null|\[\]'
_VARIED: Final = 2
"""Fields that vary, before what is repeated and behind it: a third ends a run."""
_OTHER: Final = rf'(?:[1-9][0-9]{{0,17}}+|"{PLAIN}*+"|0)'
"""The value of such a field."""


class Style(NamedTuple):
    """A style of events: the *comma* between fields, the *colon* behind a name, and whether each has a *stamp*."""

    comma: str = ","
    colon: str = ":"
    stamp: bool = False

    @property
    def head(self) -> str:
        """The beginning of an event.

        Before the first branch, it lets the search skip to it: 66 ns a line of AG-UI, not 156.
        """
        return rf'\{{"type"{self.colon}"'

    def value(self) -> str:
        """A value whose objects are at most two deep; that the first line is JSON is known, the others repeat it."""
        return self._or_object(self._or_object(_ATOM))

    def _or_object(self, value: str) -> str:
        field = rf'"\w++"{self.colon}(?:{value})'
        return rf"(?:{value}|\{{(?:{field}(?:{self.comma}{field})*+)?+\}})"


COMPACT: Final = Style()
"""As ``JSON.stringify`` and most libraries write."""
SPACED: Final = Style(", ", ": ")
"""As Python's ``json.dumps`` writes."""
STAMPS: Final = ("timestamp", "rawEvent")
"""Fields of AG-UI's events that mean nothing, and that vary: its pattern alone looks for them."""
_STAMPS: Final = tuple(f'"{name}"'.encode() for name in STAMPS)
_HEAD: Final = 1024
"""Bytes in which an event shows its style: a pattern of another one is slower, and says the same."""


def style_of(text: bytes) -> Style:
    r"""Return the style of the first event of a text, by its beginning.

    >>> style_of(b'{"type": "say"}') == SPACED, style_of(b'{"type":"say: ","timestamp":1}\n').stamp
    (True, True)
    """
    head = text[:_HEAD].partition(b"\n")[0]
    spaced = head[head.find(b'":') + 2 :].startswith(b" ")
    stamp = any(name in head for name in _STAMPS)
    return (SPACED if spaced else COMPACT)._replace(stamp=stamp)


@cache
def pattern(deltas: tuple[Delta, ...], before: str = LINE, style: Style = COMPACT) -> re.Pattern[bytes]:
    r"""Return what finds an event whose text is not empty, and the lines behind it that repeat it with other texts.

    Its last group has these lines, without the first, each with what stands *before* each line. Lines in another
    style than *style* are not found.

    >>> found = pattern((Delta("text", ("say",)),)).search(b'\n{"type":"say","text":"a"}\n{"type":"say","text":"b"}\n')
    >>> found[found.lastindex]
    b'\n{"type":"say","text":"b"}'
    """
    typed = all(delta.types for delta in deltas)
    start = before + (style.head if typed else r"\{")
    families = "|".join(_family(delta, f"g{number}", start, style) for number, delta in enumerate(deltas))
    return re.compile(rf"{start}(?:{families})(?={before}|\n?\Z)".encode())


def _family(delta: Delta, group: str, start: str, style: Style) -> str:
    """An event behind its start, and the lines that repeat it: what is around its text, and the text."""
    comma, colon = style.comma, style.colon
    *above, name = delta.path.split(".")
    head, tail, in_list = f'"{name}"{colon}"', '"', False
    tag = _words(delta.words, style, f'"type"{colon}"')
    for outer in reversed(above):
        if outer == "0":
            in_list = True
            continue
        left, right = (r"\[\{", r"\}\]") if in_list else (r"\{", r"\}")
        head = f'"{outer}"{colon}{left}{tag}{_before(style, name)}{head}'
        tail = f"{tail}{_behind(style, name)}{right}"
        name, tag, in_list = outer, "", False
    begin = _words(delta.types, style)
    before, behind = _before(style, name, *delta.varies), _behind(style, name, *delta.varies)
    parts: list[str | tuple[str, str] | None] = [f"{begin}{before}{head}", None, f"{tail}{behind}"]
    if delta.varies:
        varied = rf'"(?:{"|".join(delta.varies)})"{colon}'
        parts = [
            begin,
            *[(varied, comma)] * _VARIED,
            f"{before}{head}",
            None,
            f"{tail}{behind}",
            *[(f"{comma}{varied}", "")] * _VARIED,
        ]
    first, again = "", ""
    for number, part in enumerate(parts):
        name = f"{group}p{number}"
        if part is None:
            first, again = rf'{first}(?!"){TEXT}', f"{again}{TEXT}"
        elif isinstance(part, tuple):
            key, end = part
            first, again = f"{first}(?:(?P<{name}>{key}){_OTHER}{end})?", f"{again}(?({name})(?P={name}){_OTHER}{end})"
        else:
            first, again = f"{first}(?P<{name}>{part})", f"{again}(?P={name})"
    return rf"{first} *+\}}((?:{start}{again} *+\}})++)"


def _words(words: Sequence[str], style: Style, key: str = "") -> str:
    return rf'{key}(?:{"|".join(map(re.escape, words))})"{style.comma}' if words else ""


def _before(style: Style, *names: str) -> str:
    return rf"(?:{_other(style, *names)}{style.comma})*+"


def _behind(style: Style, *names: str) -> str:
    return rf"(?:{style.comma}{_other(style, *names)})*+"


def _other(style: Style, *names: str) -> str:
    """A field of another name."""
    return rf'"(?!(?:{"|".join(names)}|type)")\w++"{style.colon}{style.value()}'
