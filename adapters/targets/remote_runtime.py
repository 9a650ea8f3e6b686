"""A runtime in a process of its own, driven over the protocol."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus

from ..protocol.connection import Connection
from ..protocol.errors import FailedError, ImplementationError, RubbishError, TargetError, UnsupportedError
from ..protocol.messages import Answer, Apply, Message, Profile, Reset, Run, encode
from .remote import Remote

WORD_SECONDS: Final = 60.0
"""Seconds for a whole word: ``run`` answers once, while single stimuli have a timeout each. A user's longer timeout
holds here too."""


class _RestlessError(TargetError):
    """A runtime is not quiet after a reset."""


class RemoteRuntime(Remote):
    """A ``RuntimeTarget``."""

    def __init__(self, connection: Connection, profile: Profile | None = None) -> None:
        super().__init__(connection, profile)
        self._started_in: int | None = None

    def reset(self, options: ResetOptions = ResetOptions()) -> Step:  # noqa: B008 - frozen
        """Begin anew: empty, or with the contents of ``state_dir``; in a new process if the old one does not settle."""
        try:
            return self._reset(options)
        except _RestlessError:  # a new process runs nothing of an earlier word
            return self._reset(options)

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet."""
        self._check()
        return self._settled(self._step(Apply(self._connection.next_seq(), stimulus)))

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        """Apply a word in one message; return fewer steps than stimuli if one was unsettled."""
        self._check()
        message = Run(self._connection.next_seq(), tuple(word))
        timeout = self._connection.timeout
        answer = self._ask(message, max(timeout, min(timeout * len(word), WORD_SECONDS)))
        steps = answer.steps
        if steps is UNSET or len(steps) > len(word):
            raise self._rubbish("no steps" if steps is UNSET else "more steps than stimuli", message, answer)
        if any(step.unsettled for step in steps[:-1]):
            raise self._rubbish("a step after one that is unsettled", message, answer)
        if len(steps) < len(word) and not (steps and steps[-1].unsettled):
            problem = f"{len(steps)} steps for {len(word)} stimuli, and the last is not unsettled"
            raise self._rubbish(problem, message, answer)
        if steps:
            self._settled(steps[-1])
        return steps

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines on stderr of the last process that was ended: they may say why it did not settle."""
        return self._connection.last_words

    @property
    def in_process(self) -> bool:
        """False: a process is started."""
        return False

    def kill(self, amid: Stimulus | None = None, seconds: float = 0.0) -> None:
        """Crash it, *seconds* after *amid* was sent."""
        if amid is not None:
            self._check()
            self._connection.cut(Apply(self._connection.next_seq(), amid), seconds)
        self._connection.kill(at_once=True)

    def _reset(self, options: ResetOptions) -> Step:
        self._connection.living()
        self._started_in = self._connection.generation
        message = Reset(self._connection.next_seq(), options)
        step = self._step(message)
        if step.unsettled:
            raise self._connection.broken(_RestlessError("a reset leads to no quiet"), message)
        return step

    def _step(self, message: Message) -> Step:
        answer = self._ask(message)
        if answer.events is UNSET or answer.awaiting is UNSET:
            raise self._rubbish("the answer has no events, or no awaiting", message, answer)
        refused = None if answer.refused is UNSET else answer.refused
        return Step(answer.events, answer.awaiting, refused, answer.unsettled, answer.clients)

    def _ask(self, message: Message, seconds: float | None = None) -> Answer:
        try:
            return self._connection.ask(message, seconds)
        except UnsupportedError as error:
            broken = TargetError(f"a runtime must know this: {error}", came=str(error))
            raise self._connection.broken(broken, message) from error
        except ImplementationError as error:
            broken = FailedError(f"the adapter failed: {error}", came=error.detail or str(error))
            raise self._connection.broken(broken, message) from error

    def _settled(self, step: Step) -> Step:
        if step.unsettled:  # its activity would show in the next word
            self._connection.kill()
        return step

    def _check(self) -> None:
        if self._started_in != self._connection.generation:
            raise TargetError("the runtime ended, and what it knew is lost: reset first")

    def _rubbish(self, problem: str, message: Message, answer: Answer) -> TargetError:
        return self._connection.broken(RubbishError(problem, came=encode(answer)), message)
