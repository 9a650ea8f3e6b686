"""Situations of a runtime under test, and the stimuli that are worth applying there: the rows of ``interaction``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ApprovalAwaited,
    Approve,
    Client,
    ClientResult,
    ClientToolAwaited,
    Compact,
    Decision,
    Deny,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    Stimulus,
    Text,
    Together,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines.interaction import CONCURRENT, SPEC, tables
from turncheck.model.search import reached

from ..observe.driver import Driver, answer_to

COLOURS: Final = ("red", "blue")
"""Payloads need two colours, or last-in-first-out passes for first-in-first-out."""
VARIANTS: Final = 6
"""Number of variants of a row's stimulus: two colours, and those that capabilities add."""
STEPS: Final = 20
"""Stimuli of a generated word, besides its access word and its closing."""
_TOOLS: Final = ("read", "deploy", "bash")
_NEEDS: Final[Mapping[str, str]] = {
    "steer": "steer",
    "follow-up": "follow-up",
    "reasoning": "reasoning",
    "tool-call": "tools",
    "gated-call": "approval",
    "client-call": "client-tools",
    "fatal-failure": "model-failure",
    "retryable-failure": "model-failure",
    "tool-return": "tools",
    "tool-failure": "tool-failure",
    "approve": "approval",
    "deny": "approval",
    "client-result": "client-tools",
    "abort": "abort",
    "compact": "compaction",
    "join": "clients",
    "leave": "clients",
    "advance": "clock",
}
_SCHEMA: Final = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS: Final = tuple({"name": name, "schema": _SCHEMA} for name in _TOOLS)
PAY: Final = {"name": "pay", "schema": _SCHEMA, "needs": "approval"}
"""A tool whose calls a person has to approve."""
LOCATE: Final = {"name": "locate", "schema": _SCHEMA, "needs": "client"}
"""A tool that the client executes."""
_DECIDED: Final[Mapping[str, type[Decision]]] = {
    "approve": ApprovalAwaited,
    "deny": ApprovalAwaited,
    "client-result": ClientToolAwaited,
}
"""Event → what has to wait for it."""
_OTHER_KIND: Final[Mapping[str, tuple[str, ...]]] = {
    "gated-call": ("client-call", "client-result"),
    "client-call": ("gated-call", "approve", "deny"),
}
"""Call → the events that an access word has not behind it: the machine cannot tell whom a call waits for."""


def tools_for(capabilities: frozenset[str]) -> tuple[dict[str, Any], ...]:
    """Return the tools that a runtime with *capabilities* is given."""
    own = TOOLS if "tools" in capabilities else ()
    return (
        *own,
        *([PAY] if "approval" in capabilities else []),
        *([LOCATE] if "client-tools" in capabilities else []),
    )


_CLIENTS: Final = 3
"""Clients of a word: one that stays, one that comes and goes, and one that joins late."""
_CALLING: Final = ("tool-call", *_OTHER_KIND)


def idle(row: Row) -> bool:
    """Return whether a row is not worth taking, since its event is not awaited; time and aborts always may come."""
    return row.effects == ("not_awaited",)


def rows_for(capabilities: frozenset[str], policies: Mapping[str, Any]) -> list[Row]:
    """Return the rows that a runtime's capabilities and policies allow, without those that do nothing."""
    possible = access_words(tables(policies), capabilities)
    apart = policies.get("busy", CONCURRENT) == CONCURRENT  # undefined, or a run beside it: ``overlapping_words``
    return [
        row for row in SPEC.rows if row in possible and not (apart and row.event == "user" and row.source != "idle")
    ]


class _Place(NamedTuple):
    """A control state with the sizes of the registers; a queue's size counts up to two."""

    state: str
    held: tuple[int, ...]
    attempts: int
    gated: str | None = None
    """The event of the calls that have to be decided in this word."""
    said: bool = False
    """True if there is something to compact, where that is possible."""
    there: bool = False
    """True if a client has joined."""


_QUEUES: Final = ("queue", "steers", "calls", "gated")
_START: Final = _Place(SPEC.initial, (0,) * len(_QUEUES), 0)


def access_words(given: Mapping[str, Any], capabilities: frozenset[str]) -> Mapping[Row, tuple[str, ...]]:
    """Return, for each row that can be taken, the shortest word of events that ends with it."""
    return _access_words(_key(given), capabilities)


def revisit_words(given: Mapping[str, Any], capabilities: frozenset[str]) -> Mapping[Row, tuple[str, ...]]:
    """Return, for each row that can be taken twice, its access word extended to take the row again.

    A row may be right the first time and wrong from then on.
    """
    return _revisit_words(_key(given), capabilities)


_Tables: TypeAlias = tuple[tuple[str, Any], ...]


def _key(given: Mapping[str, Any]) -> _Tables:
    return tuple(sorted(given.items()))


