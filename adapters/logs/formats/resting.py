"""The places at which a log can be cut: between two runs, so that nothing before a cut changes what comes behind."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

from ..beginning import read_value
from .mapping import Mapper, Rest
from .saving import attributes_of, parts_of

_ALWAYS: Final = frozenset({"items.last", "items._filled"})
"""Attributes that no mapper reads for a position that is past."""
_DATA: Final = "data: "


def at_rest(mapper: Mapper, rest: Rest) -> bool:
    """Return whether *mapper*, behind the last value that it took, is as one is between two runs.

    All attributes have to be alike, those that are declared to be set anew aside. So one that a mapper gets later is
    compared until somebody declares it.
    """
    return _state(mapper, rest) == _state(rest.mapper(), rest)


def _state(mapper: Mapper, rest: Rest) -> Mapping[str, object]:
    """Path → what a mapper remembers; its own parts have paths of their own."""
    own = parts_of(mapper)
    known = {id(part) for part in own.values()}
    found = {
        f"{path}.{name}".lstrip("."): value
        for path, part in own.items()
        for name, value in attributes_of(part).items()
        if id(value) not in known
    }
    return {path: value for path, value in found.items() if path not in rest.anew | _ALWAYS}


def border(text: bytes, rest: Rest, max_line: int, *, sent: bool) -> int | None:
    r"""Return the offset in *text* behind the first run that ends in it, where another one begins; None for none.

    *text* begins anywhere in a log of JSON lines, or of server-sent events where *sent*. A value of more than
    *max_line* bytes begins no run.

    >>> rest = Rest(r"\[DONE\]", None, cast("Any", None), frozenset())
    >>> border(b'"finish"}\n[DONE]\n{"type":"start"}\n', rest, 1000, sent=False)
    17
    """
    between = len("\n\n" if sent else "\n")
    for found in _pattern(rest.ends, sent=sent).finditer(text):
        if rest.begins is None:
            return found.end() + between
        first = found["first"]
        value = read_value(first) if len(first) + len(_DATA) <= max_line else None
        if isinstance(value, dict) and cast("dict[str, Any]", value).get("type") == rest.begins:
            return found.end() + between
    return None


@cache
def _pattern(ends: str, *, sent: bool) -> re.Pattern[bytes]:
    """Compile a pattern for the end of a run and the first value behind it, which is the group ``first``."""
    if sent:
        fields = r"(?:(?:event|id|retry): [^\n]*\n)*"
        text = rf"\n{_DATA}{ends}(?=\n\n{fields}{_DATA}(?P<first>[^\n]*)\n\n)"
    else:
        text = rf"\n{ends}(?=\n(?P<first>[^\n]*)\n)"
    return re.compile(text.encode())
