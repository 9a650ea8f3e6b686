"""A known Python runtime whose starts cost milliseconds: each is a copy of a process that has imported everything."""

import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.messages import Hello, encode, read_hello
from turncheck.adapters.protocol.processes.process import Child
from turncheck.adapters.targets.remote_runtime import RemoteRuntime
from turncheck.adapters.targets.runtime_catalog import KnownRuntime, command_of

ZYGOTE = Path(__file__).with_name("zygote.py")


class ForkingConnection(Connection):
    """A conversation with a copy of a process that waits (``zygote``); a crash ends the copy alone."""

    _copy = 0

    def kill(self, *, at_once: bool = False) -> None:
        """End the copy and start another one; everything, unless *at_once*."""
        child = self._child
        if not at_once or child is None or not child.alive:
            super().kill(at_once=at_once)
            return
        os.kill(self._copy, signal.SIGKILL)
        self.generation += 1
        self._greet(child)

    def _start(self):
        child = Child(self._command, {**os.environ, **self._environment, "PYTHONHASHSEED": str(self._hash_seed)})
        return child, self._greet(child)

    def _greet(self, child: Child):
        """Wait for the next copy, and say hello to it."""
        line = b""
        while not line.startswith(b'{"copy": '):
            line = child.ask(b"", self._start_seconds)
        self._copy = json.loads(line)["copy"]
        return self._compared(read_hello(child.ask(encode(Hello(1)) + b"\n", self._start_seconds)))


def forked(runtime: KnownRuntime, timeout: float) -> RemoteRuntime:
    """Open *runtime*, whose adapter is a Python script on the kit."""
    return forking(str(runtime), *command_of(runtime, print), timeout)


def forking(name: str, command: Sequence[str], environment: Mapping[str, str], timeout: float) -> RemoteRuntime:
    """Open the runtime *name*: *command* is a Python, and the script of an adapter on the kit with its arguments."""
    python, *script = command
    waits = (python, str(ZYGOTE), *script)
    return RemoteRuntime(ForkingConnection(name, command=waits, environment=environment, timeout=timeout))
