"""Endpoints of our own, served for the session, and the worker that drives them."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.targets.http.options import worker_command
from turncheck.adapters.targets.remote_runtime import RemoteRuntime

sys.path.insert(0, str(Path(__file__).parent))

import agents
from serving import free_port, serve


@pytest.fixture(scope="session")
def endpoints() -> Iterator[str]:
    """The address of the endpoints of ``agents``."""
    with serve(agents.application) as address:
        yield address


@pytest.fixture(scope="module")
def drive(endpoints):
    """The worker for an endpoint of ``agents``, reset: ``drive("right")``; options go into the fragment."""
    with contextlib.ExitStack() as stack:
        runtimes = {}

        def driven(name: str, options: str = "patience=2") -> RemoteRuntime:
            if (name, options) not in runtimes:
                port = free_port()
                target = f"{endpoints}/{name}?model={port}#model-port={port}&{options}"
                connection = Connection(target, command=worker_command(target), timeout=20)
                runtimes[name, options] = stack.enter_context(RemoteRuntime(connection))
            runtimes[name, options].reset()
            return runtimes[name, options]

        yield driven
