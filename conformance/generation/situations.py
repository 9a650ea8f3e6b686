"""Situations of a runtime under test, and the stimuli that are worth applying there: the rows of ``interaction``."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelAwaited,
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
from turncheck.model.declaration.vocabulary import Context
from turncheck.model.machines.interaction import SPEC, tables

from ..observe.driver import Driver, answer_to

COLOURS: Final = ("red", "blue")
"""Payloads need two colours, or last-in-first-out passes for first-in-first-out."""
VARIANTS: Final = 6
"""How many ways a row's stimulus can be made: two colours, and what the capabilities add."""
STEPS: Final = 20
"""Stimuli of a generated word, besides its access word and its closing."""
_TOOLS: Final = ("read", "deploy", "bash")
_NEEDS: Final[Mapping[str, str]] = {
    "steer": "steer",
    "follow-up": "follow-up",
    "reasoning": "reasoning",
    "tool-call": "tools",
    "fatal-failure": "model-failure",
    "retryable-failure": "model-failure",
    "tool-return": "tools",
    "tool-failure": "tool-failure",
    "abort": "abort",
    "advance": "clock",
}
TOOLS: Final = tuple(
    {"name": name, "schema": {"type": "object", "properties": {"path": {"type": "string"}}}} for name in _TOOLS
)


def idle(row: Row) -> bool:
    """Whether a row is not worth taking: nobody waits for it. Time may pass, and an abort may come, whenever."""
    return row.effects == ("not_awaited",)


def rows_for(capabilities: frozenset[str], policies: Mapping[str, Any]) -> list[Row]:
    """The rows that a runtime's capabilities and policies allow: those that do something."""
    possible = access_words(tables(policies), capabilities)
    undeclared = "busy" not in policies  # what becomes of a message then is nobody's promise
    return [
        row
        for row in SPEC.rows
        if row in possible and not (undeclared and row.event == "user" and row.source != "idle")
    ]


_Abstract: TypeAlias = tuple[str, int, int, int, int]
"""A control state and the registers' sizes: queue, steers, calls, attempts."""
_START: Final[_Abstract] = (SPEC.initial, 0, 0, 0, 0)


def access_words(given: Mapping[str, Any], capabilities: frozenset[str]) -> dict[Row, tuple[str, ...]]:
    """Each row that can be taken → the shortest events that end with it (breadth first; queues up to 2)."""
    found: dict[Row, tuple[str, ...]] = {}
    for row, word, _ in _onward(given, capabilities, _START, ()):
        found.setdefault(row, word)
    return found


def revisit_words(given: Mapping[str, Any], capabilities: frozenset[str]) -> dict[Row, tuple[str, ...]]:
    """Each row that can be taken twice → its access word, and on to the row once more.

    What is right once can be wrong from then on.
    """
    found: dict[Row, tuple[str, ...]] = {}
    seen = set[Row]()
    for row, word, after in _onward(given, capabilities, _START, ()):
        if row not in seen:
            seen.add(row)
            again = next((more for other, more, _ in _onward(given, capabilities, after, word) if other == row), None)
            if again is not None:
                found[row] = again
    return found


def _onward(
    given: Mapping[str, Any], capabilities: frozenset[str], start: _Abstract, before: tuple[str, ...]
) -> Iterator[tuple[Row, tuple[str, ...], _Abstract]]:
    """Each row that can be taken from *start* on, nearest first; the events up to it after *before*; and the state."""
    events = [event for event in SPEC.events if event not in _NEEDS or _NEEDS[event] in capabilities]
    seen: set[_Abstract] = {start}
    waiting: deque[tuple[_Abstract, tuple[str, ...]]] = deque([(start, before)])
    while waiting:
        (state, queue, steers, calls, attempts), word = waiting.popleft()
        for event in events:
            follower = Stepper(SPEC, given)
            follower.state = state
            _fill(follower.context, queue, steers, calls, attempts)
            row = follower.take(event, at=0)
            if idle(row):
                continue
            held = follower.context.registers
            depths = [min(len(held[name]), 2) for name in ("queue", "steers", "calls")]
            after = (row.dest, depths[0], depths[1], depths[2], held["attempts"])
            yield row, (*word, event), after
            if after not in seen:
                seen.add(after)
                waiting.append((after, (*word, event)))


