"""The JSON of answers, unknown fields included: bounded in size, and the same to every reader.

It is I-JSON (RFC 7493), but with integers of up to 64 bits. Readers refuse or change other JSON, each in its own way:
a verdict would depend on whether a field is known here.
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, Final

from turncheck.model.core.refused_json import LEVELS, too_deep

VALUES: Final = 1_000_000
"""Values in one answer, names not counted. The costliest, objects of one entry, take 350 MB of memory; three million
took 801 MB. A word of 18 stimuli leads to some hundreds of values."""
INTEGERS: Final = range(-(2**63), 2**64)
_TOKENS: Final = 4 * VALUES
"""More strings, marks and empty lists than so many values have: a value has at most a name and a mark."""
_DIGITS: Final = 20
"""Characters of the longest integers in INTEGERS."""
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]\s*[\]}]|([,\[{])')
_ESCAPED: Final = re.compile(r"\\(?:\\|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F]))")


class StrictnessError(ValueError):
    """The text is JSON or nearly, but no answer; the message names the broken rule."""


def check_strict(line: bytes) -> None:
    """Raise StrictnessError if *line* is larger than an answer may be, or readers differ on it.

    Raises ValueError if it is not JSON.

    >>> check_strict(b'{"seq": 1, "seq": 2}')
    Traceback (most recent call last):
    ...
    turncheck.adapters.protocol.strict_json.StrictnessError: the name 'seq' is there twice in one object
    """
    if _too_many(line):
        raise StrictnessError(f"more than {VALUES:,} values in one answer")
    if too_deep(line):
        raise StrictnessError(f"lists and objects more than {LEVELS} levels deep")
    text = line.decode()
    if "\\u" in text and any(found[1] for found in _ESCAPED.finditer(text)):
        raise StrictnessError("half of a surrogate pair, which is no character")
    if text.startswith("\ufeff"):
        raise json.JSONDecodeError("Unexpected UTF-8 BOM", text, 0)
    _DECODER.decode(text)


def _too_many(line: bytes) -> bool:
    """Return whether *line* has more values than an answer may have, from its punctuation."""
    if line.count(b",") + line.count(b"[") + line.count(b"{") < VALUES:
        return False
    values = 1  # a mark stands before each value except the outermost
    for seen, token in enumerate(_TOKEN.finditer(line)):
        values += bool(token[1])
        if values > VALUES or seen > _TOKENS:
            return True
    return False


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise StrictnessError(f"the name {twice!r} is there twice in one object")
    return found


def _integer(text: str) -> int:
    if len(text) > _DIGITS or int(text) not in INTEGERS:
        raise StrictnessError(f"the integer {text[:_DIGITS]}… has more than 64 bits: send it as a string")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise StrictnessError(f"the number {text[:_DIGITS]} is too large")
    return number


def _no_number(text: str) -> None:
    raise StrictnessError(f"{text} is no number of JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_no_number
)
"""Made once: json.loads makes one each time, which is a quarter of the cost of a short answer."""
