"""Drive a runtime through a word: stimuli in, settled steps out, and the trace of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeVar

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.messages import Profile, check_policies
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.stimuli import (
    Advance,
    ApprovalAwaited,
    Approve,
    Awaited,
    Client,
    ClientResult,
    ClientToolAwaited,
    ModelAwaited,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Step,
    Stimulus,
    Text,
    TimerAwaited,
    ToolAwaited,
    ToolReturn,
    User,
    Word,
)

from .clients import Clients
from .observation import Observation
from .runtime_trace import Again, Applied, ObservedStep, Repeated, RuntimeTrace

ANSWERS: Final = 40
"""Answers that the environment gives to end a run: far more than a word's own calls and queued messages need."""
PROBE: Final = User(id="probe", text="say probe")
"""The message that is sent after everything else: after any end the next one is served."""


NOTHING: Final = Step()

_T = TypeVar("_T")


class UnsettledError(Exception):
    """No quiet within the adapter's patience: the word ends here, and only what came before can be judged."""


class Recorder:
    """Records one word, step by step. *profile* holds the runtime's claims; *start* is its answer to the reset.

    Raises TargetError where a policy of the profile, or of the options, has a value that it cannot have.
    """

    def __init__(self, options: ResetOptions, profile: Profile, start: Step = NOTHING) -> None:
        self.options = options
        self.policies: Final[Mapping[str, Any]] = {**profile.policies, **options.policies}
        check_policies(self.policies)
        self.capabilities: Final = frozenset(profile.capabilities)
        self.observation: Final = Observation(self.policies, options.decider)
        self.clients: Final = Clients()
        self.steps: list[ObservedStep] = []
        self._trace: RuntimeTrace | None = None
        self.observation.follow(start)

    @property
    def log(self) -> Sequence[dict[str, Any]]:
        """The events until now."""
        return self.observation.log

    @property
    def awaiting(self) -> tuple[Awaited, ...]:
        """The answers that are awaited now."""
        return self.observation.awaiting

    @property
    def active(self) -> bool:
        """True if a run is open by the log."""
        return self.observation.active

    @property
    def unsettled(self) -> bool:
        """True if the word ended without quiet."""
        return bool(self.steps) and self.steps[-1].answer.unsettled

    def observe(self, stimulus: Stimulus, answer: Step, *, closing: bool = False) -> ObservedStep:
        """Record a stimulus and its answer."""
        before, was_active, first = self.awaiting, self.active, len(self.log)
        self.observation.follow(answer, stimulus)
        self.clients.follow(stimulus, answer)
        step = ObservedStep(stimulus, answer, before, first, len(self.log), was_active, self.active, closing)
        self.steps.append(step)
        self._trace = None
        return step

    def trace(self) -> RuntimeTrace:
        """Return the trace of all steps so far, the same one each time: what laws read off it is read once."""
        if self._trace is None:
            seen = self.observation
            self._trace = RuntimeTrace(
                *(self.options, tuple(self.steps), tuple(seen.log), tuple(seen.events)),
                *(self.policies, self.capabilities, tuple(seen.open_cycles)),
            )
        return self._trace


