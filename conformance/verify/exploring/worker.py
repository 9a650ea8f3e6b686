"""A worker process: it opens the target, and plays the shards that it is sent, until it is told to end.

``python -m turncheck.conformance.verify.exploring.worker DESCRIPTOR PARENT``: the descriptor is a socket's, on which a
``Job`` comes first, and then shards; each is answered with tallies and a ``Part``, or with what was raised.
"""

import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from turncheck.adapters.protocol.errors import ChangedError
from turncheck.adapters.protocol.messages import Implementation, Profile
from turncheck.adapters.protocol.processes.supervisor import die_with_parent
from turncheck.adapters.targets.registry import open_target

from ...laws.registry import LAWS
from ..engine import Options, Run, Workers
from .shards import Course, Tally, part_of, played
from .wire import Wire

_MOMENT: Final = 0.01
"""Seconds until an end that was swallowed is raised again: by then the callback has returned."""
_TELLING: Final = 0.25
"""Seconds between two tallies: a line of progress is shown no more often."""


@dataclass(frozen=True)
class Job:
    """The work of a worker: to hold the target to the *laws*, as the *course* says. It has to be the same target."""

    workers: Workers
    course: Course[Any]
    laws: tuple[str, ...]
    options: Options
    implementation: Implementation
    profile: Profile


@dataclass(frozen=True)
class Failed:
    """Something was raised in a worker."""

    error: BaseException
    traceback: str


class _EndError(BaseException):
    """SIGTERM: the worker is needed no more."""


def main(arguments: Sequence[str]) -> None:
    """Do the job that comes on the socket."""
    die_with_parent(int(arguments[1]))
    for number in (signal.SIGINT, signal.SIGHUP):  # a terminal sends these to all; the parent decides
        signal.signal(number, _ignore)
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, _end)
    sys.unraisablehook = _swallowed
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.set_inheritable(int(arguments[0]), False)  # noqa: FBT003
    wire = Wire(int(arguments[0]))
    try:
        _work(wire.recv(), wire)
    except (_EndError, EOFError):
        pass
    except BaseException as error:  # noqa: BLE001 - the parent raises it
        wire.send(_sendable(error))


def _ignore(*_: object) -> None:
    pass


def _end(*_: object) -> None:
    raise _EndError


def _swallowed(given: "sys.UnraisableHookArgs") -> None:
    """Raise an end again that came within a callback of Python's (Hypothesis has one on garbage collection)."""
    if given.exc_type is _EndError:
        signal.setitimer(signal.ITIMER_REAL, _MOMENT)
    else:
        sys.__unraisablehook__(given)


def _work(job: Job, wire: Wire) -> None:
    options, given, course = job.options, job.workers, job.course
    with open_target(
        given.text, timeout=given.timeout, profile=given.profile, until=options.until, variant=given.variant
    ) as opened:
        target = course.face(opened)
        if (target.implementation, target.profile) != (job.implementation, job.profile):
            raise ChangedError("the implementation says something else of itself in a worker than at its first start")
        with target.again(options.hash_seed) as twin:
            whole = Run(course.subject(target, twin), [LAWS[name] for name in job.laws], options)
            while True:
                wire.send(part_of(played(whole, course, wire.recv(), _Telling(wire))))


class _Telling:
    """Sends tallies, a few per second."""

    def __init__(self, wire: Wire) -> None:
        self._wire, self._next = wire, 0.0

    def __call__(self, tally: Tally) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _TELLING
            self._wire.send(tally)


def _sendable(error: BaseException) -> Failed:
    told = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # noqa: BLE001 - then its text has to do
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return Failed(error, told)


if __name__ == "__main__":
    from turncheck.conformance.verify.exploring import worker

    worker.main(sys.argv[1:])
