"""The common base of the reference runtimes, as targets in this process: a stimulus in, a settled step out."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    Approve,
    Awaited,
    ClientResult,
    ClientToolAwaited,
    Decision,
    Deny,
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

OPTIONS: Final = ResetOptions()


class Refused(Exception):  # noqa: N818 - no error: the stimulus did not take place
    """``refusal`` says why a stimulus did not take place."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal: Final = refusal


def unsupported(what: str) -> Refused:
    """Return the refusal of a stimulus that the runtime does not support; *what* is the message."""
    return Refused(Refusal("unsupported", what))


def not_awaited(stimulus: Stimulus) -> Refused:
    """Return the refusal of an answer that nothing waits for."""
    match stimulus:
        case ToolReturn() | ToolFail():
            what = "tool runs"
        case Approve() | Deny() | ClientResult():
            what = "call waits for a decision"
        case _:
            what = "request is open"
    return Refused(Refusal("not-awaited", f"no such {what}"))


@cache
def implementation(name: str = "turncheck reference") -> Implementation:
    """Return the reference's name and version; the version is turncheck's."""
    from importlib.metadata import version  # noqa: PLC0415 - 15 ms of a start-up that mostly does without

    return Implementation(name, version("turncheck"), "python")


class InProcess(ABC):
    """A ``RuntimeTarget`` in this process, where nothing can hang or die: it is quiet when a method returns.

    A subclass starts anew in ``begin``, takes stimuli in ``give``, keeps the ``log`` and lists in ``waiting`` what it
    awaits. ``introduced`` is its name as an implementation, where that is not the target's.
    """

    last_words: tuple[str, ...] = ()
    in_process = True
    introduced: str | None = None

    name: str
    profile: Profile

    def __init__(self) -> None:
        self.reset()

    @property
    def implementation(self) -> Implementation:
        """Name and version of the implementation."""
        return implementation(self.introduced or self.name)

    @abstractmethod
    def begin(self) -> None:
        """Start anew, with ``options``."""

    @abstractmethod
    def give(self, stimulus: Stimulus, waits: Any) -> None:
        """Take one stimulus that is no group; *waits* is the object that awaits an answer. Raises Refused."""

    @abstractmethod
    def waiting(self) -> Iterable[tuple[Awaited, Any]]:
        """Each awaited answer, with the runtime's own object that waits for it."""

    @property
    @abstractmethod
    def log(self) -> Sequence[dict[str, Any]]:
        """The whole log since the reset."""

    def reset(self, options: ResetOptions = OPTIONS) -> Step:
        """Start a new runtime: empty, or with the sessions in ``state_dir``."""
        self.options, self._told = options, 0
        self.begin()
        return self.step()

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet."""
        refusal: Refusal | None = None
        for one in stimulus.stimuli if isinstance(stimulus, Together) else (stimulus,):
            try:
                self.give(one, self._addressee(one))
            except Refused as refused:
                refusal = refused.refusal
        return self.step(refusal)

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        """Apply a word."""
        return tuple(map(self.apply, word))

    def kill(self, amid: Stimulus | None = None, seconds: float = 0.0) -> None:  # noqa: ARG002 - a stimulus is one step
        """Lose all state."""
        self.reset()

    def again(self, hash_seed: int) -> Self:  # noqa: ARG002 - this process has its seed
        """The same runtime once more, in this process."""
        return type(self)()

    def close(self) -> None:  # noqa: B027 - most leave nothing behind
        """Release all resources."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def step(self, refusal: Refusal | None = None) -> Step:
        """Return the new events of the log, and what is awaited now."""
        new = tuple(self.log[self._told :])
        self._told = len(self.log)
        return Step(new, tuple(awaited for awaited, _ in self.waiting()), refusal, clients=self.heard())

    def heard(self) -> dict[str, tuple[Any, ...]]:
        """Return what each client was told in this step: nothing, where there are no clients."""
        return {}

    def observe(self) -> None:
        """Call the observer, and ignore its error."""
        with suppress(RuntimeError):
            if self.options.observer == "throws":
                raise RuntimeError("the observer throws")

    def addressed(self, name: str | None, session: str | None) -> bool:
        """Return whether a stimulus to the session *name* may be for *session*; one that names none is for any."""
        return name in {None, session}

    def meant(self, stimulus: Any, agent: str | None) -> bool:
        """Return whether a stimulus may be for a sub-agent (None: for none); one that names none is for any."""
        return stimulus.agent_id in {None, agent}

    def _addressee(self, stimulus: Stimulus) -> Any:
        """Return the object that waits for this answer, None where it is no answer."""
        if not isinstance(stimulus, _ANSWERS):
            return None
        for awaited, waits in self.waiting():
            own = self.addressed(stimulus.session_id, awaited.session_id) and self.meant(stimulus, awaited.agent_id)
            if own and _answers(stimulus, awaited):
                return waits
        raise not_awaited(stimulus)


