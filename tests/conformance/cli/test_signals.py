"""A signal ends `turncheck verify` as Ctrl-C does, at any moment, and none of its child processes is left."""

import contextlib
import json
import os
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle
from pathlib import Path
from uuid import uuid4

import pytest
from processes import living

from turncheck.adapters.targets.http.model_endpoint.secret import VARIABLE

DOUBLES = Path(__file__).parents[2] / "adapters" / "doubles"
SECONDS = 40
"""Seconds from the signal to the end: more than it takes on two busy cores, less than a hang."""
SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
START_UP = (0.0, 0.05, 0.2, 0.4)
"""Seconds after its start. Python's reaction to a SIGINT during its own start varies: exit code 1 is possible."""
MESSAGES = ("hello", "reset", "reset:2", "apply", "apply:3", "apply:7", "run", "run:9", "stop")
ADAPTER = '''
"""A runtime that breaks a law at each message, with a deaf daemon; at the AT-th message it ends the harness."""
import atexit, os, subprocess, sys
from pathlib import Path
from turncheck_kit import Adapter

subprocess.Popen(
    [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"],
    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
)
asked = 0


def count(at):
    global asked
    asked += 1
    if os.environ["AT"] == str(at or asked):
        harness = os.getppid()
        while b"verify" not in Path(f"/proc/{harness}/cmdline").read_bytes().split(b"\\0"):
            harness = int(Path(f"/proc/{harness}/status").read_text().partition("PPid:")[2].split()[0])
        os.kill(harness, int(os.environ["TURNCHECK_TEST_SIGNAL"]))


class Breaking(Adapter):
    implementation = {"name": "breaking", "version": "1", "language": "python"}
    profile = {"roles": ["runtime"], "capabilities": [], "policies": {"busy": "reject"}}

    def reset(self, env):
        self.env = env

    async def user(self, stimulus):
        count(None)
        async with self.env.model([{"role": "user", "text": stimulus["text"]}]) as request:
            async for item in request:
                pass
        self.env.log({"type": "run-stop", "reason": "completed"})


count("import")
if os.environ["PYTHONHASHSEED"] == "0":
    atexit.register(lambda: (count("exit"), Path("asked").write_text(str(asked))))
'''


class Verifying:
    """``turncheck verify`` in another process."""

    def __init__(self, folder, target, number, *, jobs=1, examples=3, **environment):
        self.mark, self.number, self.folder = str(uuid4()), number, folder
        environment |= {"TURNCHECK_TEST": self.mark, "TURNCHECK_TEST_SIGNAL": str(int(number))}
        command = ["verify", target, "--json", "--examples", str(examples), "--timeout", "20", "--out", "found"]
        command += ["-j", str(jobs)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "turncheck.conformance", *command],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def judge(self, *, early=False):
        """It ends in time, by its signal; its files are whole, and no process is left.

        An *early* signal may come before the command line hears it.
        """
        out, err = self.process.communicate(timeout=SECONDS)
        if not early or self.process.returncode != -self.number:
            assert (self.process.returncode, b"Traceback" in err) == (128 + self.number, False), err
        if out:
            result = json.loads(out)
            assert (result["cut"], result["incomplete"]) == ("interrupted", True)
        for file in (self.folder / "found").glob("*"):
            assert json.loads(file.read_bytes())["schema"] == 1, file
        deadline = time.monotonic() + SECONDS  # after a kill, the supervisor ends the rest
        while (left := living(self.mark.encode())) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert left == []


def numbered(*moments, signals=SIGNALS):
    """Pair each moment with one of the signals."""
    return [pytest.param(*one, id="-".join(map(str, one))) for one in zip(moments, cycle(signals), strict=False)]


def command_of(program, double, moment):
    return "cmd:" + shlex.join([program, str(DOUBLES / double), f"ends_the_harness:{moment}"])


@pytest.mark.parametrize(("moment", "number"), numbered(*MESSAGES))
def test_a_program_is_ended_amid_a_message(tmp_path, moment, number):
    Verifying(tmp_path, command_of(sys.executable, "hostile_runtime.py", moment), number).judge()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(("moment", "number"), numbered(*MESSAGES))
def test_a_node_program_is_ended_amid_a_message(tmp_path, moment, number):
    Verifying(tmp_path, command_of("node", "hostile_runtime.mjs", moment), number).judge()


