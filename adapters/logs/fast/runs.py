"""Runs of deltas: lines that are like the one before them, but for a text, found by one regular pattern.

Such lines are as good as the first one, which is read by itself: they differ in the content of one JSON string, and in
fields that mean nothing.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from ..formats.wires import Delta

PLAIN: Final = r'[^"\\\x00-\x1f]'
TEXT: Final = rf'{PLAIN}*+(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{{4}}){PLAIN}*+)*+'
"""The content of a string, without halves of characters, which may lack the other half."""
LINE: Final = r"\n"
"""What stands before each line but the first."""
BETWEEN: Final = b"\n\ndata: "
SENT: Final = re.escape(BETWEEN.decode())
"""What stands between the data of server-sent events that have no other field."""
HEAD: Final = r'\{"type":"'
"""The beginning of an event. Before the first branch, it lets the search skip to it: 66 ns a line of AG-UI, not 156."""
_ATOM: Final = rf'"{TEXT}"|[-0-9][-+.eE0-9]*+|true|false|null|\[\]'


def _or_object(value: str) -> str:
    return rf'(?:{value}|\{{(?:"\w++":(?:{value})(?:,"\w++":(?:{value}))*+)?+\}})'


_VARIED: Final = 2
"""Fields that vary, before what is repeated and behind it: a third ends a run."""
_OTHER: Final = rf'(?:[1-9][0-9]{{0,17}}+|"{PLAIN}*+"|0)'
"""The value of such a field."""
_VALUE: Final = _or_object(_or_object(_ATOM))
"""A value whose objects are at most two deep; that the first line is JSON is known, the others repeat it."""


@cache
def pattern(deltas: tuple[Delta, ...], between: str = LINE) -> re.Pattern[bytes]:
    r"""Return what finds an event whose text is not empty, and the lines behind it that repeat it with other texts.

    Its last group has these lines, without the first, each with what stands *between* lines before it.

    >>> found = pattern((Delta("text", ("say",)),)).search(b'\n{"type":"say","text":"a"}\n{"type":"say","text":"b"}\n')
    >>> found[found.lastindex]
    b'\n{"type":"say","text":"b"}'
    """
    typed = all(delta.types for delta in deltas)
    start = between + (HEAD if typed else r"\{")
    families = "|".join(_family(delta, f"g{number}", start) for number, delta in enumerate(deltas))
    return re.compile(rf"{start}(?:{families})(?={between}|\n?\Z)".encode())


def _family(delta: Delta, group: str, start: str) -> str:
    """An event behind its start, and the lines that repeat it: what is around its text, and the text."""
    *above, name = delta.path.split(".")
    head, tail, tag, in_list = f'"{name}":"', '"', _words(delta.words, '"type":"'), False
    for outer in reversed(above):
        if outer == "0":
            in_list = True
            continue
        left, right = (r"\[\{", r"\}\]") if in_list else (r"\{", r"\}")
        head, tail = f'"{outer}":{left}{tag}{_before(name)}{head}', f"{tail}{_behind(name)}{right}"
        name, tag, in_list = outer, "", False
    begin, before, behind = _words(delta.types), _before(name, *delta.varies), _behind(name, *delta.varies)
    parts: list[str | tuple[str, str] | None] = [f"{begin}{before}{head}", None, f"{tail}{behind}"]
    if delta.varies:
        varied = rf'"(?:{"|".join(delta.varies)})":'
        parts = [
            begin,
            *[(varied, ",")] * _VARIED,
            f"{before}{head}",
            None,
            f"{tail}{behind}",
            *[(f",{varied}", "")] * _VARIED,
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


def _words(words: Sequence[str], key: str = "") -> str:
    return rf'{key}(?:{"|".join(map(re.escape, words))})",' if words else ""


def _before(*names: str) -> str:
    return rf'(?:"(?!(?:{"|".join(names)}|type)")\w++":{_VALUE},)*+'


def _behind(*names: str) -> str:
    return rf'(?:,"(?!(?:{"|".join(names)}|type)")\w++":{_VALUE})*+'
