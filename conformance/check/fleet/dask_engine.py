"""Logs and ranges of logs judged by the workers of a Dask cluster; results leave in the order of the tasks."""

import logging
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final

from turncheck.model.extras import MissingExtraError, needs_extra

from .one import Found, How, done, name_of, unjudged
from .pool import AHEAD, Task, WorkerBugError

_PATIENCE: Final = 30.0
"""Seconds for a scheduler to answer."""


class ClusterError(OSError):
    """A cluster cannot be reached; the message names its address and says why."""


def judged(tasks: Iterable[Task], how: How, address: str, jobs: int) -> Iterator[Found]:
    """Yield the results of *tasks* in their order, of a range its summary, from the cluster's scheduler at *address*.

    Without an address a cluster of *jobs* processes is started here, and ended. Workers need this version of turncheck,
    and to reach the logs by the same paths or URLs. A log whose worker is lost goes to another one, as often as Dask's
    ``distributed.scheduler.allowed-failures`` says; after that its result is an ``error``.
    Memory: ``AHEAD`` results.

    Raises ClusterError, WorkerBugError, MissingExtraError, and what a task raises.
    """
    needs_extra("dask", "--engine dask")
    with _client(address, jobs) as client:
        order: deque[tuple[Task, Any]] = deque()
        for task in tasks:
            future = None if callable(task) else client.submit(done, task, how, pure=False)
            order.append((task, future))
            while len(order) >= AHEAD or (order and _is_ready(order[0])):
                yield _result(*order.popleft(), how)
        while order:
            yield _result(*order.popleft(), how)


def _is_ready(first: tuple[Task, Any]) -> bool:
    task, future = first
    return callable(task) or future.done()


def _result(task: Task, future: Any, how: How) -> Found:
    if callable(task):
        return task()
    try:
        return future.result()  # type: ignore[no-any-return]
    except MissingExtraError:
        raise
    except import_module("distributed").KilledWorker as error:
        lost = f"{error.allowed_failures + 1} workers of the cluster were lost while they judged this log"
        return unjudged(task if isinstance(task, str) else task.path, how, f"{lost}; is there enough memory?")
    except Exception as error:
        raised = WorkerBugError(f"{type(error).__name__}: {error}")
        raised.add_note(f"in a worker of the cluster, at {name_of(task)}")
        raise raised from error


@contextmanager
def cluster(jobs: int) -> Generator[Any]:
    """Start a cluster of *jobs* worker processes on this machine, and end it.

    Its ports are on loopback, and speak TLS with keys of this run only: a scheduler runs whatever it is sent.
    """
    local = import_module("distributed").LocalCluster
    options = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "security": True}
    with _quiet(), local(**options) as own:
        yield own


@contextmanager
def _client(address: str, jobs: int) -> Generator[Any]:
    """A client of the cluster at *address*, or of one of our own."""
    connected = import_module("distributed").Client
    if not address:
        with cluster(jobs) as own, connected(own, set_as_default=False) as client:
            yield client
        return
    with _quiet():
        try:
            client = connected(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterError(f"--engine dask={address}: {error or type(error).__name__}") from error
        with client:
            yield client


@contextmanager
def _quiet() -> Generator[None]:
    """Keep Dask's log lines, such as those on lost workers, out of our output."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    with import_module("dask.config").set({"logging.distributed": "critical"}):
        yield
    logger.setLevel(before)
