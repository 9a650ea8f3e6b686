"""A runtime seen through a finite alphabet: letters in, canonical outputs out, for learning and n-complete suites.

A letter becomes a concrete stimulus; ids and texts are numbered, and messages have one of two colours. A settled step
becomes one line of text: the logged events, the messages that each request shows for the first time, and what is
awaited afterwards (quiescence is an output too, as in ioco). Numbers are left out: two steps that differ only in them
have one output.

The finiteness comes from observation, not from an assumption: a letter that is not awaited, or that would exceed the
bound of waiting messages or calls, is answered here and not sent, so that the runtime's state does not change.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.stimuli import (
    Abort,
    ApprovalAwaited,
    Approve,
    Client,
    ClientResult,
    ClientToolAwaited,
    Compact,
    Deny,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Stimulus,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from ...generation.situations import COLOURS, LOCATE, PAY, TOOLS, tools_for
from ...laws.runtime.contract import needs
from ...observe.driver import Driver, Recorder, UnsettledError
from ...observe.observation import Observation
from ...observe.runtime_trace import ObservedStep, projection_policies
from .output_abstraction import Output, OutputAbstraction

_MESSAGES: Final[Mapping[str, Any]] = {"user": None, "steer": "steer", "follow-up": "followUp"}
_OF_MODEL: Final = ("text", "tool-call", "model-stop", "fatal-failure", "retryable-failure")
_OF_TOOLS: Final = ("tool-return", "tool-failure")
_OF_CLIENTS: Final = ("join", "leave")
"""One client's: it may join again, or leave where it is not there, so that no state is made of it."""
_CALLS: Final[Mapping[str, Mapping[str, Any]]] = {"tool-call": TOOLS[0], "gated-call": PAY, "client-call": LOCATE}
"""Letter → the tool that is called."""
_DECISIONS: Final = {"approve": ApprovalAwaited, "deny": ApprovalAwaited, "client-result": ClientToolAwaited}
"""Letter → what has to wait for it."""
_CAN_BE_CALLED: Final = {"gated-call": "approval", "client-call": "client-tools"}
"""Letter → the capability that a call of this tool needs."""
_ALIKE: Final[Mapping[str, Stimulus]] = {
    "abort": Abort(),
    "compact": Compact(),
    "join": Client(client_id="k1", action="join"),
    "leave": Client(client_id="k1", action="leave"),
}
"""Letters whose stimuli are alike each time."""
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, order=True)
class Letter:
    """A letter: an event of ``interaction``; a message has one of two colours."""

    kind: str
    colour: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.colour}".rstrip()


LETTERS: Final = (
    *(Letter(kind, colour) for kind in _MESSAGES for colour in COLOURS),
    *map(Letter, (*_OF_MODEL, *_OF_TOOLS, "abort", *_OF_CLIENTS)),
)
"""The usual alphabet, in the order of every table."""
MORE_LETTERS: Final = tuple(map(Letter, ("gated-call", "client-call", *_DECISIONS, "compact")))
"""Letters that are sent only where they are chosen: with them, a machine has several times as many states."""
ALPHABET: Final = (*LETTERS, *MORE_LETTERS)

NOT_AWAITED: Final = Output(local="not awaited")
BEYOND: Final = Output(local="beyond the bound")
LOCAL: Final = frozenset({NOT_AWAITED, BEYOND})
"""The outputs of letters that are not sent: the runtime's state does not change."""


class Bounds(msgspec.Struct, frozen=True):
    """Bounds on waiting messages (steers and follow-ups, each), and on the calls of one response."""

    messages: int = 1
    calls: int = 1


def letters_of(capabilities: Sequence[str], among: Sequence[Letter] = LETTERS) -> tuple[Letter, ...]:
    """Return the letters *among* these that can be sent to a runtime with *capabilities*."""
    given, nothing = {None, *capabilities}, Observation({})

    def need(letter: Letter) -> str | None:
        return _CAN_BE_CALLED.get(letter.kind) or needs(_stimulus(letter, 0, nothing))

    return tuple(letter for letter in among if need(letter) in given)


