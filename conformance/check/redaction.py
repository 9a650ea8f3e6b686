"""``redact``: a log without its content but with the same verdict (a theorem, by X-8)."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, cast, get_args

from turncheck.adapters.logs.formats.registry import FORMATS, UnsupportedFormatError
from turncheck.adapters.logs.framing import Stream
from turncheck.adapters.logs.reading import read_values
from turncheck.model.core.decode import field_rules
from turncheck.model.core.events import Source

_IDS: Final = {"id": "m", "callId": "c", "responseId": "r", "requestId": "r", "sessionId": "s"}
"""Field → the letter of its new names; requests and responses share one. Different ids stay different."""


def _words() -> dict[str, frozenset[str]]:
    """Field → the words of the format that it may hold; any other content is text."""
    found = {"type": {name for name, *_ in field_rules()}, "source": set(get_args(Source))}
    for _, _, fields, _, _ in field_rules():
        for field, allowed in fields.items():
            if isinstance(allowed, tuple):
                found.setdefault(field, set()).update(allowed)
    return {field: frozenset(words) for field, words in found.items()}


_WORDS: Final = _words()
_OPEN: Final = frozenset(("tool", "arguments", "output", "seq", "timestamp", "input", "message"))
"""Fields of the format beside those that RC-D5 judges; names of any other fields are redacted too."""
_FIELDS: Final = _OPEN | _WORDS.keys() | _IDS.keys() | {field for _, _, fields, *_ in field_rules() for field in fields}
_NUMBERS: Final = frozenset(("seq", "timestamp"))
"""Fields whose numbers are kept."""
_DEPTH: Final = 100
"""Levels of a payload that are kept: readers need not accept more than 200."""
UNREADABLE: Final = "unreadable"
"""The replacement for an unreadable line, itself unreadable."""

_Renamed = Callable[[str, str], str]


def redact(stream: Stream, max_line: int) -> Iterator[str]:
    """Yield the redacted lines of a log in turncheck's own format, one for each position.

    Raises UnsupportedFormatError for a log in another format, and OSError.
    """
    form, found = read_values(stream, max_line=max_line)
    if form is not FORMATS["turncheck"]:
        raise UnsupportedFormatError(f"the log is in the format {form.name}; only turncheck's own can be redacted")
    names: dict[tuple[str, str], str] = {}
    counts = dict.fromkeys(_IDS.values(), 0)

    def renamed(field: str, value: str) -> str:
        letter = _IDS[field]
        if (letter, value) not in names:
            counts[letter] += 1
            names[letter, value] = f"{letter}{counts[letter]}"
        return names[letter, value]

    for value in found:
        yield UNREADABLE if value is None else json.dumps(_line(value, renamed))


def _line(value: Any, renamed: _Renamed) -> Any:
    if not isinstance(value, dict):
        return _hidden(value)
    fields = cast(dict[str, Any], value)
    return {
        key if key in _FIELDS else f"key{number}": _field(key, item, renamed)
        for number, (key, item) in enumerate(fields.items(), 1)
    }


def _field(field: str, value: Any, renamed: _Renamed) -> Any:
    if isinstance(value, str):
        if field in _IDS:
            return renamed(field, value)
        if field == "tool" or value in _WORDS.get(field, ()):
            return value
    elif field in _NUMBERS and isinstance(value, int | float) and math.isfinite(value):
        return value
    return _hidden(value)


def _hidden(value: Any, depth: int = _DEPTH) -> Any:
    """Return the value's JSON type and size: a text by its length, a number by 0, an object by its keys' number."""
    if isinstance(value, str):
        return f"{len(value)} characters"
    if isinstance(value, list):
        return [_hidden(item, depth - 1) for item in cast(Sequence[Any], value)] if depth else []
    if isinstance(value, dict):
        items = cast(dict[str, Any], value).values() if depth else ()
        return {f"key{number}": _hidden(item, depth - 1) for number, item in enumerate(items, 1)}
    return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value
