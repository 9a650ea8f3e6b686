"""The rules of AG-UI that say nothing of a turn: pairs that open and close, ids, sub-agents, owners and fields.

They are those that ``verifyEvents`` of ``@ag-ui/client`` 1.0.0 enforces, and the errors of ag-ui-validate 0.4.0 that
are defects. What the core finds by itself is left to it: call ids, results, what stands outside a run.
"""

from typing import Any, Final, cast

from .ag_ui_fields import wrong_field, wrong_patch
from .ag_ui_owners import Owners
from .ag_ui_parts import PARTS, STEP, Part
from .fields import Object, objects

_OPENS: Final = {part.begin: part for part in PARTS}
_CLOSES: Final = {end: part for part in PARTS for end in part.ends}
_FIRST: Final = {"RUN_STARTED", "RUN_ERROR"}
"""The types of a stream's first event."""


class Rules:
    """The parts that are open in one run, and those that were."""

    def __init__(self) -> None:
        self.owners = Owners()
        self.open: dict[tuple[str, Any], None] = {}
        """The open parts, in the order of their beginnings: the type that began each, and its id."""
        self.used: set[tuple[str, Any]] = set()
        """The parts that were begun in this run."""
        self._waited = False  # an event came before the first run's start

    def begin_run(self, event: Object) -> None:
        """Forget the run before, and take what the new one's input repeats."""
        self.owners.begin_run()
        self.open.clear()
        self.used.clear()
        if "input" in event:
            for given in objects([event["input"]]):
                self.owners.restate(given, anew=False)

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
        return wrong or self.owners.defect(name, event)

    def _fields(self, name: str, event: Object) -> str | None:
        wrong = wrong_field(name, event)
        if name in {"STATE_DELTA", "ACTIVITY_DELTA"}:
            wrong = wrong or wrong_patch(event.get("delta" if name == "STATE_DELTA" else "patch"))
        if name == "SUBAGENT_FINISHED":
            wrong = wrong or _wrong_outcome(event)
        return wrong

    def _begin(self, name: str, event: Object) -> str | None:
        part = _OPENS[name]
        key = _key(part, event)
        if key in self.open:
            return None if name == "TOOL_CALL_START" else f"{_called(key)} is open already"  # a call's id is the core's
        parent = event.get("parentSubagentRunId")
        again = part.once and key in self.used
        self.open[key] = None
        self.used.add(key)
        if again:
            return f"{_called(key)} was used before in this run"
        if name == "SUBAGENT_STARTED" and isinstance(parent, str) and (name, parent) not in self.used:
            return f"its parent {parent!r} has not started"
        return None

    def _end(self, name: str, event: Object) -> str | None:
        key = _key(_CLOSES[name], event)
        if key not in self.open:
            return f"{_called(key)} is not open"
        del self.open[key]
        return None

    def _chunk(self, name: object, current: object) -> str | None:
        key = "TEXT_MESSAGE_START", name
        if name is None or current == ("TEXT_MESSAGE", name) or key in self.open:
            return None
        again = key in self.used
        self.used.add(key)
        return f"the text {name!r} was used before in this run" if again else None

    def _finish(self, event: Object) -> str | None:
        for left in self.open:
            return f"{_called(left)} is open"
        for outcome in objects([event.get("outcome")]):
            interrupts = objects(outcome.get("interrupts")) if outcome.get("type") == "interrupt" else []
            if None in [interrupt.get("subagentRunId", "") for interrupt in interrupts]:
                return "subagentRunId of an interrupt is null"
        return None


def _key(part: Part, event: Object) -> tuple[str, Any]:
    """The key of the part that *event* opens or closes; a step belongs to who began it."""
    name = _word(event, part.field)
    return part.begin, (_word(event, "subagentRunId"), name) if part is STEP else name


def _called(key: tuple[str, Any]) -> str:
    """Return the name that a message gives to the part that is open under *key*."""
    part, name = _OPENS[key[0]], key[1]
    return f"{part.called} {(name[1] if part is STEP else name)!r}"


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