@cache  # each `verify` asks several times, and a search takes 13 ms
def _access_words(given: _Tables, capabilities: frozenset[str]) -> Mapping[Row, tuple[str, ...]]:
    return {row: word for row, (word, _) in _firsts(given, capabilities).items()}


@cache
def _revisit_words(given: _Tables, capabilities: frozenset[str]) -> Mapping[Row, tuple[str, ...]]:
    onward = _onward(given, capabilities)
    found: dict[Row, tuple[str, ...]] = {}
    for wanted, (word, place) in _firsts(given, capabilities).items():
        again = next((longer for row, _, longer in _taken(place, word, onward) if row is wanted), None)
        if again is not None:
            found[wanted] = again
    return found


_Onward: TypeAlias = Callable[[_Place], Sequence[tuple[str, Row, _Place]]]
"""From a place to what can be taken there: the event, its row, and the place that it leads to."""


@lru_cache(maxsize=2)  # for the two searches that follow each other: a table has some thousand places
def _firsts(given: _Tables, capabilities: frozenset[str]) -> Mapping[Row, tuple[tuple[str, ...], _Place]]:
    """Return, for each row that can be taken, the shortest word that ends with it, and the place it leads to."""
    found: dict[Row, tuple[tuple[str, ...], _Place]] = {}
    for row, place, word in _taken(_START, (), _onward(given, capabilities)):
        if row not in found:
            found[row] = word, place
    return found


def _taken(start: _Place, word: tuple[str, ...], onward: _Onward) -> Iterator[tuple[Row, _Place, tuple[str, ...]]]:
    """Yield the rows that can be taken from *start*, each with the place it leads to and its word, nearest first."""

    def places(place: _Place) -> Iterator[tuple[str, _Place]]:
        return ((event, after) for event, _, after in onward(place))

    for place, there in reached([(start, word)], places):
        for event, row, after in onward(place):
            yield row, after, (*there, event)


@lru_cache(maxsize=2)
def _onward(given: _Tables, capabilities: frozenset[str]) -> _Onward:
    """The steps of ``interaction`` under the tables *given*, for a search; unawaited events are left out."""
    tables_of_run = dict(given)
    events = [event for event in SPEC.events if event not in _NEEDS or _NEEDS[event] in capabilities]

    def standing(place: _Place) -> Stepper:
        stepper = Stepper(SPEC, tables_of_run)
        stepper.state, held = place.state, stepper.context.registers
        for name, size in zip(_QUEUES, place.held, strict=True):
            held[name].extend(range(size))
        held["attempts"] = place.attempts
        return stepper

    def after(place: _Place, event: str) -> _Place:
        stepper = standing(place)
        stepper.take(event, at=0)
        held = stepper.context.registers
        sizes = tuple([min(len(held[name]), 2) for name in _QUEUES])
        gated = event if event in _OTHER_KIND else place.gated
        said = place.said or (event == "model-stop" and "compact" in events)
        return _Place(stepper.state, sizes, held["attempts"], gated, said, place.there or event == "join")

    @cache
    def branches(place: _Place) -> Sequence[tuple[str, Row, _Place]]:
        barred = {*_OTHER_KIND.get(place.gated or "", ()), *(() if place.said else ("compact",))}
        barred |= set() if place.there else {"leave"}
        here = standing(place)
        rows = [(event, here.row(event, at=0)) for event in events if event not in barred]
        return [(event, row, after(place, event)) for event, row in rows if not idle(row)]

    return branches


