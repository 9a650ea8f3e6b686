"""Canonical outputs: a settled step of a runtime, without any number.

An output lists the step's effects in order: messages by delivery and colour, items, results, stops, requests; then what
is awaited. Ids and texts are compared with those that came before, so that only new ones appear.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    ClientToolAwaited,
    ModelAwaited,
    TimerAwaited,
    ToolAwaited,
    User,
)

from ...laws.law import Finding
from ...laws.runtime.requests import well_formed
from ...observe.compactions import for_compaction
from ...observe.driver import Recorder
from ...observe.fields import input_entries
from ...observe.runtime_trace import ObservedStep

QUIET: Final = "quiet"
ARROW: Final = " → "
"""Separator of effects and awaited answers in the text of an output."""
_DELIVERIES: Final = {"steer": "steer", "followUp": "follow-up"}


@dataclass(frozen=True, order=True)
class Said:
    """One effect of a step: its kind, the colours of its messages (those that a request ``shows``), and details."""

    kind: str
    colours: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    shows: bool = False

    def __str__(self) -> str:
        if self.shows:
            return " ".join([f"{self.kind}({', '.join(self.colours)})", *self.details])
        return " ".join([self.kind, *self.colours, *self.details])


@dataclass(frozen=True, order=True)
class Awaits:
    """Counts of the answers awaited after a step; cancelled calls that still run count separately."""

    models: int = 0
    tools: int = 0
    timers: int = 0
    cancelled: int = 0
    stuck: bool = False
    approvals: int = 0
    clients: int = 0

    def __str__(self) -> str:
        counts = {"model": self.models, "tool": self.tools, "timer": self.timers, "cancelled": self.cancelled}
        counts |= {"approval": self.approvals, "client": self.clients}
        found = [name if count == 1 else f"{count} {name}s" for name, count in counts.items() if count]
        return " and ".join(found) or ("stuck" if self.stuck else "nothing")


@dataclass(frozen=True, order=True)
class Output:
    """The output of a letter. ``local`` says why the letter was not sent; the rest is then empty."""

    said: tuple[Said, ...] = ()
    awaits: Awaits = Awaits()
    local: str = ""

    def __str__(self) -> str:
        return self.local or (", ".join(map(str, self.said)) or QUIET) + ARROW + str(self.awaits)


class OutputAbstraction:
    """Makes outputs of steps without numbers; it remembers the word so far, so that only new things appear."""

    def __init__(self) -> None:
        self.colours: Final[dict[str, str]] = {}  # id of a message → its colour
        self.called: Final[list[str]] = []  # ids of the calls that were logged since the last request
        self.shown: Final[set[str]] = set()
        self._spoken: Final[set[str]] = set()

    def output(self, recorder: Recorder, step: ObservedStep, colour: str) -> Output:
        """Return the output of *step*, the last one of *recorder*; *colour* is that of its letter."""
        if isinstance(step.stimulus, User):
            self.colours[step.stimulus.id] = colour
        said: list[Said] = []
        for at in range(step.first, step.end):
            event = recorder.log[at]
            if event.get("type") == "native":
                continue
            one = self._event(recorder, event)
            if one != _TEXT or said[-1:] != [_TEXT]:  # a response that is logged whole may hold several texts
                said.append(one)
        if step.answer.refused is not None:
            why = step.answer.refused.why
            said.append(Said("refused", details=() if why == "rejected" else (f"({why})",)))
        return Output(tuple(said), _awaits(step))

    def _event(self, recorder: Recorder, event: Mapping[str, Any]) -> Said:
        kind = event.get("type")
        match kind:
            case "user-message":
                delivery = _DELIVERIES.get(str(event.get("delivery")), "user")
                return Said(delivery, (self.colours.get(str(event.get("id")), "?"),))
            case "agent-output":
                return self._item(event)
            case "tool-result":
                return self._result(event)
            case "run-stop":
                return Said("stop", details=(str(event.get("reason")),))
            case "model-request":
                return self._request(recorder, event)
            case _:
                return Said(str(kind))

    def _item(self, event: Mapping[str, Any]) -> Said:
        """Describe an item; a repeated text is a different output."""
        if event.get("kind") == "tool-call":
            self.called.append(str(event.get("callId")))
            return Said("call")
        kind, text = str(event.get("kind")), str(event.get("text"))
        again = ("again",) if text in self._spoken else ()
        self._spoken.add(text)
        return Said("text" if kind == "assistant" else kind, details=again)

    def _result(self, event: Mapping[str, Any]) -> Said:
        """Describe a result; if its response has several calls, by the place of its call."""
        name = str(event.get("callId"))
        place = str(self.called.index(name) + 1) if name in self.called else "?"
        how = "synthetic" if event.get("synthetic") else "error" if event.get("isError") else "ok"
        return Said("result", details=(how,) if self.called == [name] else (place, how))

    def _request(self, recorder: Recorder, event: Mapping[str, Any]) -> Said:
        """Describe a request: the colours of messages that it shows first, and whether it is well-formed.

        In a well-formed request each call has exactly one result, as the law demands.
        """
        self.called.clear()
        entries = input_entries(event.get("input"))
        if entries is None:
            return Said("request")
        new = [name for name in recorder.observation.shown(entries) if name not in self.shown]
        self.shown.update(new)
        broken = any(isinstance(item, Finding) for item in well_formed(entries))
        colours = tuple(self.colours.get(name, "?") for name in new)
        details = (["for a summary"] if for_compaction(event) else []) + (["ill-formed"] if broken else [])
        return Said("request", colours, tuple(details), shows=True)


_TEXT: Final = Said("text")


def _awaits(step: ObservedStep) -> Awaits:
    """Count what is awaited after *step*."""
    awaited = [one for one in step.answer.awaiting if not getattr(one, "cancelled", False)]
    return Awaits(
        sum(isinstance(one, ModelAwaited) for one in awaited),
        sum(isinstance(one, ToolAwaited) for one in awaited),
        sum(isinstance(one, TimerAwaited) for one in awaited),
        cancelled=len(step.answer.awaiting) - len(awaited),
        stuck=step.active and not step.answer.awaiting,
        approvals=sum(isinstance(one, ApprovalAwaited) for one in awaited),
        clients=sum(isinstance(one, ClientToolAwaited) for one in awaited),
    )
