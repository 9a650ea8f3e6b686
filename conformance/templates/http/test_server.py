"""The server keeps every law on agent runtimes: `pytest` starts it, and has turncheck play its client and its model."""

import os
import socket
import subprocess
import sys
import time

import pytest


def free_port():
    """Return a free port."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def ports():
    """The server's port and its model's; the server is up."""
    own, model = free_port(), free_port()
    environment = os.environ | {"OPENAI_BASE_URL": f"http://127.0.0.1:{model}/v1"}
    with subprocess.Popen([sys.executable, "server.py", str(own)], env=environment) as server:
        while server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", own)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        assert server.poll() is None, "the server did not start"
        yield own, model
        server.kill()


def test_the_server_keeps_every_law(ports):
    own, model = ports
    target = f"http://127.0.0.1:{own}/agent#model-port={model}"
    command = [
        sys.executable,
        "-m",
        "turncheck.conformance",
        "verify",
        target,
        "--profile",
        "profile.json",
        "--examples",
        "10",
    ]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
