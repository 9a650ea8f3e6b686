"""A table of rows read backwards: from the events of a log to the wire that means them."""

from collections.abc import Iterator, Sequence
from typing import Any

from turncheck.model.core.events import AgentOutput, Event, RunStop, ToolResult, UserMessage

from .declared import Row


def written(rows: Sequence[Row], event: Event) -> dict[str, Any] | None:
    """Return the wire event that means *event*: a row backwards. None where the table cannot say it."""
    for row in rows:
        parts = _parts_of(row, event)
        if parts is not None:
            value: dict[str, Any] = {}
            for path, content in [*row.when.items(), *parts]:
                _put(value, path, content)
            return value
    return None


def _parts_of(row: Row, event: Event) -> Iterator[tuple[str, object]] | None:
    match row.meaning, event:
        case "user-message", UserMessage():
            pass
        case ("assistant" | "reasoning" | "tool-call") as kind, AgentOutput(kind=found) if kind == found:
            pass
        case "tool-result", ToolResult(is_error=failed) if not failed or "is_error" in row.parts:
            pass
        case "run-stop", RunStop(reason=reason) if reason == row.reason:
            pass
        case _:
            return None
    parts = ((path, getattr(event, part)) for part, path in row.parts.items())
    return ((path, content) for path, content in parts if content is not None)


def _put(value: dict[str, Any], path: str, content: object) -> None:
    *above, last = path.split(".")
    for name in above:
        value = value.setdefault(name, {})
    value[last] = content
