"""Worker processes that play shards: each opens the target itself, and ends with this process.

Shard number k goes to worker k modulo their number, and what it shows is merged in the order of the shards.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import wait
from typing import Any, Final, Generic

from turncheck.adapters.protocol.errors import TargetError

from ..engine import Run, silent
from ..subjects.subject import C
from .shards import Course, Crew, Part, Tally
from .wire import Wire
from .worker import Failed, Job

COMMAND: Final = (sys.executable, "-P", "-m", "turncheck.conformance.verify.exploring.worker")
WAITING: Final = 2
"""Shards per worker that are made before it can take them."""
_LATE: Final = 5.0
"""Seconds for a worker to end its target's processes, which takes them up to three, before it is killed."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class WorkerError(TargetError):
    """A worker process ended amid its work."""


class Worker:
    """One process, with the shards that wait for it; ``busy`` is the number of the one that it plays."""

    def __init__(self, name: str, job: Job) -> None:
        self.name = name
        self.waiting: deque[tuple[int, Any]] = deque()
        self.busy: int | None = None
        self.tally = Tally(0, frozenset())
        ours, theirs = socket.socketpair()
        with theirs:
            command = [*COMMAND, str(theirs.fileno()), str(os.getpid())]
            # Blocked, a signal finds the process recorded; the worker lets it come when it can handle it.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
            try:
                self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.wire = Wire(ours.detach())
        self.send(job)

    def next(self) -> None:
        """Give it the next shard that waits, where it is idle."""
        if self.busy is None and self.waiting:
            self.busy, shard = self.waiting.popleft()
            self.send(shard)

    def send(self, what: Any) -> None:
        """Send it something. Raises WorkerError."""
        try:
            self.wire.send(what)
        except OSError as error:
            raise self.dead() from error

    def read(self) -> Any:
        """Return what it says. Raises WorkerError, and what was raised in it."""
        try:
            said = self.wire.recv()
        except (OSError, EOFError) as error:
            raise self.dead() from error
        if isinstance(said, Failed):
            said.error.add_note(f"in {self.name}:\n{said.traceback}")
            raise said.error
        return said

    def dead(self) -> WorkerError:
        """Say how it ended."""
        code = self.process.wait()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        doing = "at its start" if self.busy is None else f"while it played shard {self.busy}"
        return WorkerError(f"{self.name} (process {self.process.pid}) {how} {doing}", see="")

    def end(self) -> None:
        """Leave no process behind."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(_LATE)
        self.process.kill()
        self.process.wait()
        self.wire.connection.close()


class Team(Crew[C], Generic[C]):
    """Plays the shards of a run in worker processes. Raises WorkerError where one ends."""

    def __init__(self, run: Run[C], course: Course[C]) -> None:
        super().__init__(run, course)
        self._workers: list[Worker] = []
        self._given = self._merged = 0
        self._parts: dict[int, Part[C]] = {}

    def __enter__(self) -> "Team[C]":
        options = self._run.options
        assert options.workers is not None
        names = tuple(law.name for law in self._run.laws)
        told = replace(options, workers=None, progress=silent)
        target = self._run.subject.target
        job = Job(options.workers, self._course, names, told, target.implementation, target.profile)
        try:
            for number in range(options.workers.jobs):
                self._workers.append(Worker(f"worker {number + 1} of {options.workers.jobs}", job))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            with contextlib.suppress(OSError):
                worker.process.send_signal(signal.SIGTERM)
        for worker in self._workers:
            worker.end()

    def give(self, shard: Any) -> None:
        """Let a worker play the shard, as soon as it can. Raises OverError where the run ends with an earlier one."""
        worker = self._workers[self._given % len(self._workers)]
        worker.waiting.append((self._given, shard))
        self._given += 1
        self._asking(worker.next)
        while len(worker.waiting) > WAITING:
            self._read()

    def finish(self) -> None:
        """Return when all shards are merged. Raises OverError."""
        while self._merged < self._given:
            self._read()

    def _read(self) -> None:
        """Wait for a worker, and merge the parts whose turn it is."""
        ready = wait([worker.wire.connection for worker in self._workers])
        for worker in self._workers:
            if worker.wire.connection in ready:
                self._hear(worker, self._asking(worker.read))
        self._tell([*self._under_way()])
        while self._merged in self._parts:
            part = self._parts.pop(self._merged)
            self._merged += 1
            self._merge(part)

    def _hear(self, worker: Worker, said: Tally | Part[C]) -> None:
        if isinstance(said, Tally):
            worker.tally = said
            return
        assert worker.busy is not None
        self._parts[worker.busy] = said
        worker.busy, worker.tally = None, Tally(0, frozenset())
        self._asking(worker.next)

    def _under_way(self) -> Iterator[Tally]:
        yield from (worker.tally for worker in self._workers)
        for part in self._parts.values():
            yield Tally(part.coverage.cases, frozenset(one.law for one in part.failures))

    def _asking(self, act: Any) -> Any:
        """Return the result of *act*; a worker that ended, or whose target does not start, ends the run."""
        return self._run.asking(act)


def crew(run: Run[C], course: Course[C]) -> Crew[C]:
    """Return who plays the shards of *run*: workers where its options have some, else this process."""
    workers = run.options.workers
    return Crew(run, course) if workers is None or workers.jobs < 2 else Team(run, course)
