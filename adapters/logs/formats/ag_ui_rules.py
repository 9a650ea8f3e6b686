"""The rules of AG-UI that say nothing of a turn: pairs that open and close, ids, sub-agents, owners and fields.

They are those that ``verifyEvents`` of ``@ag-ui/client`` 1.0.0 enforces, and the errors of ag-ui-validate 0.4.0 that
are defects. What the core finds by itself is left to it: call ids, results, what stands outside a run.
"""

from typing import Any, Final, cast

from .ag_ui_fields import wrong_field, wrong_patch
from .ag_ui_owners import Owners
from .fields import Object, objects

_OPENS: Final = {
    "TEXT_MESSAGE_START": ("the text", "messageId"),
    "REASONING_START": ("the reasoning", "messageId"),
    "REASONING_MESSAGE_START": ("the reasoning message", "messageId"),
    "TOOL_CALL_START": ("the call", "toolCallId"),
    "STEP_STARTED": ("the step", "stepName"),
    "SUBAGENT_STARTED": ("the sub-agent", "subagentRunId"),
}
"""Type → what it opens, and the field with its id."""
_CLOSES: Final = {
    "TEXT_MESSAGE_END": "TEXT_MESSAGE_START",
    "REASONING_END": "REASONING_START",
    "REASONING_MESSAGE_END": "REASONING_MESSAGE_START",
    "TOOL_CALL_END": "TOOL_CALL_START",
    "STEP_FINISHED": "STEP_STARTED",
    "SUBAGENT_FINISHED": "SUBAGENT_STARTED",
    "SUBAGENT_ERROR": "SUBAGENT_STARTED",
}
_FIRST: Final = {"RUN_STARTED", "RUN_ERROR"}
"""The types of a stream's first event."""
_ONCE: Final = {"TEXT_MESSAGE_START", "SUBAGENT_STARTED"}
"""What is opened once in a run under one id."""


class Rules:
    """What is open in one run, and what was."""

    def __init__(self) -> None:
        self._owners = Owners()
        self._open: dict[tuple[str, Any], str] = {}  # what opened it, and its id → how a message calls it
        self._used: set[tuple[str, Any]] = set()
        self._waited = False  # an event came before the first run's start

    def begin_run(self, event: Object) -> None:
        """Forget the run before, and take what the new one's input repeats."""
        self._owners.begin_run()
        self._open.clear()
        self._used.clear()
        for given in objects([event.get("input")]):
            self._owners.restate(given, anew=False)

    def outside(self, name: str, event: Object) -> str | None:
        """Say what is wrong with an event before any run; None where it may stand there."""
        if name in _FIRST:
            return self._fields(name, event)
        if self._waited:
            return None
        self._waited = True
        return "no run has started"

    def inside(self, name: str, event: Object, chunk: object) -> str | None:
        """Say what is wrong with an event of a run; None where all is right. *chunk* is what open chunks are for."""
        wrong = self._fields(name, event)
        if name in _OPENS:
            begun = self._begin(name, event)
            wrong = wrong or begun
        elif name in _CLOSES:
            ended = self._end(name, event)
            wrong = wrong or ended
        elif name == "RUN_FINISHED":
            wrong = wrong or self._finish(event)
        elif name == "TEXT_MESSAGE_CHUNK":
            wrong = wrong or self._chunk(event.get("messageId"), chunk)
        return wrong or self._owners.defect(name, event)

    def _fields(self, name: str, event: Object) -> str | None:
        wrong = wrong_field(name, event)
        if name in {"STATE_DELTA", "ACTIVITY_DELTA"}:
            wrong = wrong or wrong_patch(event.get("delta" if name == "STATE_DELTA" else "patch"))
        if name == "SUBAGENT_FINISHED":
            wrong = wrong or _wrong_outcome(event)
        return wrong

    def _begin(self, name: str, event: Object) -> str | None:
        called, key = _name(name, event)
        if key in self._open:
            return None if name == "TOOL_CALL_START" else f"{called} is open already"  # a call's id is the core's
        parent = event.get("parentSubagentRunId")
        again = name in _ONCE and key in self._used
        self._open[key] = called
        self._used.add(key)
        if again:
            return f"{called} was used before in this run"
        if name == "SUBAGENT_STARTED" and isinstance(parent, str) and (name, parent) not in self._used:
            return f"its parent {parent!r} has not started"
        return None

    def _end(self, name: str, event: Object) -> str | None:
        called, key = _name(_CLOSES[name], event)
        return None if self._open.pop(key, None) else f"{called} is not open"

    def _chunk(self, name: object, current: object) -> str | None:
        key = "TEXT_MESSAGE_START", name
        if name is None or current == ("TEXT_MESSAGE", name) or key in self._open:
            return None
        again = key in self._used
        self._used.add(key)
        return f"the text {name!r} was used before in this run" if again else None

    def _finish(self, event: Object) -> str | None:
        left = next(iter(self._open.values()), None)
        if left is not None:
            return f"{left} is open"
        for outcome in objects([event.get("outcome")]):
            interrupts = objects(outcome.get("interrupts")) if outcome.get("type") == "interrupt" else []
            if None in [interrupt.get("subagentRunId", "") for interrupt in interrupts]:
                return "subagentRunId of an interrupt is null"
        return None


def _name(opener: str, event: Object) -> tuple[str, tuple[str, Any]]:
    """How a message calls what *event* opens or closes, and its key; a step belongs to who began it."""
    kind, field = _OPENS[opener]
    name, owner = _word(event, field), _word(event, "subagentRunId")
    return f"{kind} {name!r}", (opener, (owner, name) if opener == "STEP_STARTED" else name)


def _word(event: Object, field: str) -> str | None:
    value = event.get(field)
    return value if isinstance(value, str) else None


def _wrong_outcome(event: Object) -> str | None:
    for outcome in objects([event.get("outcome")]):
        if outcome.get("type") not in ("success", "suspended"):
            return "outcome is neither success nor suspended"
        ids = outcome.get("interruptIds", [])
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in cast("list[object]", ids)):
            return "outcome.interruptIds is no list of strings"
    return None