class Driver(Recorder):
    """One word on a runtime. Raises TargetError where the target breaks, UnsettledError where it does not settle."""

    def __init__(self, runtime: RuntimeTarget, options: ResetOptions) -> None:
        super().__init__(options, runtime.profile, runtime.reset(options))
        self._runtime = runtime

    def apply(self, stimulus: Stimulus, *, closing: bool = False) -> ObservedStep:
        """Apply a stimulus, and observe; a client that comes back gives the cursor that it was told last."""
        stimulus = self.clients.resolved(stimulus)
        answer = self._asked((stimulus,), lambda: self._runtime.apply(stimulus))
        return self._settled(self.observe(stimulus, answer, closing=closing))

    def run(self, word: Sequence[Stimulus], closing: Sequence[bool] = ()) -> None:
        """Apply a whole word in one message; where clients come back, in as many more: only then are cursors known."""
        returns = [place for place, one in enumerate(word) if isinstance(one, Client) and one.action == "join"]
        for first, end in pairwise((0, *(place for place in returns if place), len(word))):
            part = (*map(self.clients.resolved, word[first : first + 1]), *word[first + 1 : end])
            answers = self._asked(part, partial(self._runtime.run, part))
            for place, (stimulus, answer) in enumerate(zip(part, answers, strict=False), first):
                self._settled(self.observe(stimulus, answer, closing=place < len(closing) and closing[place]))

    def answers(self, word: Sequence[Stimulus]) -> tuple[Applied, ...]:
        """Apply a whole word in one message, and observe nothing; what came after an unsettled step is left out."""
        applied: list[Applied] = []
        for stimulus, answer in zip(word, self._asked(word, lambda: self._runtime.run(word)), strict=False):
            applied.append(Applied(stimulus, answer))
            if answer.unsettled:
                break
        return tuple(applied)

    def close(self) -> None:
        """Answer whatever is awaited until the run ends, send one message more, and answer that."""
        if not any(step.active for step in self.steps):
            return
        self.answer()
        if not self.active and not self.awaiting:
            self.apply(PROBE, closing=True)
            self.answer()

    def answer(self) -> None:
        """Answer whatever is awaited until the run ends, and those of calls that ignored an abort."""
        for _ in range(ANSWERS):
            open_ones = [one for one in self.awaiting if self.active or not isinstance(one, TimerAwaited)]
            if not open_ones:  # calls that ignored an abort are answered after the run's end: that must do nothing
                return
            awaited = open_ones[0]
            if isinstance(awaited, ModelAwaited):  # an empty response is a case of its own, and some ask again
                text = Text(text=f"closing {len(self.steps)}.")
                self.apply(ModelOutput(item=text, request_id=awaited.request_id), closing=True)
                waiting = [one.request_id for one in self.awaiting if isinstance(one, ModelAwaited)]
                if awaited.request_id not in waiting:
                    continue
            self.apply(answer_to(awaited), closing=True)

    def _asked(self, word: Sequence[Stimulus], act: Callable[[], _T]) -> _T:
        """Return the result of *act*; an error of the target tells the word until then."""
        try:
            return act()
        except TargetError as error:
            error.case = Word((*(step.stimulus for step in self.steps), *word), self.options)
            raise

    def _settled(self, step: ObservedStep) -> ObservedStep:
        if step.answer.unsettled:
            raise UnsettledError
        return step


def recorded(
    applied: Sequence[Stimulus],
    answers: Sequence[Step],
    closing: Sequence[bool],
    options: ResetOptions,
    profile: Profile,
) -> RuntimeTrace:
    """Return the trace of steps that were observed earlier."""
    recorder = Recorder(options, profile)
    for stimulus, answer, closes in zip(applied, answers, closing, strict=True):
        recorder.observe(stimulus, answer, closing=closes)
    return recorder.trace()


def perform(
    runtime: RuntimeTarget,
    word: Sequence[Stimulus],
    options: ResetOptions,
    closing: Sequence[bool] | None = None,
) -> Driver:
    """Apply *word* in one message, and close it; with *closing* it is whole, and those stimuli are the environment's.

    Raises TargetError where the target breaks; an unsettled word ends where it did.
    """
    driver = Driver(runtime, options)
    try:
        driver.run(word, closing or ())
        if closing is None:
            driver.close()
    except UnsettledError:
        pass
    return driver


def repeating(runtime: RuntimeTarget) -> Again:
    """Return a function that applies a whole word to *runtime*, for relation laws."""

    def again(word: Sequence[Stimulus], options: ResetOptions) -> Repeated:
        driver = Driver(runtime, options)
        applied = driver.answers(word)

        def observe() -> RuntimeTrace:
            for one in applied:
                driver.observe(one.stimulus, one.step)
            return driver.trace()

        return Repeated(applied, driver.capabilities, observe)

    return again


def answer_to(awaited: Awaited) -> Stimulus:
    """Return the stimulus that ends an awaited request, run of a tool or timer, and does no more."""
    match awaited:
        case ModelAwaited(request_id=request):
            return ModelStop(reason="end-turn", request_id=request)
        case ToolAwaited(call_id=call, execution=execution):
            return ToolReturn(call_id=call, output="closing result", execution=execution)
        case ApprovalAwaited(call_id=call):
            return Approve(call_id=call)
        case ClientToolAwaited(call_id=call):
            return ClientResult(call_id=call, output="closing result")
        case TimerAwaited(due=due):
            return Advance(seconds=due)
