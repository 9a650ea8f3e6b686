"""``python -m soak [--minutes N]``: print the table, and exit 1 where anything grew."""

import argparse
import contextlib
import os
import secrets
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import astuple, fields
from itertools import cycle
from pathlib import Path

from turncheck.adapters.targets.http.model_endpoint.secret import VARIABLE
from turncheck.adapters.targets.registry import open_target
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import subjects_of, verify_target

from .measures import Sample, grown, look

TESTS = Path(__file__).parents[2]
NODE = TESTS / "adapters" / "doubles" / "hostile_runtime.mjs"
SERVER = """
import sys
sys.path.insert(0, sys.argv[1])
import agents, uvicorn
uvicorn.run(agents.application, port=int(sys.argv[2]), log_level="critical")
"""
ROWS = 30
"""Lines of the table."""
EXAMPLES = 5
"""Generated logs or words a run: what leaks, leaks with each run and each message."""
BUDGET = 5.0
"""Seconds of exploring a run: else the server, which is waited for, takes most of the time."""


def main() -> int:
    """Verify for so many minutes."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    seconds: float = parser.parse_args().minutes * 60
    os.environ[VARIABLE] = secrets.token_hex()  # for the server too, which asks its model there
    with tempfile.TemporaryDirectory() as folder, server() as (address, pid):
        tempfile.tempdir = os.environ["TMPDIR"] = folder
        os.environ["PYTHONPATH"] = str(TESTS)
        targets = ("python:projectors.plain:Plain", f"cmd:{shlex.join(['node', str(NODE), 'behaves'])}", address)
        samples = [*soaked(targets, seconds, pid)]
    found = grown(samples)
    print("\n".join(found) or "nothing grew")
    return 1 if found else 0


def soaked(targets: tuple[str, ...], seconds: float, server_pid: int) -> Iterator[Sample]:
    """Verify *targets* in turn; a sample after each run, a row of the table every so often."""
    print("".join(f"{field.name:>12}" for field in fields(Sample)))
    begun, shown, runs = time.monotonic(), 0.0, 0
    for text in cycle(targets):
        with open_target(text, timeout=20.0) as target:
            result, _ = verify_target(target, selected(subjects_of(target)), examples=EXAMPLES, budget=BUDGET)
        if result.incomplete:
            raise SystemExit(f"{text}: {result.cut}")
        runs, now = runs + 1, time.monotonic() - begun
        sample = look(now, runs, [server_pid])
        if now >= shown:
            print("".join(f"{value:>12}" for value in astuple(sample)), flush=True)
            shown += seconds / ROWS
        yield sample
        if now > seconds:
            return


@contextlib.contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Serve an agent in a process of its own: the target's text, and the process."""
    port, model_port = free_port(), free_port()
    folder = str(TESTS / "adapters" / "targets" / "http")
    with subprocess.Popen([sys.executable, "-c", SERVER, folder, str(port)]) as process:
        try:
            listening(port)
            yield f"http://127.0.0.1:{port}/right?model={model_port}#model-port={model_port}", process.pid
        finally:
            process.terminate()


def listening(port: int) -> None:
    """Wait until somebody listens at *port*."""
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise SystemExit("the server does not start")


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
