"""A runtime in a process of its own, spoken with over the protocol."""

from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from msgspec import UNSET

from turncheck.model.stimuli import ResetOptions, Step, Stimulus

from .connection import Connection
from .errors import ImplementationError, RubbishError, TargetError, UnsupportedError
from .protocol import Answer, Apply, Implementation, Message, Profile, Reset, Run

WORD_SECONDS: Final = 60.0
"""For a whole word, at most: ``run`` answers once, where single stimuli would have had a timeout each."""


class RemoteRuntime:
    """The ``RuntimeTarget`` at the other end of *connection*. With *profile*, that one counts and not its own."""

    def __init__(self, connection: Connection, profile: Profile | None = None) -> None:
        self.name: Final = connection.name
        self.implementation: Final[Implementation] = connection.hello.implementation
        self.profile: Final[Profile] = profile or connection.hello.profile
        self._connection = connection
        self._given = profile
        self._started_in: int | None = None

    def reset(self, options: ResetOptions = ResetOptions()) -> Step:  # noqa: B008 - frozen
        """A new and empty runtime, or what ``state_dir`` holds."""
        self._connection.living()
        self._started_in = self._connection.generation
        return self._step(Reset(self._connection.next_seq(), options))

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet."""
        self._check()
        return self._step(Apply(self._connection.next_seq(), stimulus))

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        """Apply a word in one message; fewer steps than stimuli where one was unsettled."""
        self._check()
        message = Run(self._connection.next_seq(), tuple(word))
        steps = self._ask(message, WORD_SECONDS).steps
        if steps is UNSET or len(steps) > len(word):
            raise self._rubbish("no steps" if steps is UNSET else "more steps than stimuli", message)
        if len(steps) < len(word) and not (steps and steps[-1].unsettled):
            raise self._rubbish(f"{len(steps)} steps for {len(word)} stimuli, and the last is not unsettled", message)
        self._settled(not (steps and steps[-1].unsettled))
        return steps

    def kill(self) -> None:
        """Crash it."""
        self._connection.kill()

    def again(self, hash_seed: int) -> "RemoteRuntime":
        """The same implementation in a new process with this PYTHONHASHSEED."""
        return RemoteRuntime(self._connection.again(hash_seed), self._given)

    def close(self) -> None:
        """Ask it to stop, and leave no process behind."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _step(self, message: Message) -> Step:
        answer = self._ask(message)
        if answer.events is UNSET or answer.awaiting is UNSET:
            raise self._rubbish("the answer has no events, or no awaiting", message)
        self._settled(not answer.unsettled)
        refused = None if answer.refused is UNSET else answer.refused
        return Step(answer.events, answer.awaiting, refused, answer.unsettled)

    def _ask(self, message: Message, seconds: float | None = None) -> Answer:
        try:
            return self._connection.ask(message, seconds)
        except UnsupportedError as error:
            raise self._connection.broken(TargetError(f"a runtime must know this: {error}"), message) from error
        except ImplementationError as error:
            broken = TargetError(f"the adapter failed: {error}", came=error.detail or "")
            raise self._connection.broken(broken, message) from error

    def _settled(self, settled: bool) -> None:  # noqa: FBT001
        if not settled:  # what goes on in there would be seen in the next word
            self._connection.kill()

    def _check(self) -> None:
        if self._started_in != self._connection.generation:
            raise TargetError("the runtime ended, and what it knew is lost: reset first")

    def _rubbish(self, problem: str, message: Message) -> TargetError:
        return self._connection.broken(RubbishError(problem), message)
