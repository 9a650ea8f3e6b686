"""``redact``: a log without its content, and with the same verdict (X-8 makes that a theorem).

What is not known is replaced, since nobody can say what it holds: a field that the format does not have loses its name
and its value, a type that it does not have its name. What is known and tells nothing is kept. ``Unknown`` counts.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, cast, get_args

from turncheck.adapters.logs.formats.registry import FORMATS, UnsupportedFormatError
from turncheck.adapters.logs.framing import Stream
from turncheck.adapters.logs.reading import read_values
from turncheck.model.core.decode import field_rules
from turncheck.model.core.events import Source

from .redaction_of_formats import kept_of, redacted

_IDS: Final = {
    "id": "m",
    "callId": "c",
    "responseId": "r",
    "requestId": "r",
    "sessionId": "s",
    "agentId": "a",
    "parentCallId": "c",
}
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
_OPEN: Final = frozenset(("tool", "arguments", "output", "seq", "timestamp", "input", "message", "calls"))
"""Fields of the format beside those that RC-D5 judges; names of any other fields are redacted too."""
_FIELDS: Final = _OPEN | _WORDS.keys() | _IDS.keys() | {field for _, _, fields, *_ in field_rules() for field in fields}
_NUMBERS: Final = frozenset(("seq", "timestamp"))
"""Fields whose numbers are kept."""
_DEPTH: Final = 100
"""Levels of a payload that are kept: readers need not accept more than 200."""
UNREADABLE: Final = "unreadable"
"""The replacement for an unreadable line, itself unreadable."""

_TOOL: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,63}")
"""The name of a tool: providers take no longer ones. A text that does not fit may be anything."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?", re.ASCII)
"""A time as text (RFC 3339, ISO 8601)."""

_Renamed = Callable[[str, str], str]


class Unknown:
    """Counts of the parts of a log that its format does not know, with the first place of each. No content is kept."""

    WHAT: Final = {
        "line": "unreadable lines, each replaced by a mark",
        "value": "lines that are no event, replaced by their shape",
        "type": "events of a type that the format does not have, whose name is replaced",
        "field": "fields that the format does not have, whose names and values are replaced",
    }

    def __init__(self) -> None:
        self.events = 0
        """Events of a type that the format has."""
        self._counts: Counter[str] = Counter()
        self._first: dict[str, int] = {}

    def take(self, at: int, value: Any) -> None:
        """Count what is unknown in the *value* at position *at*, None for an unreadable line."""
        if value is None:
            self._count("line", at)
        elif not isinstance(value, dict):
            self._count("value", at)
        else:
            fields = cast(dict[str, Any], value)
            if _is_known("type", fields.get("type")):
                self.events += 1
            else:
                self._count("type", at)
            for _ in fields.keys() - _FIELDS:
                self._count("field", at)

    def _count(self, what: str, at: int) -> None:
        self._counts[what] += 1
        self._first.setdefault(what, at)

    def lines(self) -> Iterator[str]:
        """Name what was found; a log of known events alone has none."""
        for what, said in self.WHAT.items():
            if self._counts[what]:
                yield f"{self._counts[what]:,} {said}; the first at position {self._first[what]}"


def redact(
    stream: Stream, max_line: int, unknown: Unknown | None = None, *, format_name: str | None = None
) -> Iterator[str]:
    """Yield the redacted lines of a log, one per value. *unknown* counts what turncheck's own format does not have.

    Raises what ``read_values`` raises, and UnsupportedFormatError for a reader of which nobody has said what it needs.
    """
    form, found = read_values(stream, format_name=format_name, max_line=max_line)
    if form is not FORMATS["turncheck"]:
        kept = kept_of(form)
        if kept is None:
            raise UnsupportedFormatError(f"what a redacted log of the format {form.name} must keep is not known")
        if unknown is not None:
            unknown.events = 1  # it was recognised; what is unknown in it is not counted
        yield from redacted(kept, found)
        return
    names: dict[tuple[str, str], str] = {}
    counts = dict.fromkeys(_IDS.values(), 0)

    def renamed(field: str, value: str) -> str:
        letter = _IDS[field]
        if (letter, value) not in names:
            counts[letter] += 1
            names[letter, value] = f"{letter}{counts[letter]}"
        return names[letter, value]

    unknown = unknown or Unknown()
    for at, value in enumerate(found):
        unknown.take(at, value)
        yield UNREADABLE if value is None else json.dumps(_line(value, renamed))


def _line(value: Any, renamed: _Renamed) -> Any:
    if not isinstance(value, dict):
        return _hidden(value)
    fields = cast(dict[str, Any], value)
    called = fields.get("kind") == "tool-call"
    return {
        key if key in _FIELDS else f"key{number}": _field(key, item, renamed, called=called)
        for number, (key, item) in enumerate(fields.items(), 1)
    }


def _is_known(field: str, value: Any) -> bool:
    return isinstance(value, str) and value in _WORDS.get(field, ())


def _field(field: str, value: Any, renamed: _Renamed, *, called: bool) -> Any:
    if isinstance(value, str):
        if field in _IDS:
            return renamed(field, value)
        if _is_known(field, value) or (field == "timestamp" and _TIME.fullmatch(value)):
            return value
        if field == "tool" and called and _TOOL.fullmatch(value):
            return value
    elif field == "calls" and isinstance(value, list):
        calls = cast(Sequence[Any], value)
        return [renamed("callId", call) if isinstance(call, str) else _hidden(call) for call in calls]
    elif (
        field in _NUMBERS and isinstance(value, int | float) and abs(value) < math.inf
    ):  # isfinite takes no long integer
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
