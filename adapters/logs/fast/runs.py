"""Runs of deltas: lines that are like the one before them, but for a text, found by one regular pattern.

Such lines are as good as the first one, which is read by itself: they differ in the content of one JSON string.
"""

import re
from collections.abc import Iterable
from typing import Final

from ..formats.wires import Wire

PLAIN: Final = r'[^"\\\x00-\x1f]'
TEXT: Final = rf'{PLAIN}*+(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{{4}}){PLAIN}*+)*+'
"""The content of a string, without halves of characters, which may lack the other half."""
HEAD: Final = r'\n\{"type":"'
"""The beginning of a line. Before the first branch, it lets the search skip to it: 66 ns a line of AG-UI, not 156."""
_SIMPLE: Final = rf'(?:"{TEXT}"|[-0-9][-+.eE0-9]*+|true|false|null|\[\]|\{{\}})'


def pattern(wires: Iterable[Wire]) -> re.Pattern[bytes]:
    """Return what finds a delta that is not empty and the lines behind it that repeat it with other texts.

    Its last group has these lines, without the first, each with the line feed before it.
    """
    families: dict[str, list[str]] = {}
    for wire in wires:
        if wire.delta is not None:
            families.setdefault(wire.delta, []).append(re.escape(wire.type))
    return re.compile(rf"{HEAD}(?:{'|'.join(_family(*one) for one in families.items())})(?=\n)".encode())


def _family(delta: str, types: list[str]) -> str:
    group = f"{delta.replace('.', '_')}_"
    member = rf'"(?!{delta}"|type")\w++":{_SIMPLE}'
    head = rf'(?:{"|".join(types)})",(?:{member},)*+"{delta}":"'
    tail = rf'"(?:,{member})*+\}}'
    same = rf"{HEAD}(?P={group}head){TEXT}(?P={group}tail)"
    return rf'(?P<{group}head>{head})(?!"){TEXT}(?P<{group}tail>{tail})((?:{same})++)'
