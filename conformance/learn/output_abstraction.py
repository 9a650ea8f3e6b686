"""Canonical outputs: what a settled step of a runtime shows, without any number.

What a step led to shows, in its order: messages by delivery and colour, items, results, stops, requests; then what is
awaited. Ids and texts are compared with those that came before, so that only what is new shows.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from turncheck.model.core.stimuli import ModelAwaited, ModelOutput, TimerAwaited, ToolAwaited, ToolCall, User

from ..laws.law import Finding
from ..laws.runtime.requests import well_formed
from ..observe.driver import Recorder
from ..observe.runtime_trace import ObservedStep

QUIET: Final = "quiet"
ARROW: Final = " → "
"""Between what a step led to and what is awaited after it."""


class OutputAbstraction:
    """Makes outputs of moves: what of a word was seen before, so that only what is new shows, and no number."""

    def __init__(self) -> None:
        self.said = False  # the response under way has begun
        self.calls = 0  # that were made in it
        self.steers: set[str] = set()  # accepted for the open run, and not shown yet
        self.unexpected: set[str] = set()  # accepted without a delivery amid a run
        self._colours: dict[str, str] = {}  # id of a message → its colour
        self._texts: dict[str, str] = {}  # text of a message → its id
        self.called: list[str] = []  # ids of the calls that were logged since the last request
        self.shown: set[str] = set()
        self._spoken: set[str] = set()

    def output(self, recorder: Recorder, move: ObservedStep) -> str:
        """The output of *move*, the last one of *recorder*."""
        stimulus = move.stimulus
        if isinstance(stimulus, User):
            self._colours[stimulus.id], self._texts[stimulus.text] = stimulus.text.rpartition(" ")[2], stimulus.id
        if isinstance(stimulus, ModelOutput) and move.took_place:
            self.said = True
            self.calls += isinstance(stimulus.item, ToolCall)
        queue = recorder.observation.queue
        said: list[str] = []
        for at in range(move.first, move.end):
            event = recorder.log[at]
            if event.get("type") == "native":
                continue
            text = self._event(event)
            if text != "text" or said[-1:] != ["text"]:  # several are logged at once where a response is logged whole
                said.append(text)
            if event.get("type") == "user-message" and move.was_active:
                if at not in queue:
                    self.steers.add(str(event.get("id")))
                if event.get("delivery") is None:
                    self.unexpected.add(str(event.get("id")))
        if not move.active:
            self.said, self.calls = False, 0
            self.steers.clear()
        if move.step.refused is not None:
            why = move.step.refused.why
            said.append("refused" if why == "rejected" else f"refused ({why})")
        return (", ".join(said) or QUIET) + ARROW + _awaits(move)

    def _event(self, event: Mapping[str, Any]) -> str:
        kind = event.get("type")
        match kind:
            case "user-message":
                delivery = {"steer": "steer", "followUp": "follow-up"}.get(str(event.get("delivery")), "user")
                return f"{delivery} {self._colours.get(str(event.get('id')), '?')}"
            case "agent-output":
                return self._item(event)
            case "tool-result":
                return self._result(event)
            case "run-stop":
                return f"stop {event.get('reason')}"
            case "model-request":
                return self._request(event)
            case _:
                return str(kind)

    def _item(self, event: Mapping[str, Any]) -> str:
        """An item; the same text again is another output."""
        if event.get("kind") == "tool-call":
            self.called.append(str(event.get("callId")))
            return "call"
        kind, text = str(event.get("kind")), str(event.get("text"))
        again = " again" if text in self._spoken else ""
        self._spoken.add(text)
        return ("text" if kind == "assistant" else kind) + again

    def _result(self, event: Mapping[str, Any]) -> str:
        """A result, by the place of its call in the response where there are several."""
        name = str(event.get("callId"))
        place = self.called.index(name) + 1 if name in self.called else "?"
        how = "synthetic" if event.get("synthetic") else "error" if event.get("isError") else "ok"
        return f"result {how}" if place == 1 and len(self.called) == 1 else f"result {place} {how}"

    def _request(self, event: Mapping[str, Any]) -> str:
        """A request: the colours of the messages that none has shown before, and whether it is well-formed.

        A call that is shown has exactly one result: the law's own rule.
        """
        self.said, self.calls = False, 0
        self.called.clear()
        if not isinstance(event.get("input"), list):
            self.steers.clear()
            return "request"
        entries = [cast("dict[str, Any]", one) for one in cast("list[Any]", event["input"]) if isinstance(one, dict)]
        seen = [name for entry in entries for name in self._messages(entry)]
        new = [name for name in seen if name not in self.shown]
        self.shown.update(new)
        self.steers.difference_update(new)
        broken = any(isinstance(item, Finding) for item in well_formed(entries))
        colours = ", ".join(self._colours.get(name, "?") for name in new)
        return f"request({colours})" + (" ill-formed" if broken else "")

    def _messages(self, entry: Mapping[str, Any]) -> list[str]:
        """The ids of the messages that an entry of the input shows; joined texts are taken apart."""
        if entry.get("role") != "user":
            return []
        if entry.get("ids"):
            return [str(name) for name in entry["ids"]]
        text = str(entry.get("text"))
        found = sorted((text.index(part), name) for part, name in self._texts.items() if part in text)
        return [name for _, name in found] or [f"nobody's: {text}"]


def _awaits(move: ObservedStep) -> str:
    """What is awaited after *move*; what was cancelled and goes on is named so."""
    awaited = [one for one in move.step.awaiting if isinstance(one, TimerAwaited) or not one.cancelled]
    counts = {
        "model": sum(isinstance(one, ModelAwaited) for one in awaited),
        "tool": sum(isinstance(one, ToolAwaited) for one in awaited),
        "timer": sum(isinstance(one, TimerAwaited) for one in awaited),
        "cancelled": len(move.step.awaiting) - len(awaited),
    }
    found = [name if count == 1 else f"{count} {name}s" for name, count in counts.items() if count]
    return " and ".join(found) or ("stuck" if move.active else "nothing")
