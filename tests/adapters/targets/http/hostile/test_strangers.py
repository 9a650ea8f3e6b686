"""Requests to the model's port without the secret, or from a browser: refused, and not logged."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from serving import SECRET, free_port
from wire import FINISHED, OPEN, STARTED, Server, said, sends, sse, status
from words import ONE, STOP, TWO, say

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.errors import StartError
from turncheck.adapters.targets.http.model_endpoint.guard import RELEASE
from turncheck.adapters.targets.http.model_endpoint.secret import HEADER, VARIABLE
from turncheck.adapters.targets.http.options import worker_command
from turncheck.adapters.targets.remote_runtime import RemoteRuntime

OTHER = "f" * 64
HOST = "127.0.0.1"
PATH = f"/{SECRET}/v1/chat/completions"
BODY = '{"messages": [{"role": "user", "content": "one"}]}'
WORD = [ONE, say("hello"), STOP, TWO]


def asked(line: str, *headers: str, body: str = "") -> bytes:
    """A request."""
    head = "\r\n".join([f"{line} HTTP/1.1", *headers, f"content-length: {len(body)}"])
    return f"{head}\r\n\r\n{body}".encode()


REQUESTS = {
    "root": asked("GET /", f"host: {HOST}"),
    "no-secret": asked("POST /v1/chat/completions", f"host: {HOST}", body=BODY),
    "no-version-either": asked("POST /chat/completions", f"host: {HOST}", body=BODY),
    "another-secret": asked(f"POST /{OTHER}/v1/chat/completions", f"host: {HOST}", body=BODY),
    "half-of-the-secret": asked(f"POST /{SECRET[:32]}/v1/chat/completions", f"host: {HOST}", body=BODY),
    "secret-in-capitals": asked(f"POST /{SECRET.upper()}A/v1/chat/completions", f"host: {HOST}", body=BODY),
    "secret-in-the-query": asked(f"POST /v1/chat/completions?{SECRET}", f"host: {HOST}", body=BODY),
    "secret-behind-a-host": asked(f"POST http://{HOST}{PATH}", f"host: {HOST}", body=BODY),
    "secret-behind-two-slashes": asked(f"POST /{PATH}", f"host: {HOST}", body=BODY),
    "foreign-host": asked(f"POST {PATH}", "host: evil.example", body=BODY),
    "foreign-host-that-begins-like-ours": asked(f"POST {PATH}", f"host: {HOST}.evil.example", body=BODY),
    "host-of-another-machine": asked(f"POST {PATH}", "host: 10.0.0.1:8790", body=BODY),
    "empty-host": asked(f"POST {PATH}", "host:", body=BODY),
    "no-host": asked(f"POST {PATH}", body=BODY).replace(b"1.1", b"1.0"),
    "foreign-origin": asked(f"POST {PATH}", f"host: {HOST}", "origin: http://evil.example", body=BODY),
    "null-origin": asked(f"POST {PATH}", f"host: {HOST}", "origin: null", body=BODY),
    "own-origin": asked(f"POST {PATH}", f"host: {HOST}", f"origin: http://{HOST}", body=BODY),
    "browser-without-an-origin": asked(f"GET {PATH}", f"host: {HOST}", "sec-fetch-site: cross-site"),
    "preflight": asked(f"OPTIONS {PATH}", f"host: {HOST}", "origin: http://a", "access-control-request-method: POST"),
    "release": asked(f"POST {RELEASE}", f"host: {HOST}"),
    "release-with-another-secret": asked(f"POST {RELEASE}", f"host: {HOST}", f"{HEADER}: {OTHER}"),
    "release-from-a-page": asked(f"POST {RELEASE}", f"host: {HOST}", f"{HEADER}: {SECRET}", "origin: http://a"),
    "release-on-a-foreign-host": asked(f"POST {RELEASE}", "host: evil.example", f"{HEADER}: {SECRET}"),
    "release-below-another-secret": asked(f"POST /{OTHER}{RELEASE}", f"host: {HOST}"),
    "another-control-route": asked("GET /turncheck/", f"host: {HOST}"),
    "websocket": asked("GET /v1", f"host: {HOST}", "connection: upgrade", "upgrade: websocket", "sec-websocket-key: x"),
    "endless-body": asked("POST /v1/chat/completions", f"host: {HOST}").replace(b"length: 0", b"length: 999999999999"),
    "huge-path": asked(f"GET /{'x' * 60_000}", f"host: {HOST}"),
}
"""Requests that are refused, by their fault."""

NO_REQUESTS = {
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
    "rubbish": b"\xff\0" * 1000 + b"\r\n\r\n",
    "two-hosts": asked(f"POST {PATH}", f"host: {HOST}", "host: evil.example", body=BODY),
    "endless-headers": asked("GET /", f"host: {HOST}", *["x: y"] * 50_000),
    "two-lengths": asked(f"POST {PATH}", f"host: {HOST}", "content-length: 7", body=BODY),
    "no-host-at-all": asked(f"POST {PATH}", body=BODY),
}
"""Bytes that are no request of HTTP/1.1."""


def answer(port: int, request: bytes) -> bytes:
    """Return the whole answer to a request, as far as it comes."""
    came = b""
    with socket.create_connection((HOST, port)) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(request)
        while piece := connection.recv(65536):
            came += piece
    return came


@pytest.fixture(scope="module")
def awaited(endpoints):
    """A runtime and its model's port."""
    port = free_port()
    target = f"{endpoints}/right?model={port}#model-port={port}&patience=10"
    with RemoteRuntime(Connection(target, command=worker_command(target), timeout=30)) as runtime:
        yield runtime, port


