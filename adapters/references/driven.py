"""What of a reference runtime that is driven in this process is the same for all: a stimulus in, a settled step out."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from turncheck.model.core.stimuli import (
    Awaited,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Refusal,
    ResetOptions,
    Step,
    Stimulus,
    Together,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
)

from ..protocol.messages import Implementation, Profile
from .implementation import implementation

OPTIONS: Final = ResetOptions()


class Refused(Exception):  # noqa: N818 - no error: the stimulus did not take place
    """``refusal`` says why a stimulus did not take place."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal: Final = refusal


def unsupported(what: str) -> Refused:
    """The runtime has no such thing."""
    return Refused(Refusal("unsupported", what))


class Driven(ABC):
    """A ``RuntimeTarget`` in this process, where nothing can hang or die: quiet is when a method returns.

    A subclass starts anew in ``begin``, and takes stimuli in ``take``; it keeps ``request`` and ``tool``, what it
    awaits now. What ignored an abort (``deafTools``, ``deafModel``) stays awaited here until it is answered, and is
    forgotten.
    """

    last_words: tuple[str, ...] = ()

    name: str
    profile: Profile

    def __init__(self) -> None:
        self.options = OPTIONS
        self.reset()

    @property
    def implementation(self) -> Implementation:
        """Who answers."""
        return implementation(self.name)

    @abstractmethod
    def begin(self) -> None:
        """Start anew, by ``options``."""

    @abstractmethod
    def take(self, stimulus: Stimulus) -> None:
        """Take one stimulus that is no group, and meant for what is awaited. Raises Refused."""

    @property
    @abstractmethod
    def log(self) -> Sequence[dict[str, Any]]:
        """The whole log since the reset."""

    def reset(self, options: ResetOptions = OPTIONS) -> Step:
        """A new and empty runtime."""
        self.options = options
        self.request: ModelAwaited | None = None
        self.tool: ToolAwaited | None = None
        self._late: list[ModelAwaited] = []
        self._cancelled: list[ToolAwaited] = []
        self._executions = self._told = 0
        self.begin()
        return self._step()

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet."""
        refusal: Refusal | None = None
        for one in stimulus.stimuli if isinstance(stimulus, Together) else (stimulus,):
            try:
                self._apply(one)
            except Refused as refused:
                refusal = refused.refusal
        return self._step(refusal)

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        """Apply a word."""
        return tuple(map(self.apply, word))

    def kill(self) -> None:
        """What it knew is lost."""
        self.reset()

    def again(self, hash_seed: int) -> Self:  # noqa: ARG002 - this process has its seed
        """The same runtime once more, in this process."""
        return type(self)()

    def close(self) -> None:  # noqa: B027 - nothing to do
        """Nothing is left behind."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def execute(self, call: ToolCall) -> None:
        """Start a tool: it is awaited from now on."""
        self._executions += 1
        self.tool = ToolAwaited(
            call_id=call.call_id, execution=f"e{self._executions}", tool=call.tool, arguments=call.arguments
        )

    def leave(self) -> None:
        """Let go of what is awaited."""
        if self.request is not None and self.tool is None and self.options.deaf_model:
            self._late.append(self.request)
        if self.tool is not None and self.options.deaf_tools:
            self._cancelled.append(msgspec.structs.replace(self.tool, cancelled=True))
        self.request = self.tool = None

    def _apply(self, stimulus: Stimulus) -> None:
        match stimulus:
            case ModelOutput() | ModelStop() | ModelFail():
                late = next((one for one in self._late if stimulus.request_id in {None, one.request_id}), None)
                if late is not None:
                    if not isinstance(stimulus, ModelOutput):
                        self._late.remove(late)
                    return
                self._expect(self.request is not None and self.tool is None, stimulus.request_id, self.request)
            case ToolReturn() | ToolFail():
                runs = [*self._cancelled, *([] if self.tool is None else [self.tool])]
                run = next((one for one in runs if _meant(one, stimulus)), None)
                if run is None:
                    raise Refused(Refusal("not-awaited", "no such tool runs"))
                if run.cancelled:
                    self._cancelled.remove(run)
                    return
            case _:
                pass
        self.take(stimulus)

    def _expect(self, waits: bool, name: str | None, request: ModelAwaited | None) -> None:  # noqa: FBT001
        if not waits or request is None or name not in {None, request.request_id}:
            raise Refused(Refusal("not-awaited", "no chunk is read now"))

    def _step(self, refusal: Refusal | None = None) -> Step:
        new = tuple(self.log[self._told :])
        self._told = len(self.log)
        return Step(new, tuple(self._awaiting()), refusal)

    def _awaiting(self) -> Iterable[Awaited]:
        """While a tool runs no chunk is read: then the model is not awaited."""
        yield from self._late
        yield from self._cancelled
        if self.tool is not None:
            yield self.tool
        elif self.request is not None:
            yield self.request


def _meant(run: ToolAwaited, stimulus: ToolReturn | ToolFail) -> bool:
    return run.call_id == stimulus.call_id and stimulus.execution in {None, run.execution}


def halves(text: str) -> tuple[str, str]:
    """A text as the two deltas in which it streams."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
