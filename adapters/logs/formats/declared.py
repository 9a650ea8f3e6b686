"""A reader as a table: each row says which wire event means which event of the log, and in which fields its parts are.

The table is all there is: the mapper, the recognition, what the format cannot say, and the way back, from events to
wire (``writing``), come from its rows. It is for formats with one whole event per line; one whose texts come in pieces,
or whose lines mean different things in different places, is a ``Mapper`` of its own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast, get_args

from msgspec import structs

from turncheck.model.core.events import AgentOutput, Event, Native, RunStop, StopReason, ToolResult, UserMessage

from .fields import Object, maybe_flag, text, user_message
from .lines import LineMapper
from .mapping import Aspect, Format

Meaning: TypeAlias = Literal[
    "user-message", "assistant", "reasoning", "tool-call", "tool-result", "run-stop", "nothing"
]
"""The meaning of a wire event."""
_NEEDED: Final[Mapping[Meaning, frozenset[str]]] = {
    "user-message": frozenset({"text"}),
    "assistant": frozenset({"text"}),
    "reasoning": frozenset({"text"}),
    "tool-call": frozenset({"call_id", "tool"}),
    "tool-result": frozenset({"call_id"}),
    "run-stop": frozenset(),
    "nothing": frozenset(),
}
"""Meaning → the parts that its row must place."""
_ALLOWED: Final[Mapping[Meaning, frozenset[str]]] = {
    "user-message": frozenset({"id"}),
    "assistant": frozenset({"response_id"}),
    "reasoning": frozenset({"response_id"}),
    "tool-call": frozenset({"response_id"}),
    "tool-result": frozenset({"is_error"}),
    "run-stop": frozenset({"detail"}),
    "nothing": frozenset(),
}


class BadFormatError(ValueError):
    """A table of rows that cannot be right; the text says which row, and why."""


@dataclass(frozen=True)
class Row:
    """Wire events in which each path of *when* has the given value mean *meaning*.

    A path is a field's name, or several with dots between them. *parts* says at which path each part of the event is:
    ``text`` (required for texts), ``call_id`` and ``tool`` (calls), ``call_id`` (results), and, where the wire has
    them, ``id``, ``response_id``, ``is_error``, ``detail``. *reason* is a stop's.
    """

    when: Mapping[str, object]
    meaning: Meaning
    parts: Mapping[str, str] = field(default_factory=dict[str, str])
    reason: StopReason | None = None

    def fits(self, value: Object) -> bool:
        """Return whether *value* is such a wire event."""
        return all(at(value, path) == wanted and at(value, path) is not None for path, wanted in self.when.items())


def at(value: object, path: str) -> object:
    """Return what is at a path of *value*, None where nothing is."""
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = cast("Object", value).get(name)
    return value


def declared(name: str, title: str, rows: Sequence[Row], *, session: str | None = None, whole: bool = False) -> Format:
    """Return the format of these rows, of which the first that fits a value counts.

    *session* is the path of the session's id, where the wire has one. A table without a ``user-message`` has logs
    without the user: then a run's first output is its root. One without a ``run-stop`` has no ends: then a run is over
    where the next message of the user follows. *whole* says that a log without a terminal is broken, not unfinished.

    Raises BadFormatError for a table that cannot be right.

    >>> asks = Row({"event": "ask"}, "user-message", {"text": "body"})
    >>> says = Row({"event": "say"}, "assistant", {"text": "body"})
    >>> form = declared("acme", "Acme's log", [asks, says])
    >>> [type(event).__name__ for _, event in form.mapper().value(0, {"event": "ask", "body": "hi"})]
    ['UserMessage']
    """
    _lint(rows)
    meanings: set[Meaning] = {row.meaning for row in rows}
    return Format(
        name=name,
        title=title,
        recognises=lambda value: any(row.fits(value) for row in rows),
        mapper=lambda: DeclaredMapper(rows, session),
        whole=whole,
        limits=_limits(meanings, rows, session),
        rows=tuple(rows),
    )


def _lint(rows: Sequence[Row]) -> None:
    for number, row in enumerate(rows, 1):
        where = f"row {number} ({row.meaning})"
        if row.meaning not in _NEEDED:
            raise BadFormatError(f"{where}: a meaning is one of {', '.join(get_args(Meaning))}")
        if not row.when:
            raise BadFormatError(f"{where} fits every line: say by which field such an event is told")
        missing = _NEEDED[row.meaning] - row.parts.keys()
        if missing:
            raise BadFormatError(f"{where} does not say where its {' and '.join(sorted(missing))} is")
        odd = row.parts.keys() - _NEEDED[row.meaning] - _ALLOWED[row.meaning]
        if odd:
            raise BadFormatError(f"{where} has no part {' and '.join(sorted(odd))}")
        if (row.meaning == "run-stop") != (row.reason is not None):
            raise BadFormatError(
                f"{where}: a reason ({', '.join(get_args(StopReason))}) is for run-stop, which needs one"
            )
        hidden = next(
            (n for n, before in enumerate(rows[: number - 1], 1) if before.when.items() <= row.when.items()), 0
        )
        if hidden:
            raise BadFormatError(f"{where} is never reached: row {hidden} fits all that it fits")
    if not {row.meaning for row in rows} & {"assistant", "reasoning", "tool-call"}:
        raise BadFormatError("no row is an output of the agent (assistant, reasoning, tool-call): no run can be judged")


def _limits(meanings: set[Meaning], rows: Sequence[Row], session: str | None) -> dict[Aspect, str]:
    found: dict[Aspect, str] = {"delivery": "a message amid a run is a steer"}
    if "user-message" not in meanings:
        found["messages"] = "no: a run's first output is its root"
        found["delivery"] = "no"
    if "tool-call" not in meanings:
        found["calls"] = "no"
    if "tool-result" not in meanings:
        found["results"] = "no"
    if not any("is_error" in row.parts for row in rows):
        found["failures"] = "no"
    if "run-stop" not in meanings:
        found["stops"] = "no: the next message of the user shows that the run before is over"
    if session is None:
        found["sessions"] = "a file is one session"
    return found


class DeclaredMapper(LineMapper):
    """Maps lines by a table of rows."""

    def __init__(self, rows: Sequence[Row], session: str | None) -> None:
        super().__init__()
        self._rows, self._session = rows, session
        meanings = {row.meaning for row in rows}
        self._has_user, self._has_stop = "user-message" in meanings, "run-stop" in meanings
        self._running: set[str | None] = set()

    def silent(self, value: Object) -> Event:
        """Return the event of a line that no row fits, in its session."""
        return Native(session_id=_session(value, self._session))

    def line(self, value: Object) -> list[Event]:
        """Return the event that the first fitting row makes of a line. Raises MisfitError."""
        row = next((row for row in self._rows if row.fits(value)), None)
        if row is None or row.meaning == "nothing":
            return []
        session = _session(value, self._session)
        running = session in self._running
        before: list[Event] = []
        match row.meaning:
            case "user-message":
                if running and not self._has_stop:
                    before = [RunStop(reason="completed", session_id=session, source="adapter")]
                    running = False
                event = _MAKERS[row.meaning](row, value, running)
                self._running.add(session)
            case "run-stop":
                event = _MAKERS[row.meaning](row, value, running)
                self._running.discard(session)
            case _:
                event = _MAKERS[row.meaning](row, value, running)
                if not running and not self._has_user:
                    before = [UserMessage(text="", session_id=session, source="adapter")]
                    self._running.add(session)
        return [*before, _in_session(event, session)]


def _session(value: Object, path: str | None) -> str | None:
    found = None if path is None else at(value, path)
    return str(found) if isinstance(found, str | int) else None


def _in_session(event: Event, session: str | None) -> Event:
    return event if session is None else structs.replace(event, session_id=session)


def _user(row: Row, value: Object, running: bool) -> Event:  # noqa: FBT001
    given = {"id": _part(row, value, "id"), "content": at(value, row.parts["text"])}
    return user_message(given, "content", delivery="steer" if running else None)


def _text(kind: Literal["assistant", "reasoning"]) -> Callable[[Row, Object, bool], Event]:
    return lambda row, value, _: AgentOutput(
        kind=kind, text=_required(row, value, "text"), response_id=_part(row, value, "response_id")
    )


def _call(row: Row, value: Object, _: bool) -> Event:  # noqa: FBT001
    call_id, tool = _required(row, value, "call_id"), _required(row, value, "tool")
    return AgentOutput(kind="tool-call", call_id=call_id, tool=tool, response_id=_part(row, value, "response_id"))


def _result(row: Row, value: Object, _: bool) -> Event:  # noqa: FBT001
    failed = "is_error" in row.parts and maybe_flag({"is_error": at(value, row.parts["is_error"])}, "is_error")
    return ToolResult(call_id=_required(row, value, "call_id"), is_error=failed or None)


def _stop(row: Row, value: Object, _: bool) -> Event:  # noqa: FBT001
    assert row.reason is not None
    return RunStop(reason=row.reason, detail=_part(row, value, "detail"))


_MAKERS: Final[Mapping[Meaning, Callable[[Row, Object, bool], Event]]] = {
    "user-message": _user,
    "assistant": _text("assistant"),
    "reasoning": _text("reasoning"),
    "tool-call": _call,
    "tool-result": _result,
    "run-stop": _stop,
}


def _required(row: Row, value: Object, part: str) -> str:
    path = row.parts[part]
    found = at(value, path)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    return text({path: found}, path)


def _part(row: Row, value: Object, part: str) -> str | None:
    found = at(value, row.parts[part]) if part in row.parts else None
    return str(found) if isinstance(found, str | int) else None