@pytest.fixture(scope="module")
def undisturbed(awaited):
    """The steps of a word without other requests."""
    runtime, _ = awaited
    runtime.reset()
    return [runtime.apply(stimulus) for stimulus in WORD]


@pytest.mark.parametrize("name", REQUESTS | NO_REQUESTS)
def test_a_stranger_is_refused_and_changes_no_step(awaited, undisturbed, name):
    runtime, port = awaited
    runtime.reset()
    steps, codes = [], set()
    for stimulus in WORD:
        codes.add(answer(port, (REQUESTS | NO_REQUESTS)[name])[:12])
        steps.append(runtime.apply(stimulus))
    assert (codes, steps) == ({b"HTTP/1.1 403" if name in REQUESTS else b"HTTP/1.1 400"}, undisturbed)


def test_a_refusal_says_what_is_needed_and_not_the_secret(awaited):
    _, port = awaited
    said = answer(port, REQUESTS["foreign-origin"])
    assert (b"TURNCHECK_MODEL_SECRET" in said, b"docs/http.md" in said) == (True, True)
    assert (SECRET.encode() in said, b"access-control" in said.lower()) == (False, False)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9000", "localhost", "LOCALHOST:8790"])
def test_this_machine_may_be_named_so_and_its_port_be_forwarded(awaited, host):
    _, port = awaited
    assert answer(port, asked(f"GET /{SECRET}/v1/x", f"host: {host}")).startswith(b"HTTP/1.1 404")


def test_who_knows_the_secret_may_have_the_port_released(awaited):
    runtime, port = awaited
    runtime.reset()
    released = answer(port, asked(f"POST {RELEASE}", f"host: {HOST}", f"{HEADER}: {SECRET}"))
    assert released.startswith(b"HTTP/1.1 204")
    with pytest.raises(ConnectionRefusedError):
        answer(port, REQUESTS["root"])


def test_the_base_path_is_no_way_to_a_control_route(awaited):
    runtime, port = awaited
    runtime.reset()
    assert answer(port, asked(f"POST /{SECRET}{RELEASE}", f"host: {HOST}")).startswith(b"HTTP/1.1 404")


def test_turncheck_with_another_secret_does_not_get_the_port(awaited):
    runtime, port = awaited
    runtime.reset()
    target = f"{runtime.name}&lull=0.03"
    with pytest.raises(StartError, match=f"cannot serve the model on port {port}"):
        Connection(target, command=worker_command(target), environment={VARIABLE: OTHER}, timeout=30)


def test_a_stranger_who_asks_all_the_time_changes_no_verdict(endpoints):
    port, over = free_port(), threading.Event()

    def ask() -> None:
        while not over.wait(0.02):
            with contextlib.suppress(OSError):
                for name in ("root", "no-secret", "release", "release-with-another-secret"):
                    answer(port, REQUESTS[name])

    stranger = threading.Thread(target=ask)
    stranger.start()
    try:
        target = f"{endpoints}/right?model={port}#model-port={port}&patience=10"
        laws = ("--laws", "run-hash-seed", "--laws", "run-deterministic", "--examples", "3", "--timeout", "30")
        command = [sys.executable, "-m", "turncheck.conformance", "verify", target, *laws]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    finally:
        over.set()
        stranger.join()
    assert (ran.returncode, "✓ run-hash-seed" in ran.stdout) == (0, True), ran.stdout + ran.stderr


# The secret itself


