"""Servers under test on Node 20 that break the stream, flood, hang or die: their exit codes, within bounds."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from serving import SECRET, free_port
from test_hostile_servers import PEAK, code, peak, run, text
from words import ONE

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.messages import Reset
from turncheck.adapters.targets.http.options import worker_command

WAYS = {
    "letter-by-letter": (0, "'text': 'hi'"),
    "gzip-in-flushes": (0, "'text': 'hi'"),
    "gzip-bomb": (1, "an event is longer than 8,388,608 bytes"),
    "brotli-bomb": (1, "in Content-Encoding br; it was asked for as it is"),
    "destroyed-amid-the-stream": (1, "the connection broke: "),
    "megabytes-without-a-newline": (1, "an event is longer than 8,388,608 bytes"),
    "never-ends-after-the-terminal": (2, "'reason': 'completed'"),
    "computes-for-ever": (2, ""),
    "dies-amid-the-stream": (1, "the connection broke: "),
    "gzipped-model-request": (0, "'text': '415'"),
    "model-asked-without-the-secret": (0, "'text': '403'"),
    "fifty-model-requests-given-up": (0, "'text': 'given up'|'requestId': 'r9'"),  # or quiet before it gives up
}
"""The server's fault, the exit code of a law, and a pattern of the text logged."""
PATIENCE = {0: 20, 1: 20, 2: 0.5}  # exit code → seconds


@pytest.mark.parametrize("name", WAYS)
def test_a_hostile_server_on_node_gets_its_verdict_within_bounds(name):
    expected, pattern = WAYS[name]
    model = free_port()
    environment = os.environ | {"OPENAI_BASE_URL": f"http://127.0.0.1:{model}/{SECRET}/v1"}
    command = ["node", str(Path(__file__).with_name("server.mjs"))]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdout is not None
        target = (
            f"http://127.0.0.1:{int(node.stdout.readline())}/{name}#model-port={model}&patience={PATIENCE[expected]}"
        )
        worker = Connection(target, command=worker_command(target), timeout=60)
        try:
            pid = worker.living().pid
            steps = run(worker, ONE)
            assert (code(steps), bool(re.search(pattern, text(steps)))) == (expected, True), text(steps)[:500]
            assert worker.ask(Reset(worker.next_seq())).awaiting == ()
            assert peak(pid) < PEAK
        finally:
            worker.close()
            node.kill()
    assert not Path(f"/proc/{pid}").exists()