class Reader:
    """Translates between the alphabet and the word under way: letters, stimuli, and the outputs of steps.

    *recorder* holds the observations of the word; ``canon`` makes the outputs of its steps.
    """

    def __init__(self, recorder: Recorder, bounds: Bounds) -> None:
        self.recorder: Final = recorder
        self.canon: Final = OutputAbstraction()
        self._bounds = bounds

    def local(self, letter: Letter) -> Output | None:
        """Return the output of *letter* if it must not be sent, else None."""
        if not self._awaited(letter):
            return NOT_AWAITED
        return BEYOND if self._beyond(letter) else None

    def stimulus(self, letter: Letter) -> Stimulus:
        """Return the stimulus of *letter* at this point of the word."""
        return _stimulus(letter, len(self.recorder.steps) + 1, self.recorder.observation)

    def letter(self, stimulus: Stimulus, letters: Sequence[Letter]) -> Letter | None:
        """Return the one of *letters* whose stimulus here equals *stimulus*, numbers aside; None if there is none."""
        shape = _shape(stimulus)
        return next((letter for letter in letters if _shape(self.stimulus(letter)) == shape), None)

    def output(self, step: ObservedStep, letter: Letter) -> Output:
        """Return the output of the newest step, which *letter* caused."""
        return self.canon.output(self.recorder, step, letter.colour)

    def _awaited(self, letter: Letter) -> bool:
        """Return whether a letter is awaited; messages and aborts are possible at any time."""
        seen = self.recorder.observation
        if letter.kind in {*_OF_MODEL, *_CALLS}:
            asking = [one for one in seen.awaiting if isinstance(one, ModelAwaited) and not one.cancelled]
            return bool(asking) and (asking[0].tools or letter.kind not in _CALLS)
        if letter.kind in _DECISIONS:
            return _undecided(letter, seen) is not None
        return bool(seen.tools) if letter.kind in _OF_TOOLS else True

    def _beyond(self, letter: Letter) -> bool:
        """Return whether a letter would exceed a bound, judged from the observed state."""
        seen, policies = self.recorder.observation, self.recorder.policies
        if letter.kind in _CALLS:
            return seen.made >= self._bounds.calls
        if letter.kind not in _MESSAGES or not seen.active:
            return False
        if letter.kind == "user" and policies.get("busy") == "reject":  # a message accepted against the policy waits
            waiting = [at for at in (*seen.queue, *seen.steers) if seen.log[at].get("delivery") is None]
        else:
            delivery = _MESSAGES[letter.kind] or projection_policies(policies).while_active
            waiting = [*(seen.steers if delivery == "steer" else seen.queue)]
        return len(waiting) >= self._bounds.messages