@pytest.mark.parametrize(
    ("given", "told"), [("", "is not set"), ("short", "has 5 characters"), ("x" * 129, "has 129"), ("é" * 40, "has 40")]
)
def test_without_a_secret_the_worker_does_not_start_and_says_how_to_make_one(endpoints, given, told):
    target = f"{endpoints}/right#model-port={free_port()}"
    with pytest.raises(StartError) as error:
        Connection(target, command=worker_command(target), environment={VARIABLE: given}, timeout=30)
    assert (told in str(error.value), f"export {VARIABLE}=$(" in str(error.value)) == (True, True)


TELLING = {
    "a-text": lambda url: sends(OPEN + sse(STARTED, *said(f"see {url}"), FINISHED)),
    "a-text-in-pieces": lambda url: sends(
        OPEN + sse(STARTED, said("")[0], *(said(letter)[1] for letter in url), said("")[2], FINISHED)
    ),
    "a-text-in-escapes": lambda url: sends(OPEN + sse(STARTED, said("")[0], escaped(url), said("")[2], FINISHED)),
    "an-error": lambda url: sends(OPEN + sse(STARTED, {"type": "RUN_ERROR", "message": f"POST {url}: 400"})),
    "a-refusal": lambda url: status("500 No", body=f"POST {url}".encode()),
    "a-refusal-cut-amid-it": lambda url: status("500 No", body=b"x" * 180 + url.encode() * 30),
    "a-torn-event": lambda url: sends(OPEN + sse(STARTED) + f"data: {url}".encode()),
    "no-http": lambda url: sends(url.encode() * 3 + b"\r\n\r\n"),
    "a-content-type": lambda url: sends(f"HTTP/1.1 200 OK\r\ncontent-type: {url}\r\n\r\n".encode()),
    "a-first-event": lambda url: sends(OPEN + sse({"type": url})),
}
"""Ways in which a server reveals its model's address."""


def escaped(text: str) -> bytes:
    """Return a delta whose letters are JSON escapes."""
    letters = "".join(f"\\u{ord(letter):04x}" for letter in text)
    return f'{{"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "{letters}"}}'.encode()


@pytest.fixture(scope="module")
def teller():
    """A server, and its workers with two secrets."""
    server = Server()
    target = f"{server.address}#model-port=PORT&patience=10"
    with contextlib.ExitStack() as stack:
        stack.callback(server.close)
        workers = []
        for secret in (SECRET, OTHER[:-10]):  # their lengths must not show either
            connection = Connection(
                target,
                command=worker_command(target.replace("PORT", str(free_port()))),
                environment={VARIABLE: secret},
                timeout=30,
            )
            workers.append((secret, stack.enter_context(RemoteRuntime(connection))))
        yield server, workers


@pytest.mark.parametrize("way", TELLING)
def test_a_server_that_tells_its_models_address_is_logged_the_same_for_each_secret(teller, way):
    server, workers = teller
    logs = []
    for secret, runtime in workers:
        server.serve = TELLING[way](f"http://127.0.0.1:8790/{secret}/v1")
        runtime.reset()
        logs.append(str(runtime.run([ONE])))
        assert secret[:8] not in logs[-1]
    assert (logs[0], "<secret>" in logs[0]) == (logs[1], True)


def test_results_and_counterexamples_are_the_same_bytes_for_each_secret(tmp_path):
    server, port = Server(), free_port()
    written = []
    for secret in (SECRET, OTHER):
        server.serve = sends(OPEN + sse(STARTED, f"http://127.0.0.1:{port}/{secret}/v1".encode()))
        folder = tmp_path / secret
        target = f"{server.address}#model-port={port}&patience=10"
        laws = ("--laws", "log-well-formed", "--examples", "2", "--timeout", "30", "--json", "--out", ".")
        ran = subprocess.run(
            [sys.executable, "-m", "turncheck.conformance", "verify", target, *laws],
            env=os.environ | {VARIABLE: secret},
            cwd=made(folder),
            capture_output=True,
            check=False,
        )
        assert (ran.returncode, secret.encode() in ran.stdout + ran.stderr) == (1, False), ran.stdout + ran.stderr
        written.append((ran.stdout, {path.name: path.read_bytes() for path in folder.iterdir()}))
    server.close()
    assert (written[0], [secret for secret in (SECRET, OTHER) if secret.encode() in str(written).encode()]) == (
        written[1],
        [],
    )


def made(folder: Path) -> Path:
    """Make the folder, and return it."""
    folder.mkdir()
    return folder