class Situation:
    """The situation of a runtime, from observation, and the stimuli that can be applied in it."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._seen = driver.observation
        self._made = 0
        self.taken: list[Row] = []

    def row(self, event: str) -> Row | None:
        """Return the row that *event* would take, None where the event cannot come."""
        row = self._seen.row(event)
        if event == "retryable-failure" and self._seen.said:
            return None  # a response that has begun can only break off: the row of a fatal failure
        if event in _DECIDED and not self._undecided(event):
            return None
        clients = self._driver.clients
        if (event == "leave" and not clients.there) or (
            event == "join" and not clients.away and len(clients.there) >= _CLIENTS
        ):
            return None
        if event in _CALLING and row is not None and row.source == "inferring" and not self._seen.models[0].tools:
            return None  # the request offers none
        return row

    def apply(self, row: Row, variant: int) -> None:
        """Apply a stimulus of *row*. Raises the driver's errors."""
        step = self._driver.apply(self.stimulus(row.event, variant))
        if step.took_place or (step.rejected and row.effects == ("refuse",)):
            self.taken.append(row)

    @property
    def deaf(self) -> list[ToolAwaited]:
        """Return the cancelled runs of tools that go on."""
        return [one for one in self._driver.awaiting if isinstance(one, ToolAwaited) and one.cancelled]

    def release(self) -> None:
        """End the oldest tool that ignored an abort, or else the first awaited one. Raises the driver's errors."""
        awaited = self.deaf or self._driver.awaiting
        if awaited:
            self._driver.apply(answer_to(awaited[0]))

    def stimulus(self, event: str, variant: int) -> Stimulus:  # noqa: PLR0912 - one case an event
        """Return a stimulus of *event*; ids and texts are numbered, so that none comes twice."""
        self._made += 1
        number, colour = self._made, COLOURS[variant % 2]
        can = self._driver.capabilities
        match event:
            case "user" if variant == 4 and "together" in can and self._driver.policies.get("busy") != CONCURRENT:
                return Together(stimuli=(_user(number, colour), _user(number + 1000, COLOURS[1 - variant % 2])))
            case "user":
                return _user(number, colour)
            case "steer":
                return User(id=f"u{number}", text=f"say {number} {colour}", delivery="steer")
            case "follow-up":
                return User(id=f"u{number}", text=f"say {number} {colour}", delivery="followUp")
            case "text":
                return ModelOutput(item=Text(text=f"answer {number} {colour}."))
            case "reasoning":
                return ModelOutput(item=Reasoning(text=f"thought {number} {colour}."))
            case "tool-call":
                return ModelOutput(item=self._call(number, variant))
            case "gated-call":
                return ModelOutput(item=replace(self._call(number, variant), tool=PAY["name"]))
            case "client-call":
                return ModelOutput(item=replace(self._call(number, variant % 4), tool=LOCATE["name"]))
            case "approve" | "deny" | "client-result":
                name = self._undecided(event)[-1 if variant % 2 else 0].call_id
                if event == "client-result":
                    return ClientResult(call_id=name, output=f"result {number} {colour}")
                message = None if variant % 3 == 0 else f"refusal {number}"
                return Approve(call_id=name) if event == "approve" else Deny(call_id=name, message=message)
            case "model-stop":
                return ModelStop(reason="tool-use" if self._seen.calls else "end-turn")
            case "fatal-failure":
                return ModelFail(failure="stream" if variant % 2 or self._seen.said else "fatal")
            case "retryable-failure":
                return ModelFail(failure="retryable")
            case "tool-return" | "tool-failure":
                tool = self._seen.tools[-1 if variant % 2 else 0]
                if event == "tool-return":
                    return ToolReturn(
                        call_id=tool.call_id, output=f"result {number} {colour}", execution=tool.execution
                    )
                return ToolFail(call_id=tool.call_id, message=f"failure {number}", execution=tool.execution)
            case "abort":
                return Abort()
            case "compact":
                return Compact()
            case "join":
                away = self._driver.clients.away
                known = len(self._driver.clients.views)
                anew = not away or (variant % 2 and known < _CLIENTS)
                return Client(client_id=f"k{known + 1}" if anew else away[0], action="join")
            case "leave":
                return Client(client_id=self._driver.clients.there[-1 if variant % 2 else 0], action="leave")
            case _:
                return Advance(seconds=1)

    def _undecided(self, event: str) -> list[Decision]:
        """The calls that wait for *event*."""
        return [one for one in self._seen.undecided if type(one) is _DECIDED[event]]

    def _call(self, number: int, variant: int) -> ToolCall:
        can = self._driver.capabilities
        tool = _TOOLS[number % len(_TOOLS)]
        if variant == 4 and "raw-arguments" in can:
            return ToolCall(call_id=f"c{number}", tool=tool, arguments='{"path": ')
        if variant == 5 and "call-ids" in can and (last := self._last_call()) is not None:
            return ToolCall(call_id=last, tool=tool, arguments={"path": "b"})
        return ToolCall(call_id=f"c{number}", tool=tool, arguments={"path": f"{number}"})

    def _last_call(self) -> str | None:
        """The id of the last call of the response under way."""
        for step in reversed(self._driver.steps):
            if not isinstance(step.stimulus, ModelOutput):
                return None
            if isinstance(step.stimulus.item, ToolCall):
                return step.stimulus.item.call_id
        return None


def follow(situation: Situation, word: Sequence[str], variant: int = 0) -> bool:
    """Apply an access word as far as the runtime permits; return whether it was applied to the end."""
    for event in word:
        row = situation.row(event)
        if row is None or idle(row):
            return False
        situation.apply(row, variant)
    return True


def _user(number: int, colour: str) -> User:
    return User(id=f"u{number}", text=f"say {number} {colour}")


def directed(rows: Sequence[Row], words: Mapping[Row, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Yield access words that together take every one of *rows*; words that are prefixes of others are left out."""
    wanted = sorted({words[row] for row in rows}, key=lambda word: (-len(word), word))
    for place, word in enumerate(wanted):
        if not any(longer[: len(word)] == word for longer in wanted[:place]):
            yield word
