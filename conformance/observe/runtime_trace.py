"""The observation that a law on a runtime judges: a word of stimuli, its settled steps, and their log."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from turncheck.model.core.cycles import CycleViews, Projection, UserStep
from turncheck.model.core.events import Event, ModelRequest, RunStop, UserMessage
from turncheck.model.core.policies import Policies, projected
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import (
    Abort,
    Awaited,
    Client,
    Compact,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Step,
    Stimulus,
    ToolAwaited,
    ToolFail,
    ToolReturn,
    User,
)

from .compactions import answers_compaction, for_compaction, summarises
from .fields import input_entries

_NO_EVENT: Final = ("exception", "close")
"""Channels of an end that no event told (``via``)."""
_BEFORE_AN_END: Final[Mapping[type, str]] = {
    Abort: "an abort",
    ModelFail: "a failure of the model",
    ModelOutput: "an item of the model",
    ToolReturn: "a tool's result",
    ToolFail: "a tool's failure",
    User: "a message",
}
"""Stimulus → the name for what an end follows."""


class Applied(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stimulus, and the settled step that it led to.

    With ``restarted``, the process was killed and started again before it.
    """

    stimulus: Stimulus
    step: Step
    restarted: bool = False


@dataclass(frozen=True)
class ObservedStep:
    """A stimulus with its effects: log positions ``first`` ≤ at < ``end``, and the situation before and after.

    ``active`` says whether a run is open by the log; ``closing`` marks the environment's own answers at the word's end.
    """

    stimulus: Stimulus
    answer: Step
    before: tuple[Awaited, ...]
    first: int
    end: int
    was_active: bool
    active: bool
    closing: bool = False

    @property
    def took_place(self) -> bool:
        """True if the stimulus was applied."""
        return self.answer.refused is None

    @property
    def rejected(self) -> bool:
        """True if the implementation refused the stimulus as ``rejected``."""
        return self.answer.refused is not None and self.answer.refused.why == "rejected"

    @property
    def model_before(self) -> ModelAwaited | None:
        """The oldest request of a run that waited."""
        return next((one for one in self.before if isinstance(one, ModelAwaited) and not summarises(one)), None)

    @property
    def summarises(self) -> str | None:
        """The id of the compaction's request that the stimulus answers, None where it answers none."""
        return None if self.answer.refused else answers_compaction(self.stimulus, self.before)

    def tools(self) -> list[ToolAwaited]:
        """The runs of tools awaited afterwards, cancelled ones left out."""
        return tools_of(self.answer.awaiting)


class Request(NamedTuple):
    """A request to the model: its position in the log, and the input that the model is shown (None where unseen)."""

    at: int
    id: str
    input: list[Mapping[str, Any]] | None
    cycle: int


class Response(NamedTuple):
    """The environment's answer to one request: the items, and the step that ended it (None: none did).

    ``asked`` is the request's position in the log, -1 where it is not logged: each run may begin its ids anew.
    """

    request: str
    asked: int
    items: list[tuple[ObservedStep, ModelOutput]]
    end: ObservedStep | None


