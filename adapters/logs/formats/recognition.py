"""The recognition of a log's format by its first values: by what only one format has, and never by what is left over.

Each format counts the values that only it has; the one with the most is the log's. Where none has any, or two have
equally many, nothing is guessed: the error says what was seen, what it looks like, and what is read.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .mapping import Format
from .registry import SCHEME, UnsupportedFormatError, every_format, own_format

_Values = Sequence[Mapping[str, Any]]

_LONGEST: Final = 40
"""Characters of a type's name that a message shows."""
_NAMED: Final = 4
"""Types that a message names."""

_NOT_READ: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "the session storage of pi's agent harness (version 4)": lambda value: (
        value.get("kind") == "header" and "storageVersion" in value
    ),
    "OpenTelemetry's OTLP JSON without spans of the GenAI conventions or OpenInference": lambda value: (
        "resourceSpans" in value or "resourceLogs" in value
    ),
    "a LangSmith export": lambda value: "run_type" in value,
    "LangChain's astream_events": lambda value: str(value.get("event")).startswith("on_") and "run_id" in value,
    "an Inspect AI log": lambda value: "eval" in value and "samples" in value,
    "events of Google's ADK": lambda value: "invocationId" in value or "invocation_id" in value,
    "a Gemini CLI chat": lambda value: "projectHash" in value and "messages" in value,
    "a Copilot CLI session": lambda value: value.get("type") == "session.start" and "data" in value,
    "an opencode export": lambda value: "info" in value and "messages" in value,
    "a Langfuse export": lambda value: "observations" in value and "traceId" in value,
}
"""Known logs that no reader reads → how one of their values is told."""


class UnrecognisedError(UnsupportedFormatError):
    """No format fits the log, or two do, or the one that was named does not; the text is one helpful message."""


def detect(values: _Values) -> Format:
    """Return the format of a log that begins with *values*, its first objects. Raises UnrecognisedError."""
    best = _best(values)
    if len({form.called for form in best}) == 1:
        return best[-1]
    if best:
        fitting = " and ".join(form.name for form in best)
        raise UnrecognisedError(f"{fitting} fit this log equally well: {_seen(values)}; name one with --format")
    raise UnrecognisedError(f"no format that is read fits: {_seen(values)}; {_guess(values)}{_read()}")


class Tally:
    """Counts of a log's first values that each format recognises, taken as they come."""

    def __init__(self) -> None:
        self._forms = tuple(every_format().values())
        self._counts = [0] * len(self._forms)

    def take(self, value: Mapping[str, Any]) -> None:
        """Count one more value."""
        for number, form in enumerate(self._forms):
            if form.recognises(value):
                self._counts[number] += 1

    @property
    def decided(self) -> bool:
        """True once one format fits the values better than any other: further values need not be waited for."""
        most = max(self._counts)
        return most > 0 and self._counts.count(most) == 1


def named(name: str, values: _Values) -> Format:
    """Return the format that a user names: one of the registry, a family of several, or ``python:module:NAME``.

    Of a family it is the one that fits *values* best. Raises KeyError, and UnsupportedFormatError for ``python:…``.
    """
    if name.startswith(SCHEME):
        return own_format(name)
    family = [form for form in every_format().values() if form.called == name]
    if not family:
        return every_format()[name]
    return next(reversed(_best(values, family)), family[0])


def doubt(form: Format, values: _Values) -> str | None:
    """Say why a log that begins with *values* is not in the format *form*; None where at least one value fits."""
    if any(form.recognises(value) for value in values):
        return None
    best = _best(values)
    guess = f"it looks like {best[-1].called} ({best[-1].title}), " if best else _guess(values)
    return f"this is no {form.title}: {_seen(values)}, and none is of the format {form.name}; {guess}{_read()}"


def rivals(form: Format, values: _Values) -> dict[str, int]:
    """Return how many of *values* the other formats recognise, by name; those that recognise none are left out."""
    counts = {other.name: sum(map(other.recognises, values)) for other in every_format().values() if other != form}
    return {name: count for name, count in counts.items() if count}


def _best(values: _Values, forms: Sequence[Format] | None = None) -> list[Format]:
    """The formats that recognise the most values, in the registry's order; none where no value is recognised."""
    forms = tuple(every_format().values()) if forms is None else forms
    counts = [sum(map(form.recognises, values)) for form in forms]
    most = max(counts, default=0)
    return [form for form, count in zip(forms, counts, strict=True) if count == most > 0]


def _seen(values: _Values) -> str:
    if not values:
        return "there is no JSON object at its beginning"
    kinds = Counter(_kind(value) for value in values)
    listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(_NAMED))
    return f"its first {len(values)} objects were looked at ({listed}{', …' if len(kinds) > _NAMED else ''})"


def _kind(value: Mapping[str, Any]) -> str:
    name = value.get("type")
    if isinstance(name, str):
        return f"of the type {_cut(name)!r}"
    return f"without a type, with {_cut(', '.join(sorted(map(str, value))[:_NAMED])) or 'no field'}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _guess(values: _Values) -> str:
    known = next((name for name, fits in _NOT_READ.items() if any(map(fits, values))), None)
    return "" if known is None else f"it looks like {known}, which is not read; "


def _read() -> str:
    names = ", ".join(dict.fromkeys(form.called for form in every_format().values()))
    return f"read are {names} (--format NAME), and what your own reader reads (--format {SCHEME}MODULE:NAME)"
