"""A worker process: it judges the logs, or ranges of logs, that it is sent, until the socket is closed.

``python -m turncheck.conformance.check.fleet.worker DESCRIPTOR PARENT``: the descriptor is a socket's, on which ``How``
comes first, and then paths and ranges; each is answered with lists of findings, where they are told, and with a
``LogResult``, the ``Summary`` of a range, or what was raised.
"""

import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

from turncheck.adapters.protocol.processes.supervisor import die_with_parent

from ..results import LogFinding
from .one import How, Work, done

TOGETHER: Final = 200
"""Findings that are told in one message: some 40 KB, so that a message costs little beside them."""
NO_MEMORY: Final = 12
"""The exit code of a worker without memory: the number of ENOMEM."""


@dataclass(frozen=True)
class Failed:
    """Something was raised in a worker, which is a bug: ``traceback`` says where."""

    error: str
    traceback: str


def main(arguments: Sequence[str]) -> None:
    """Judge the logs that the socket names."""
    die_with_parent(int(arguments[1]))
    for number in (signal.SIGINT, signal.SIGHUP):  # a terminal sends these to all; the parent decides
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.set_inheritable(int(arguments[0]), False)  # noqa: FBT003
    wire: Connection[Any, Any] = Connection(int(arguments[0]))
    with contextlib.suppress(EOFError, ConnectionError):  # the parent needs no more, or is gone
        how: How = wire.recv()
        while True:
            for said in _said(wire, wire.recv(), how):
                wire.send(said)


def _said(wire: "Connection[Any, Any]", work: Work, how: How) -> Iterator[object]:
    """Judge a log; yield what is to be sent last."""
    told: list[LogFinding] = []

    def tell(finding: LogFinding) -> None:
        told.append(finding)
        if len(told) >= TOGETHER:
            wire.send(told)
            told.clear()

    try:
        result = done(work, how, tell)
    except MemoryError:  # as where the kernel kills the process: the log is judged again, alone perhaps
        os._exit(NO_MEMORY)
    except Exception as error:  # noqa: BLE001 - the parent raises it
        yield Failed(f"{type(error).__name__}: {error}", traceback.format_exc())
        return
    yield from ([told] if told else [])
    yield result


if __name__ == "__main__":
    from turncheck.conformance.check.fleet import worker

    worker.main(sys.argv[1:])