@dataclass(frozen=True)
class RuntimeTrace:
    """One observation of a runtime.

    ``events`` is the log, read. ``capabilities`` and ``policies`` are those that its profile declares, the latter as
    ``options`` change them; ``open_cycles`` has, for each position of the log and for its end, the index of the cycle
    that was open before it, -1 for none.
    """

    options: ResetOptions
    steps: tuple[ObservedStep, ...]
    log: tuple[Mapping[str, Any], ...]
    events: tuple[Event, ...]
    policies: Mapping[str, Any]
    capabilities: frozenset[str]
    open_cycles: Sequence[int]

    @cached_property
    def projection(self) -> Projection:
        """The cycles of the log, by the model, under the declared policies."""
        return project(self.events, projection_policies(self.policies))

    @cached_property
    def cycles(self) -> tuple[CycleViews, ...]:
        """The cycles of the log."""
        return self.projection.cycles

    def cycle_at(self, at: int) -> int:
        """Return the index of the cycle to which the event at a position belongs, -1 for none."""
        if not 0 <= at < len(self.open_cycles):
            return -1
        before = self.open_cycles[at]
        return before if before >= 0 or at == len(self.log) else self.open_cycles[at + 1]  # a root opens its own

    def cycle_before(self, step: ObservedStep) -> int:
        """The index of the cycle that was open when *step* came, -1 for none."""
        return self.open_cycles[step.first]

    def cycle_after(self, step: ObservedStep) -> int:
        """The index of the cycle that is open when *step* has settled, -1 for none."""
        return self.open_cycles[step.end]

    def inferred(self, at: int | None) -> bool:
        """Return whether the adapter inferred the event at a position: by its word, or from no event at all."""
        if at is None or at >= len(self.events):
            return False
        return getattr(self.events[at], "source", None) == "adapter" or self.log[at].get("via") in _NO_EVENT

    def inferred_after(self, at: int | None) -> str:
        """Return what came before the event at a position that the adapter inferred; "" for one that was shown."""
        if at is None or not self.inferred(at):
            return ""
        step = next((one for one in self.steps if one.first <= at < one.end), None)
        stimulus = None if step is None else step.stimulus
        if not isinstance(stimulus, ModelStop):
            return _BEFORE_AN_END.get(type(stimulus), "something else")
        items = next((one.items for one in self.responses if one.end is step), ())
        return "a response" if items else "an empty response"

    def stop_of(self, cycle: int) -> RunStop | None:
        """The event that ended a cycle."""
        at = self.cycles[cycle].stop
        event = None if at is None else self.events[at]
        return event if isinstance(event, RunStop) else None

    @property
    def bound(self) -> int | None:
        """The bound on model requests of one run, by its options or else its policies; None where there is none."""
        return self.options.limits.get("maxRounds", self.policies.get("maxRounds"))

    def used_up(self, cycle: int, at: int) -> bool:
        """Return whether a cycle has used up its model requests before a position."""
        asked = sum(one.cycle == cycle and one.at < at for one in self.requests)
        return self.bound is not None and asked >= self.bound

    def stops_within(self, step: ObservedStep) -> list[int]:
        """The cycles that *step* closed."""
        return [
            index
            for index, cycle in enumerate(self.cycles)
            if cycle.stop is not None and step.first <= cycle.stop < step.end
        ]

    @cached_property
    def requests(self) -> list[Request]:
        """The requests of runs to the model, in the log's order."""
        return [
            Request(
                at, str(self.log[at].get("requestId", "")), input_entries(self.log[at].get("input")), self.cycle_at(at)
            )
            for at, event in enumerate(self.events)
            if isinstance(event, ModelRequest) and not for_compaction(self.log[at])
        ]

    @cached_property
    def of_runs(self) -> "RuntimeTrace":
        """The same without what the model is told and says for compactions: such a stimulus is one more ``Compact``."""
        if not any(step.summarises for step in self.steps):
            return self
        alone = (replace(step, stimulus=Compact()) if step.summarises else step for step in self.steps)
        return replace(self, steps=tuple(alone))

    def leaving_aborts(self, step: ObservedStep) -> bool:
        """Return whether *step* is an abort, since a client left amid a run or a compaction, and the policy says so."""
        stimulus, amid = step.stimulus, step.was_active or any(map(summarises, step.before))
        leaves = isinstance(stimulus, Client) and stimulus.action == "leave" and step.took_place
        return leaves and amid and self.policies.get("disconnect") == "abort"

    @cached_property
    def unattended(self) -> "RuntimeTrace":
        """The same with an abort in the place of each client that left, where this aborts."""
        if not any(map(self.leaving_aborts, self.steps)):
            return self
        steps = (replace(step, stimulus=Abort()) if self.leaving_aborts(step) else step for step in self.steps)
        return replace(self, steps=tuple(steps))

    @cached_property
    def messages(self) -> dict[str, int]:
        """The id of each accepted message of the session's own agent → its position."""
        return {
            event.id: at
            for at, event in enumerate(self.events)
            if isinstance(event, UserMessage) and event.id is not None and self.log[at].get("agentId") is None
        }

    @cached_property
    def message_cycles(self) -> dict[str, int]:
        """The id of each accepted message → its cycle, -1 while it waits, was dropped or rejected."""
        places: dict[int, int] = {}
        for index, cycle in enumerate(self.cycles):
            places[cycle.root] = index
            places |= {step.at: index for step in cycle.steps if isinstance(step, UserStep)}
        return {name: places.get(at, -1) for name, at in self.messages.items()} | self.joined

    @cached_property
    def joined(self) -> dict[str, int]:
        """The id of each message that waited when a run was cut, and then joined the user's next one → its cycle."""
        names = {at: name for name, at in self.messages.items()}
        found: dict[str, int] = {}
        for at in self.projection.dropped:
            fates = ((index, self.fate(index)) for index, one in enumerate(self.cycles) if (one.stop or 0) > at)
            index, fate = next(((index, fate) for index, fate in fates if fate in {"drop", "join"}), (-1, None))
            if fate == "join" and index + 1 < len(self.cycles) and at in names:
                found[names[at]] = index + 1
        return found

    def fate(self, cycle: int) -> str | None:
        """The declared fate of the queue at a cycle's end: promote where it completed, None while it is open."""
        name = {"interrupted": "queueAfterInterrupted", "error": "queueAfterError"}.get(self.cycles[cycle].reason or "")
        return None if self.cycles[cycle].reason is None else self.policies.get(name or "", "promote")

    @cached_property
    def _ids_of_texts(self) -> dict[str, str]:
        return {str(self.log[at].get("text")): name for name, at in self.messages.items() if self.log[at].get("text")}

    def shown(self, request: Request) -> list[str]:
        """Return the ids of the user messages that a request shows, in its order; ``?`` for a text that nobody sent."""
        found: list[str] = []
        for entry in request.input or ():
            if entry.get("role") == "user":
                text = str(entry.get("text"))
                found += entry.get("ids") or [self._ids_of_texts.get(text, "?")]
        return found

    @cached_property
    def responses(self) -> list[Response]:
        """The environment's answers, one per request, in the order in which they began."""
        found: dict[tuple[str, int], Response] = {}
        for step in self.steps:
            waiting = step.model_before
            if not step.took_place or waiting is None or step.summarises:
                continue
            if isinstance(step.stimulus, ModelOutput | ModelStop | ModelFail):
                name = step.stimulus.request_id or waiting.request_id
                key = name, self.asked(name, step)
                response = found.setdefault(key, Response(*key, [], None))
                if isinstance(step.stimulus, ModelOutput):
                    response.items.append((step, step.stimulus))
                else:
                    found[key] = response._replace(end=step)
        return list(found.values())

    def asked(self, name: str, step: ObservedStep) -> int:
        """Return the position of the latest request of that name before *step*, -1 for none."""
        return max((one.at for one in self.requests if one.id == name and one.at < step.first), default=-1)

    def whole_responses(self) -> Iterator[Response]:
        """The responses that the model ended itself."""
        return (one for one in self.responses if one.end is not None and isinstance(one.end.stimulus, ModelStop))

    def of(self, *kinds: type) -> Iterator[ObservedStep]:
        """The steps whose stimulus is of one of *kinds* and took place."""
        return (step for step in self.steps if isinstance(step.stimulus, kinds) and step.took_place)

    def aborts(self) -> Iterator[tuple[ObservedStep, int]]:
        """The aborts of an active run, each with the cycle that it hit."""
        for step in self.of(Abort):
            cycle = self.cycle_before(step)
            if step.was_active and cycle >= 0:
                yield step, cycle

    @cached_property
    def returned(self) -> dict[str, list[tuple[ObservedStep, ToolReturn | ToolFail]]]:
        """Call id → the stimuli that ended its runs, with their steps; none of a step that an abort came with."""
        found: dict[str, list[tuple[ObservedStep, ToolReturn | ToolFail]]] = {}
        for step in self.steps:
            several = flat(step.stimulus)
            if step.took_place and not any(isinstance(one, Abort) for one in several):
                for one in several:
                    if isinstance(one, ToolReturn | ToolFail):
                        found.setdefault(one.call_id, []).append((step, one))
        return found

    @cached_property
    def sent(self) -> dict[str, User]:
        """The messages that were sent to the session's own agent, by id, accepted or not."""
        sent = (one for step in self.steps for one in flat(step.stimulus) if isinstance(one, User))
        return {user.id: user for user in sent if user.agent_id is None}


