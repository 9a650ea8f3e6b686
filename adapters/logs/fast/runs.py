"""Runs of deltas: lines that are like the one before them, but for a text, found by one regular pattern.

Such lines are as good as the first one, which is read by itself: they differ in the content of one JSON string, and in
fields that mean nothing.
"""

import re
from collections.abc import Sequence
from typing import Final

from ..formats.wires import Delta

PLAIN: Final = r'[^"\\\x00-\x1f]'
TEXT: Final = rf'{PLAIN}*+(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{{4}}){PLAIN}*+)*+'
"""The content of a string, without halves of characters, which may lack the other half."""
HEAD: Final = r'\n\{"type":"'
"""The beginning of a line. Before the first branch, it lets the search skip to it: 66 ns a line of AG-UI, not 156."""
_ATOM: Final = rf'"{TEXT}"|[-0-9][-+.eE0-9]*+|true|false|null|\[\]'


def _or_object(value: str) -> str:
    return rf'(?:{value}|\{{(?:"\w++":(?:{value})(?:,"\w++":(?:{value}))*+)?+\}})'


_VALUE: Final = _or_object(_or_object(_ATOM))
"""A value whose objects are at most two deep; that the first line is JSON is known, the others repeat it."""


def pattern(deltas: Sequence[Delta]) -> re.Pattern[bytes]:
    r"""Return what finds an event whose text is not empty, and the lines behind it that repeat it with other texts.

    Its last group has these lines, without the first, each with the line feed before it.

    >>> found = pattern([Delta("text", ("say",))]).search(b'\n{"type":"say","text":"a"}\n{"type":"say","text":"b"}\n')
    >>> found[found.lastindex]
    b'\n{"type":"say","text":"b"}'
    """
    typed = all(delta.types for delta in deltas)
    start = HEAD if typed else r"\n\{"
    families = "|".join(_family(delta, f"g{number}", start) for number, delta in enumerate(deltas))
    return re.compile(rf"{start}(?:{families})(?=\n)".encode())


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
    heads, tails, any_before, any_behind = [f"{begin}{before}{head}"], [f"{tail}{behind}"], "", ""
    if delta.varies:
        varied = rf'"(?:{"|".join(delta.varies)})":(?:"{PLAIN}*+"|0|[1-9][0-9]{{0,17}}+)'
        any_before, any_behind = f"(?:{varied},)*+", f"(?:,{varied})*+"
        heads, tails = [begin, before, head], [tail, behind, ""]
    named = [[f"{group}{side}{number}" for number in range(len(parts))] for side, parts in (("a", heads), ("b", tails))]
    first = any_before.join(f"(?P<{one}>{part})" for one, part in zip(named[0], heads, strict=True))
    last = any_behind.join(f"(?P<{one}>{part})" for one, part in zip(named[1], tails, strict=True))
    again = [
        any_.join(f"(?P={one})" for one in names) for any_, names in zip((any_before, any_behind), named, strict=True)
    ]
    return rf'{first}(?!"){TEXT}{last} *+\}}((?:{start}{again[0]}{TEXT}{again[1]} *+\}})++)'


def _words(words: Sequence[str], key: str = "") -> str:
    return rf'{key}(?:{"|".join(map(re.escape, words))})",' if words else ""


def _before(*names: str) -> str:
    return rf'(?:"(?!(?:{"|".join(names)}|type)")\w++":{_VALUE},)*+'


def _behind(*names: str) -> str:
    return rf'(?:,"(?!(?:{"|".join(names)}|type)")\w++":{_VALUE})*+'
