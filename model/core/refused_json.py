r"""Reasons why the strict decoder refuses a text: it is not JSON, or JSON with a lone surrogate.

``"\ud800"`` is JSON by its grammar, and half a character: no Unicode text has it (RFC 8259, section 8.2). A log keeps
such an event, with U+FFFD in place of the half; an answer of the protocol is refused.
"""

import json
import re
from typing import Final

LEVELS: Final = 200
"""Levels of lists and objects, one in another, that every reader takes (docs/log-format.md). Whether more
can be read or written would depend on the depth of the stack."""
_STRING_OR_BRACKET: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"|([\[{])|([\]}])', re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\(?:u([dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL)


def why_refused(text: bytes, error: Exception) -> str:
    r"""Return a clause that says why the decoder raised *error* on *text*.

    >>> why_refused(b'{"a": "\\ud83d"}', ValueError("truncated"))
    'JSON with a lone surrogate, \\ud83d at byte 7, which is half of a character: no text has it'
    >>> why_refused(b"{", ValueError("truncated"))
    'not JSON (truncated)'
    """
    found = _lone_surrogate(text)
    if found is None:
        return f"not JSON ({error})"
    at, half = found
    return f"JSON with a lone surrogate, {half} at byte {at}, which is half of a character: no text has it"


def too_deep(text: bytes, levels: int = LEVELS) -> bool:
    """Return whether lists and objects stand more than *levels* deep in each other.

    >>> too_deep(b'[[["[["]]]', 3), too_deep(b"[[[[]]]]", 3)
    (False, True)
    """
    if text.count(b"[") + text.count(b"{") <= levels:
        return False
    level = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        if found[1]:
            level += 1
            if level > levels:
                return True
        elif found[2]:
            level -= 1
    return False


def _lone_surrogate(text: bytes) -> tuple[int, str] | None:
    """Return the byte offset and the escape of the first lone surrogate; None without one, and for other than JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    high: tuple[int, str] | None = None
    end = -1
    for match in _ESCAPE.finditer(text):
        if high is not None and not (_is_low(match[1]) and match.start() == end):
            return high
        if match[1] is not None:
            half = match.start(), match[0].decode()
            if _is_low(match[1]) and high is None:
                return half
            high = None if _is_low(match[1]) else half
        end = match.end()
    return high


def _is_low(digits: bytes | None) -> bool:
    return digits is not None and int(digits, 16) >= 0xDC00