class Situation:
    """Where a driven runtime is, by what was observed of it."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._context = SPEC.fresh(tables(driver.policies))
        self._calls: set[str] = set()
        self._made = 0
        self._attempts = 0
        self._steers = 0
        self._said = False
        self.taken: list[Row] = []
        self._rows: dict[str, Row | None] = {}  # generation asks for each many times a step

    @property
    def state(self) -> str | None:
        """The control state of ``interaction``; None where nothing of it fits (only a timer, or stuck)."""
        if not self._driver.active:
            return "idle"
        if self._models():
            return "inferring"
        return "executing" if self._tools() else None

    def refresh(self) -> None:
        """Fill the registers with what is observed now."""
        self._rows.clear()
        waiting = len(self._driver.follower.context.registers["queue"])
        calls = len(self._calls)
        if self.state == "executing":  # serial tools wait unseen: the log knows them, where it keeps their ids
            calls = max(len(self._tools()), calls) - 1
        _fill(self._context, waiting, self._steers, calls, self._attempts)

    def row(self, event: str) -> Row | None:
        """The row that *event* would take."""
        if event not in self._rows:
            self._rows[event] = self._row(event)
        return self._rows[event]

    def _row(self, event: str) -> Row | None:
        state = self.state
        if state is None or (event == "retryable-failure" and self._said):
            return None  # what has begun to speak can only break off: the row of a fatal failure
        if event == "tool-call" and state == "inferring" and not self._models()[0].tools:
            return None  # the request offers none
        return next(row for row in SPEC.by_event[event, state] if SPEC.permits(row, self._context))

    def apply(self, row: Row, variant: int) -> None:
        """Apply a stimulus of *row*, and look again. Raises what the driver does."""
        move = self._driver.apply(self.stimulus(row.event, variant))
        if move.took_place or (move.rejected and row.effects == ("refuse",)):
            self.taken.append(row)
        self._steers += "keep_steer" in row.effects and move.took_place
        self._attempts = self._attempts + 1 if row.event == "retryable-failure" else 0
        if isinstance(move.stimulus, ModelOutput) and isinstance(move.stimulus.item, ToolCall) and move.took_place:
            self._calls.add(move.stimulus.item.call_id)
        self._said = self._said or (isinstance(move.stimulus, ModelOutput) and move.took_place)
        new = self._driver.log[move.first : move.end]
        self._calls -= {event.get("callId") for event in new if event.get("type") == "tool-result"}
        if not move.active or any(event.get("type") == "model-request" for event in new):
            self._steers = 0
            self._calls.clear()
            self._said = False
        self.refresh()

    @property
    def deaf(self) -> list[ToolAwaited]:
        """The runs of tools that were cancelled, and go on."""
        return [one for one in self._driver.awaiting if isinstance(one, ToolAwaited) and one.cancelled]

    def release(self) -> None:
        """End the oldest tool that ignored an abort, or else what is awaited. Raises what the driver does."""
        awaited = self.deaf or self._driver.awaiting
        if awaited:
            self._driver.apply(answer_to(awaited[0]))
            self.refresh()

    def stimulus(self, event: str, variant: int) -> Stimulus:  # noqa: PLR0912 - one case an event
        """A stimulus of *event*; ids and texts are numbered, so that none comes twice."""
        self._made += 1
        number, colour = self._made, COLOURS[variant % 2]
        can = self._driver.capabilities
        match event:
            case "user" if variant == 4 and "together" in can:
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
            case "model-stop":
                return ModelStop(reason="tool-use" if self._calls else "end-turn")
            case "fatal-failure":
                return ModelFail(failure="stream" if variant % 2 or self._said else "fatal")
            case "retryable-failure":
                return ModelFail(failure="retryable")
            case "tool-return" | "tool-failure":
                tool = self._tools()[-1 if variant % 2 else 0]
                if event == "tool-return":
                    return ToolReturn(
                        call_id=tool.call_id, output=f"result {number} {colour}", execution=tool.execution
                    )
                return ToolFail(call_id=tool.call_id, message=f"failure {number}", execution=tool.execution)
            case "abort":
                return Abort()
            case _:
                return Advance(seconds=1)

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
        for move in reversed(self._driver.moves):
            if not isinstance(move.stimulus, ModelOutput):
                return None
            if isinstance(move.stimulus.item, ToolCall):
                return move.stimulus.item.call_id
        return None

    def _models(self) -> list[ModelAwaited]:
        return [one for one in self._driver.awaiting if isinstance(one, ModelAwaited) and not one.cancelled]

    def _tools(self) -> list[ToolAwaited]:
        return [one for one in self._driver.awaiting if isinstance(one, ToolAwaited) and not one.cancelled]


def _user(number: int, colour: str) -> User:
    return User(id=f"u{number}", text=f"say {number} {colour}")


def _fill(context: Context, queue: int, steers: int, calls: int, attempts: int) -> None:
    context.registers.update(
        queue=deque(range(queue)), steers=deque(range(steers)), calls=deque(range(calls)), attempts=attempts
    )


def directed(rows: Sequence[Row], words: Mapping[Row, tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """The access words of *rows*, those left out that another one goes through: together they take every row."""
    wanted = sorted({words[row] for row in rows}, key=lambda word: (-len(word), word))
    for place, word in enumerate(wanted):
        if not any(longer[: len(word)] == word for longer in wanted[:place]):
            yield word
