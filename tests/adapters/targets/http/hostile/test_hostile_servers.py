"""Servers that break HTTP, event streams or JSON: a law's verdict on each, within bounds of time and memory."""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from msgspec import UNSET
from servers import ALL, Hostile
from serving import free_port, listen
from wire import OPEN, RUN, SSE, Server, never_reads, request, sends, status
from words import ONE, TWO

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.messages import Profile, Reset, Run
from turncheck.adapters.targets.http.options import worker_command
from turncheck.adapters.targets.remote_runtime import RemoteRuntime
from turncheck.conformance.verify.kept.replay import EXIT, stored
from turncheck.conformance.verify.outcome.results import WordCounterexample
from turncheck.model.core.stimuli import Abort, Step, Stimulus, User, Word

PEAK = 256 << 20  # bytes; the worker alone takes 60 MB, and 16 MB of an answer are held a few times
PATIENCE = {0: 25, 1: 25, 2: 0.5}  # exit code → seconds: what is expected to settle has time on a busy machine


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture(scope="module")
def worker(server):
    """``worker(patience)`` returns the connection to the server's worker; there is one per patience, which stays."""
    with contextlib.ExitStack() as stack:
        made = {}

        def connected(patience):
            if patience not in made:
                target = f"{server.address}#model-port={free_port()}&patience={patience}"
                made[patience] = Connection(target, command=worker_command(target), timeout=60)
                stack.callback(made[patience].close)
            return made[patience]

        yield connected


def run(worker: Connection, *word: Stimulus) -> list[Step]:
    """Return the steps of *word* after a reset. An unsettled step ends a runtime, but not the worker."""
    assert worker.ask(Reset(worker.next_seq())).ok
    steps = worker.ask(Run(worker.next_seq(), word)).steps
    assert steps is not UNSET
    return [*steps]


def code(steps: Sequence[Step]) -> int:
    """Return the exit code of the law on well-formed logs, for the steps of the word ONE."""
    if steps[-1].unsettled:
        return EXIT["CANNOT RUN"]
    profile = Profile(("runtime",), ())
    found = WordCounterexample(1, "", profile, 0, "log-well-formed", (), "", Word((ONE,)), (ONE,), tuple(steps))
    return EXIT["FIXED" if stored(found) is None else "STILL FAILS"]


def text(steps) -> str:
    """Return the log after the message, as text."""
    return "\n".join(str(event) for step in steps for event in step.events if event.get("type") != "user-message")


def peak(pid) -> int:
    """Return the most bytes that a process held since its peak was cleared."""
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(kilobytes) << 10


@pytest.mark.parametrize("name", ALL)
def test_a_hostile_server_gets_its_verdict_and_the_worker_goes_on_within_bounds(server, worker, name):
    hostile: Hostile = ALL[name]
    connection = worker(PATIENCE[hostile.code])
    pid = connection.living().pid
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # its peak is counted from here
    server.serve = hostile.serve
    steps = run(connection, ONE)
    assert (code(steps), re.findall(hostile.logged, text(steps))[:1] != []) == (hostile.code, True), text(steps)[:500]
    assert connection.ask(Reset(connection.next_seq())).ok
    assert (connection.living().pid, peak(pid) < PEAK) == (pid, True)


def test_the_worker_serves_a_right_run_after_all_of_them(server, worker):
    server.serve = sends(OPEN + RUN)
    for patience in set(PATIENCE.values()):
        assert "'text': 'hi'" in text(run(worker(patience), ONE))


@pytest.mark.parametrize("name", ["http-1.0", "endless-line", "redirect-to-itself", "never-answers"])
def test_the_command_line_gives_the_exit_code_and_leaves_no_process(server, tmp_path, name):
    hostile: Hostile = ALL[name]
    server.serve = hostile.serve
    target = f"{server.address}#model-port={free_port()}&patience={PATIENCE[hostile.code]}"
    profile = Profile(("runtime",), ())
    found = WordCounterexample(1, target, profile, 0, "log-well-formed", (), "", Word((ONE,)), (), ())
    file = tmp_path / "word.json"
    file.write_bytes(msgspec.json.encode(found))
    command = [sys.executable, "-m", "turncheck.conformance", "replay", str(file), "--run", "--timeout", "30"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, processes_with(target)) == (hostile.code, []), ran.stdout + ran.stderr


def processes_with(text: str) -> list[str]:
    """Return the processes whose command line contains *text*."""
    lines = (path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists())
    return [line.decode() for line in lines if text.encode() in line]


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_to_another_host(server, worker, code):
    with listen() as other:
        other.settimeout(0)
        location = f"location: http://127.0.0.1:{other.getsockname()[1]}/"
        server.serve = status(f"{code} Elsewhere", location, "content-length: 0")
        assert f"HTTP {code}, without a body" in text(run(worker(PATIENCE[0]), ONE))
        with pytest.raises(BlockingIOError):
            other.accept()


def test_a_cookie_is_not_sent_back(server, worker):
    heads = []

    def remember(connection):
        heads.append(request(connection))
        connection.sendall(SSE + b"set-cookie: session=1\r\n\r\n" + RUN)

    server.serve = remember
    run(worker(PATIENCE[0]), ONE, TWO)
    assert [b"cookie" in head.lower() for head in heads] == [False, False]


def test_a_server_that_never_reads_a_long_request_does_not_hold_up_the_abort(server, worker):
    server.serve = never_reads
    long = User(id="u1", text="x" * (8 << 20))  # more than the sockets hold
    connection = worker(PATIENCE[2])
    assert [step.unsettled for step in run(connection, long)] == [True]
    (aborted,) = connection.ask(Run(connection.next_seq(), (Abort(),))).steps
    assert aborted.events[-1]["reason"] == "interrupted"


def test_a_port_where_nobody_listens_any_more_fails_the_step():
    gone = Server()
    target = f"{gone.address}#model-port={free_port()}&patience=5"
    with RemoteRuntime(Connection(target, command=worker_command(target), timeout=60)) as runtime:
        runtime.reset()
        gone.close()
        with pytest.raises(TargetError, match="nobody listens at"):
            runtime.apply(ONE)
