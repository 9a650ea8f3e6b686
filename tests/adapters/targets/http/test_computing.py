"""Detection of a server of this machine that is computing."""

import subprocess
import sys

import pytest
from serving import listen

from turncheck.adapters.targets.http.computing import Server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows it")
PROGRAM = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
sys.stdin.readline()
print("begun", flush=True)
while True:
    pass
"""


@pytest.fixture
def program():
    """A program that listens, waits for a line, and computes from then on."""
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process, Server(int(process.stdout.readline()))
        process.kill()


def test_a_server_that_waits_is_not_computing(program):
    _, server = program
    assert any(not server.computing() for _ in range(10_000))


def test_a_server_that_works_is_computing(program):
    process, server = program
    process.stdin.write("go\n")
    process.stdin.flush()
    process.stdout.readline()
    assert server.computing()


def test_of_a_port_where_nobody_listens_nothing_is_known():
    with listen() as listener:
        port = listener.getsockname()[1]
    assert not Server(port).computing()
