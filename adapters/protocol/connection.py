"""A conversation over the protocol with a process that is replaced when it breaks."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from .errors import ChangedError, DiedError, HangingError, OverdueError, StartError, TargetError
from .messages import VERSION, Answer, Hello, HelloAnswer, Message, Stop, encode, expected, read_answer, read_hello, see
from .processes.process import Child
from .processes.supervisor import GRACE

RESTARTS: Final = 5
"""Replacements of a broken process, at most: enough to shrink a little, and few if it always breaks."""
_CLAIMS: Final = ("roles", "machine", "policies", "input")
_IDENTITY: Final = ("name", "version", "language")
START_SECONDS: Final = 30.0
"""Seconds for the answer to hello: frameworks take some to import, LangGraph and OpenAI Agents over 10 on two cores
that others use too. A user's longer timeout holds here too."""


class Connection:
    """The process that *command* runs; *name* is the target's text, *environment* is added to our own.

    ``last_words`` are the last lines on stderr of the last process that was ended. ``generation`` changes whenever a
    process ends, and loses its memory. Each process is told at hello to be the *variant*, if one is given. After
    *until* (monotonic seconds) no message is sent any more. Raises StartError if it cannot be started or does not
    implement this protocol, and TargetError for any other failure at hello.
    """

    def __init__(
        self,
        name: str,
        *,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        timeout: float,
        start_seconds: float = START_SECONDS,
        hash_seed: int | None = None,
        until: float = float("inf"),
        first: HelloAnswer | None = None,
        variant: str | None = None,
    ) -> None:
        self.name: Final = name
        self.generation = 0
        self.last_words: tuple[str, ...] = ()
        self._command = tuple(command)
        self._environment = dict(environment or {})
        self.timeout: Final = timeout
        self._start_seconds = max(timeout, start_seconds)
        self._hash_seed = hash_seed or 0  # fixed unless one is given: two runs must not differ by it
        self._seq = 0
        self._breaks = 0
        self._broke: TargetError | None = None
        self._child: Child | None
        self._until = until
        self._first = first
        self._variant = variant
        self._child, self.hello = self._start()
        self._first = self.hello

    def again(self, hash_seed: int) -> "Connection":
        """Return the same implementation in a new process with this PYTHONHASHSEED.

        Raises the errors of the constructor, and ChangedError if its answer to hello differs.
        """
        return Connection(
            self.name,
            command=self._command,
            environment=self._environment,
            timeout=self.timeout,
            start_seconds=self._start_seconds,
            hash_seed=hash_seed,
            until=self._until,
            first=self.hello,
            variant=self._variant,
        )

    def next_seq(self) -> int:
        """The number of the next message."""
        self._seq += 1
        return self._seq

    def ask(self, message: Message, seconds: float | None = None) -> Answer:
        """Send *message* and read its answer within *seconds* (None: the timeout).

        A process that broke before is replaced first. Raises TargetError, and the errors of ``read_answer``.
        """
        child = self.living()
        try:
            return read_answer(self._told(child, message, seconds or self.timeout), self._seq)
        except TargetError as error:
            raise self.broken(error, message) from error.__cause__

    def _told(self, child: Child, message: Message, seconds: float) -> bytes:
        """Return the line that answers *message* within *seconds*, and before the run's time is over."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise OverdueError
        try:
            return child.ask(_line(message), min(seconds, left))
        except HangingError as error:
            if left > seconds:
                raise
            raise OverdueError(error.came) from error

    def broken(self, error: TargetError, message: Message) -> TargetError:
        """Complete *error*, and end the process that it came from."""
        child = self._child
        self.kill()
        if child is not None:
            error.stderr = child.stderr  # only now: its last lines may have come after the fault
        self._broke = error
        self._breaks += 1
        error.while_asking(_line(message), expected(message), see(message))
        return error

    def living(self) -> Child:
        """Return the process, a new one if the last was ended. After too many, raises the error that ended it."""
        if self._child is not None and self._child.alive:
            return self._child
        if self._broke is not None and self._breaks > RESTARTS:
            raise self._broke
        if self._child is not None:  # it ended silently
            self.kill()
        self._child, _ = self._start()
        return self._child

    def cut(self, message: Message, seconds: float) -> None:
        """Send *message*, and crash the process *seconds* later, or when it answers: the answer is lost."""
        self.living().cut(_line(message), seconds)
        self.kill(at_once=True)

    def kill(self, *, at_once: bool = False) -> None:
        """End the process, *at_once* as a crash would: by SIGKILL alone. The next message starts a new one."""
        if self._child is not None:
            self._child.kill(at_once=at_once)
            self.last_words = self._child.stderr
            self._child = None
            self.generation += 1

    def close(self, seconds: float = GRACE) -> bool:
        """Ask the process to stop, and leave no process behind; return whether it ended by itself within *seconds*."""
        if self._child is None:
            return True
        try:
            return self._child.close(_line(Stop()), seconds)
        finally:
            self._child = None
            self.generation += 1

    def _start(self) -> tuple[Child, HelloAnswer]:
        hello = Hello(VERSION, self._variant)
        environment = {**os.environ, **self._environment, "PYTHONHASHSEED": str(self._hash_seed)}
        child = Child(self._command, environment)
        try:
            return child, self._compared(read_hello(self._told(child, hello, self._start_seconds)))
        except TargetError as error:
            child.kill()
            died = isinstance(error, DiedError)
            told = StartError(f"cannot start: {error.problem}", came=error.came) if died else error
            told.stderr = child.stderr
            told.while_asking(_line(hello), expected(hello), see(hello))
            raise told from error.__cause__

    def _compared(self, hello: HelloAnswer) -> HelloAnswer:
        """Return *hello*. Raises ChangedError if it differs from the first one."""
        changes = [] if self._first is None else list(_changes(self._first, hello))
        if changes:
            raise ChangedError(
                f"the implementation says something else at another start: {'; '.join(changes)}", came=encode(hello)
            )
        return hello


def _changes(first: HelloAnswer, now: HelloAnswer) -> Iterator[str]:
    """Yield the differences of *now* from *first*, each with both values."""
    before, after = set(first.profile.capabilities), set(now.profile.capabilities)
    if before != after:
        gone, new = ", ".join(sorted(before - after)), ", ".join(sorted(after - before))
        yield "capabilities: " + " and ".join([*[f"no longer {gone}"] * (gone != ""), *[f"also {new}"] * (new != "")])
    for name, one, other in [
        *((f"profile.{name}", getattr(first.profile, name), getattr(now.profile, name)) for name in _CLAIMS),
        *((name, getattr(first.implementation, name), getattr(now.implementation, name)) for name in _IDENTITY),
        ("variants", first.variants, now.variants),
    ]:
        if one != other:
            yield f"{name}: {encode(other).decode()}, and first {encode(one).decode()}"


def _line(message: Message) -> bytes:
    return encode(message) + b"\n"