@dataclass(frozen=True)
class Repeated:
    """A word that was applied once more: what was ``applied``, until it did not settle.

    Its ``trace`` is made when it is asked for: most laws compare the answers alone.
    ``capabilities`` are those that the profile declares.
    """

    applied: tuple[Applied, ...]
    capabilities: frozenset[str]
    observe: Callable[[], RuntimeTrace]

    @cached_property
    def trace(self) -> RuntimeTrace:
        """The observation of the word."""
        return self.observe()


Again: TypeAlias = Callable[[Sequence[Stimulus], ResetOptions], Repeated]
"""Apply a word under its options once more."""


def tools_of(awaiting: Sequence[Awaited]) -> list[ToolAwaited]:
    """The runs of tools that are awaited, cancelled ones left out."""
    return [one for one in awaiting if isinstance(one, ToolAwaited) and not one.cancelled]


def flat(stimulus: Stimulus) -> tuple[Any, ...]:
    """Return the stimuli that came together in one, or the stimulus alone."""
    return getattr(stimulus, "stimuli", (stimulus,))


def projection_policies(declared: Mapping[str, Any]) -> Policies:
    """Return a runtime's policies of projection: ``busy`` decides on a message without delivery while active."""
    busy = declared.get("busy")
    active = declared.get("whileActive", busy if busy in {"steer", "followUp"} else "followUp")
    return msgspec.convert({**projected(declared), "whileActive": active}, Policies)