class Abstracted:
    """*runtime* as a machine over LETTERS: ``reset``, then ``step`` letter by letter.

    *policies* and *limits* are reset options. Both methods raise TargetError if the target breaks, and UnsettledError
    if it never becomes quiet; after either, reset first.
    """

    def __init__(
        self,
        runtime: RuntimeTarget,
        bounds: Bounds = Bounds(),  # noqa: B008 - frozen
        *,
        policies: Mapping[str, Any] | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self._runtime = runtime
        self._bounds = bounds
        tools = tools_for(frozenset(runtime.profile.capabilities))
        self.options: Final = ResetOptions(tools=tools, policies={**(policies or {})}, limits={**(limits or {})})
        self._word: tuple[Driver, Reader] | None = None

    @property
    def applied(self) -> tuple[Stimulus, ...]:
        """The concrete stimuli of the word under way."""
        return () if self._word is None else tuple(step.stimulus for step in self._word[0].steps)

    @property
    def reader(self) -> Reader:
        """The word under way. Raises RuntimeError where none is."""
        return self._under_way[1]

    def reset(self) -> None:
        """Begin a word."""
        self._word = None
        self.begin(Driver(self._runtime, self.options))

    def begin(self, driver: Driver) -> None:
        """Begin a word that *driver* has just started with ``options``."""
        self._word = driver, Reader(driver, self._bounds)

    def step(self, letter: Letter) -> Output:
        """Return the output of *letter*, one of ALPHABET. A deterministic runtime repeats it for the same word."""
        return self.reader.local(letter) or self.send(letter)

    def send(self, letter: Letter) -> Output:
        """Send *letter* even if it is not awaited, and return the runtime's own output."""
        driver, reader = self._under_way
        try:
            return reader.output(driver.apply(reader.stimulus(letter)), letter)
        except UnsettledError:
            self._word = None
            raise

    @property
    def _under_way(self) -> tuple[Driver, Reader]:
        if self._word is None:
            raise RuntimeError("no word is under way: reset first")
        return self._word


def _shape(stimulus: Stimulus) -> str:
    """A stimulus without its numbers; an answer is matched to its request by call id only."""
    fields: dict[str, Any] = msgspec.to_builtins(stimulus)
    of = fields.get("callId")  # of an answer: a call's own id is within its item
    unnamed = {"callId", "requestId", "execution", "cursor"}
    told = {name: value for name, value in fields.items() if name not in unnamed}
    return f"{_NUMBER.sub('', str(told))} {of}"


def _stimulus(letter: Letter, number: int, seen: Observation) -> Stimulus:
    """Return the stimulus of *letter*: the oldest tool answers; a model that has begun to stream can only break off."""
    tools = seen.tools
    call, execution = (tools[0].call_id, tools[0].execution) if tools else ("", None)
    match letter.kind:
        case "user" | "steer" | "follow-up" as kind:
            return User(id=f"u{number}", text=f"say {number} {letter.colour}", delivery=_MESSAGES[kind])
        case "text":
            return ModelOutput(item=Text(text=f"answer {number}."))
        case "tool-call" | "gated-call" | "client-call" as kind:
            name = str(_CALLS[kind]["name"])
            return ModelOutput(item=ToolCall(call_id=f"c{number}", tool=name, arguments={"path": f"{number}"}))
        case "model-stop":
            return ModelStop(reason="tool-use" if seen.made else "end-turn")
        case "fatal-failure" | "retryable-failure" as kind:
            return ModelFail(failure="stream" if seen.said else "fatal" if kind == "fatal-failure" else "retryable")
        case "tool-return":
            return ToolReturn(call_id=call, output=f"result {number}", execution=execution)
        case "tool-failure":
            return ToolFail(call_id=call, message=f"failure {number}", execution=execution)
        case "approve" | "deny" | "client-result" as kind:
            return _decision(kind, _undecided(letter, seen) or "", number)
        case kind if kind in _ALIKE:
            return _ALIKE[kind]
        case _:
            raise ValueError(f"no letter {str(letter)!r}; the letters are {', '.join(map(str, ALPHABET))}")


def _decision(kind: str, name: str, number: int) -> Stimulus:
    """Return the decision about the call *name*."""
    if kind == "client-result":
        return ClientResult(call_id=name, output=f"result {number}")
    return Approve(call_id=name) if kind == "approve" else Deny(call_id=name)


def _undecided(letter: Letter, seen: Observation) -> str | None:
    """The id of the oldest call that waits for the decision *letter*; None without one."""
    waiting = [one for one in seen.undecided if type(one) is _DECISIONS[letter.kind]]
    return waiting[0].call_id if waiting else None


def letter_named(name: str) -> Letter:
    """Return the letter with that text. Raises ValueError where there is none."""
    found = next((letter for letter in ALPHABET if str(letter) == name), None)
    if found is None:
        raise ValueError(f"no letter {name!r}; the letters are {', '.join(map(str, ALPHABET))}")
    return found
