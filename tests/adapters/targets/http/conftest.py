"""Endpoints of our own, served for the session, and the worker that drives them."""

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.targets.http.model_endpoint.secret import VARIABLE
from turncheck.adapters.targets.http.options import worker_command
from turncheck.adapters.targets.remote_runtime import RemoteRuntime

sys.path.insert(0, str(Path(__file__).parent))

import agents
from serving import SECRET, free_port, serve


@pytest.fixture(scope="session", autouse=True)
def model_secret() -> Iterator[None]:
    """The secret in the environment of the workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, SECRET)
        yield


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