class Driven(InProcess):
    """A runtime of one session: ``request`` and ``tool`` are the awaited model request and tool run.

    ``undecided`` are the calls that wait for a person or the client.

    A subclass takes its stimuli in ``take``. A call or request that ignored an abort (``deafTools``, ``deafModel``)
    stays awaited here until its answer comes, which is dropped.
    """

    @abstractmethod
    def take(self, stimulus: Stimulus) -> None:
        """Take one stimulus that is no group and, if an answer, is for the awaited call or request. Raises Refused."""

    def reset(self, options: ResetOptions = OPTIONS) -> Step:
        """Start a new, empty runtime."""
        self.request: ModelAwaited | None = None
        self.tool: ToolAwaited | None = None
        self.undecided: list[Decision] = []
        self._late: list[ModelAwaited | ToolAwaited] = []
        self._executions = 0
        return super().reset(options)

    def give(self, stimulus: Stimulus, waits: Any) -> None:
        """Take the stimulus; drop answers to calls and requests that ignored an abort."""
        if waits is None:
            self.take(stimulus)
        elif not isinstance(stimulus, ModelOutput):
            self._late.remove(waits)

    def waiting(self) -> Iterable[tuple[Awaited, Any]]:
        """Yield what is awaited: while a tool runs no chunk is read, so that the model is not awaited."""
        for late in sorted(self._late, key=lambda one: isinstance(one, ToolAwaited)):
            yield late, late
        if self.tool is not None:
            yield self.tool, None
        elif self.request is not None:
            yield self.request, None
        for decision in self.undecided:
            yield decision, None

    def execute(self, call: ToolCall) -> None:
        """Start a tool; its end is awaited from now on."""
        self._executions += 1
        self.tool = ToolAwaited(
            call_id=call.call_id, execution=f"e{self._executions}", tool=call.tool, arguments=call.arguments
        )

    def leave(self) -> None:
        """Await the open call and request no longer."""
        if self.tool is not None and self.options.deaf_tools:
            self._late.append(msgspec.structs.replace(self.tool, cancelled=True))
        elif self.tool is None and self.request is not None and self.options.deaf_model:
            self._late.append(self.request)
        self.request = self.tool = None
        self.undecided = []


_ANSWERS: Final = (ModelOutput, ModelStop, ModelFail, ToolReturn, ToolFail, Approve, Deny, ClientResult)
"""Stimuli that somebody has to wait for."""


def _answers(stimulus: Stimulus, awaited: Awaited) -> bool:
    match stimulus, awaited:
        case ModelOutput() | ModelStop() | ModelFail(), ModelAwaited():
            return stimulus.request_id in {None, awaited.request_id}
        case ToolReturn() | ToolFail(), ToolAwaited():
            return stimulus.call_id == awaited.call_id and stimulus.execution in {None, awaited.execution}
        case Approve() | Deny(), ApprovalAwaited():
            return stimulus.call_id == awaited.call_id
        case ClientResult(), ClientToolAwaited():
            return stimulus.call_id == awaited.call_id
        case _:
            return False
