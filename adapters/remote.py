"""A projector in a process of its own, spoken with over the protocol."""

import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

from msgspec import UNSET, Raw

from turncheck.model.cycles import Projection
from turncheck.model.policies import Policies

from .errors import DiedError, ImplementationError, StartError, TargetError, UnsupportedError
from .process import Child
from .projections import read_projection
from .protocol import (
    VERSION,
    Answer,
    Feed,
    Hello,
    HelloAnswer,
    Implementation,
    Message,
    Profile,
    Project,
    Reset,
    Stop,
    encode,
    expected,
    read_answer,
    read_hello,
    see,
)

RESTARTS: Final = 5
"""How often a broken process is replaced: enough for a law to shrink a little, and an end for what always breaks."""
START_SECONDS: Final = 10.0
"""For the answer to hello: frameworks take seconds to import. A longer timeout of the user's counts here too."""


class RemoteProjector:
    """The ``ProjectorTarget`` that *command* runs. With *profile*, that one counts and not the one that it sends.

    Raises StartError where it can't be started or is no projector, TargetError for a hello that goes wrong otherwise,
    and msgspec.ValidationError where the policies of *profile* are none that exist.
    """

    def __init__(
        self,
        name: str,
        *,
        command: Sequence[str],
        timeout: float,
        start_seconds: float = START_SECONDS,
        profile: Profile | None = None,
        hash_seed: int | None = None,
    ) -> None:
        self.name: Final = name
        self.last_input_changed: bool | None = None
        self._command = tuple(command)
        self._timeout = timeout
        self._start_seconds = max(timeout, start_seconds)
        self._given = profile
        self._hash_seed = hash_seed or 0  # fixed where nobody asks for another: two runs must not differ by it
        self._seq = 0
        self._restarts = 0
        self._broke: TargetError | None = None
        self._fed: list[Raw] = []
        self._lost = False
        own = None if profile is None else profile.projection_policies()
        self._child: Child | None
        self._child, hello = self._start()
        self.implementation: Final[Implementation] = hello.implementation
        self.profile: Final[Profile] = profile or hello.profile
        self._announced = hello.profile.projection_policies()
        self._own = own or self._announced

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project one session's whole log, whatever was fed.

        On the wire no events means what was fed: for an empty log, that is put aside and fed again.
        """
        fed = self._fed
        if fed and not events:
            self.reset()
        projection = self._project(_raw(events), self._to_send(policies))
        if fed and not events:
            for chunk in fed:
                self._feed(chunk)
        return projection

    def feed(self, events: Sequence[Any]) -> None:
        """Take the next events of the session under way."""
        self._check_feed()
        self._feed(_raw(events))

    def fed(self) -> Projection:
        """The projection of what was fed since the reset."""
        self._check_feed()
        return self._project(_raw([]), None)

    def reset(self) -> None:
        """Forget what was fed."""
        self._fed = []
        message = Reset(self._next())
        try:
            self._ask(message)
        except ImplementationError as error:  # there is no input that this could be a verdict on
            raise self._broken(TargetError(f"cannot reset: {error}", came=error.detail or ""), message) from error
        self._lost = False

    def again(self, hash_seed: int) -> "RemoteProjector":
        """The same implementation in a new process with this PYTHONHASHSEED."""
        return RemoteProjector(
            self.name,
            command=self._command,
            timeout=self._timeout,
            start_seconds=self._start_seconds,
            profile=self._given,
            hash_seed=hash_seed,
        )

    def close(self) -> None:
        """Ask it to stop, and leave no process behind."""
        if self._child is not None:
            self._child.close(_line(Stop()))
            self._child = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _project(self, events: Raw, policies: Policies | None) -> Projection:
        message = Project(self._next(), events, policies)
        answer = self._ask(message)
        try:
            return read_projection(answer.projection, self.profile)
        except TargetError as error:
            raise self._broken(error, message) from error.__cause__

    def _feed(self, events: Raw) -> None:
        self._living()  # or the chunk would count among those that were lost with the process before
        self._fed.append(events)
        self._ask(Feed(self._next(), events))

    def _to_send(self, policies: Policies | None) -> Policies | None:
        """What a project message says of *policies*: nothing where they are what the implementation does anyway."""
        wanted = policies or self._own
        if self.profile.can("policies"):
            return None if wanted == self._announced else wanted
        if wanted == self._own:
            return None
        raise UnsupportedError(f"{self.name} does not declare the capability 'policies', and its own are {self._own}")

    def _check_feed(self) -> None:
        if not self.profile.can("feed"):
            raise UnsupportedError(f"{self.name} does not declare the capability 'feed'")
        if self._lost:
            raise TargetError("what was fed was lost with the process that broke: reset first")

    def _next(self) -> int:
        self._seq += 1
        return self._seq

    def _ask(self, message: Message) -> Answer:
        """Send *message* and read its answer; a process that broke before is replaced first."""
        self.last_input_changed = None
        child = self._living()
        try:
            answer = read_answer(child.ask(_line(message), self._timeout), self._seq)
        except TargetError as error:
            raise self._broken(error, message) from error.__cause__
        self.last_input_changed = None if answer.input_changed is UNSET else answer.input_changed
        return answer

    def _broken(self, error: TargetError, message: Message) -> TargetError:
        """*error*, completed; whatever process it came from is not trusted any more."""
        if self._child is not None:
            self._child.kill()
            error.stderr = self._child.stderr
            self._child = None
        self._broke, self._lost = error, bool(self._fed)
        error.while_asking(_line(message), expected(message), see(message))
        return error

    def _living(self) -> Child:
        """The process; a new one where the last was ended. Raises what ended it once there were enough."""
        if self._child is not None and self._child.alive:
            return self._child
        if self._restarts == RESTARTS:
            assert self._broke is not None
            raise self._broke
        self._restarts += 1
        self._lost = bool(self._fed)
        self._child, _ = self._start()
        return self._child

    def _start(self) -> tuple[Child, HelloAnswer]:
        hello = Hello(VERSION)
        child = Child(self._command, {**os.environ, "PYTHONHASHSEED": str(self._hash_seed)})
        try:
            return child, read_hello(child.ask(_line(hello), self._start_seconds))
        except TargetError as error:
            child.kill()
            died = isinstance(error, DiedError)
            told = StartError(f"cannot start: {error.problem}", came=error.came) if died else error
            told.stderr = child.stderr
            told.while_asking(_line(hello), expected(hello), see(hello))
            raise told from error.__cause__


def _raw(events: Sequence[Any]) -> Raw:
    return Raw(encode(events))


def _line(message: Message) -> bytes:
    return encode(message) + b"\n"