@pytest.mark.parametrize(("seconds", "number"), numbered(*START_UP, signals=SIGNALS[:2]))
def test_a_program_is_ended_while_it_starts(tmp_path, seconds, number):
    target = command_of(sys.executable, "hostile_runtime.py", "run:1000000")
    running = Verifying(tmp_path, target, number, examples=300)  # with three it is over within 0.4 seconds
    time.sleep(seconds)  # the test is about the moment: any will do
    running.process.send_signal(number)
    running.judge(early=True)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_the_exit_code_is_ours_although_text_was_executed_amid_the_signal(tmp_path, number, code):
    text = f"import os; os.kill(os.getpid(), {int(number)})"
    (tmp_path / "reader.py").write_text(f"exec({text!r})\n")  # dataclasses do so at each import
    (tmp_path / "log").write_text("{}\n")
    command = [sys.executable, "-m", "turncheck.conformance", "check", "log", "--format", "python:reader:READER"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=SECONDS)
    assert (ran.returncode, ran.stderr) == (code, b"interrupted\n")


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """The number of user messages that the adapter gets in a whole run, shrinking included."""
    folder = tmp_path_factory.mktemp("asked")
    (folder / "breaking.py").write_text(ADAPTER)
    running = Verifying(folder, "python:breaking:Breaking", signal.SIGTERM, AT="never")
    running.process.communicate(timeout=2 * SECONDS)
    assert running.process.returncode == 1
    return int((folder / "asked").read_text())


@pytest.mark.parametrize(("share", "number"), numbered(0.01, 0.3, 0.6, 0.9, 0.97, 0.99))
def test_an_adapter_in_python_is_ended_while_it_is_explored_and_shrunk(tmp_path, asked, share, number):
    (tmp_path / "breaking.py").write_text(ADAPTER)
    Verifying(tmp_path, "python:breaking:Breaking", number, AT=str(max(int(asked * share), 2))).judge()


@pytest.mark.parametrize(("at", "number"), numbered("import", 2, 20, 60))
def test_a_run_with_workers_is_ended_while_they_start_and_play(tmp_path, at, number):
    (tmp_path / "breaking.py").write_text(ADAPTER)
    Verifying(tmp_path, "python:breaking:Breaking", number, jobs=2, AT=str(at)).judge()


@pytest.mark.parametrize(("moment", "number"), numbered("import", "exit"))
def test_an_adapter_in_python_is_ended_while_it_starts_or_ends(tmp_path, moment, number):
    (tmp_path / "breaking.py").write_text(ADAPTER)
    Verifying(tmp_path, "python:breaking:Breaking", number, AT=moment).judge()


@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize(("at", "number"), numbered(1, 2, 5))
def test_the_worker_of_a_server_is_ended_amid_a_request(tmp_path, monkeypatch, at, number, hangs):
    monkeypatch.setenv(VARIABLE, secrets.token_hex())
    with served(at, number, hangs=hangs) as (address, harness):
        running = Verifying(tmp_path, address, number)
        harness.append(running.process.pid)
        running.judge()


@contextlib.contextmanager
def served(at, number, *, hangs):
    """An endpoint that ends the harness at its *at*-th request."""
    harness: list[int] = []
    over = threading.Event()
    asked = iter(range(1, 1_000_000))

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            if next(asked) == at:
                os.kill(harness[0], number)
                over.wait(SECONDS if hangs else 0)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for kind in ("RUN_STARTED", "RUN_FINISHED"):
                event = json.dumps({"type": kind, "threadId": "t", "runId": "r"})
                with contextlib.suppress(OSError):  # the harness has gone
                    self.wfile.write(f"data: {event}\n\n".encode())

        def log_message(self, *_):
            pass

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/#model-port={port}", harness
        over.set()
        server.shutdown()


def test_a_signal_that_is_ignored_stays_so(tmp_path):
    target = command_of(sys.executable, "hostile_runtime.py", "apply")
    nohup = ["nohup", sys.executable, "-m", "turncheck.conformance", "verify", target, "--examples", "0"]
    environment = {**os.environ, "TURNCHECK_TEST_SIGNAL": str(int(signal.SIGHUP))}
    done = subprocess.run(nohup, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
