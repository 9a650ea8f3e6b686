"""Servers under test that ask the model in hostile ways, with the secret: their answers, and the faults logged."""

import asyncio
import contextlib
import gzip
import itertools
import json
import re
import socket

import pytest
from serving import SECRET, free_port, serve
from test_model_endpoint import Script, release
from wire import OPEN, STARTED, Server, sse, stays
from words import ONE, say

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.errors import ImplementationError
from turncheck.adapters.protocol.messages import Reset, Run
from turncheck.adapters.targets.http.model_endpoint import endpoint, port
from turncheck.adapters.targets.http.model_endpoint.guard import RELEASE
from turncheck.adapters.targets.http.model_endpoint.secret import HEADER, Secret
from turncheck.adapters.targets.http.options import worker_command
from turncheck.model.core.stimuli import Abort, Advance

PATH = f"/{SECRET}/v1/chat/completions"
HI = [{"role": "user", "content": "hi"}]


def post(body: bytes, *headers: str, length: int | None = None) -> bytes:
    """Return a request to the model; with a negative *length*, it has no content-length."""
    size = [] if length == -1 else [f"content-length: {len(body) if length is None else length}"]
    head = "\r\n".join([f"POST {PATH} HTTP/1.1", "host: 127.0.0.1", *size, *headers])
    return f"{head}\r\n\r\n".encode() + body


def messages(*those, **more) -> bytes:
    """Return a request with a chat completion's body."""
    return post(json.dumps({"messages": [*those], **more}).encode())


def raw(content: bytes) -> bytes:
    """Return a request with one user message, whose content is *content*."""
    return post(b'{"messages": [{"role": "user", "content": %s}]}' % content)


def chunked(*chunks: bytes) -> bytes:
    """Return a request in chunks, without an end."""
    return post(b"", "transfer-encoding: chunked", length=-1) + b"".join(
        b"%x\r\n%s\r\n" % (len(one), one) for one in chunks
    )


EXPECTED = "expected a chat completion's request"
REFUSED = {
    "deep-messages": (post(b'{"messages": %s}' % (b"[" * 100_000)), 400, EXPECTED),
    "deep-content": (raw(b"[" * 100_000 + b"]" * 100_000), 400, EXPECTED),
    "deep-objects": (raw(b'{"a":' * 100_000 + b"1" + b"}" * 100_000), 400, EXPECTED),
    "nesting-just-below-a-limit": (raw(b"[" * 980 + b"]" * 980), 400, EXPECTED),
    "no-messages": (post(b"{}"), 400, EXPECTED),
    "no-body": (post(b""), 400, EXPECTED),
    "no-length": (post(b"", length=-1), 400, EXPECTED),
    "null": (post(b"null"), 400, EXPECTED),
    "messages-are-an-object": (post(b'{"messages": {"0": {}}}'), 400, EXPECTED),
    "messages-are-numbers": (post(b'{"messages": [1, 2]}'), 400, EXPECTED),
    "messages-twice-and-once-a-number": (post(b'{"messages": 1, "messages": []}'), 400, EXPECTED),
    "stream-is-a-text": (messages(*HI, stream="yes"), 400, EXPECTED),
    "model-is-a-list": (messages(*HI, model=[]), 400, EXPECTED),
    "no-utf-8": (raw(b'"\xff\xfe"'), 400, EXPECTED),
    "nul-bytes": (post(b"\0" * 100), 400, EXPECTED),
    "byte-order-mark": (post(b'\xef\xbb\xbf{"messages": []}'), 400, EXPECTED),
    "two-bodies": (post(b'{"messages": []}{"messages": []}'), 400, EXPECTED),
    "lone-surrogate": (raw(b'"\\ud800"'), 400, EXPECTED),
    "infinity": (post(b'{"messages": [], "temperature": Infinity}'), 400, EXPECTED),
    "seventeen-megabytes": (raw(b'"%s"' % (b"x" * (17 << 20))), 400, "longer than 16,777,216 bytes"),
    "endless-chunks": (chunked(*[b"x" * 65536] * 320), 400, "longer than 16,777,216 bytes"),
    "gzip": (post(gzip.compress(b"{}"), "content-encoding: gzip"), 415, "a body in Content-Encoding gzip"),
    "gzip-bomb": (post(gzip.compress(b"x" * (64 << 20)), "content-encoding: gzip"), 415, "Content-Encoding gzip"),
    "unknown-encoding": (post(b"{}", f"content-encoding: {'x' * 9000}"), 415, "Content-Encoding x{200,}… "),
    "get": (post(b"").replace(b"POST", b"GET"), 404, "GET /v1/chat/completions: turncheck serves"),
    "unknown-method": (post(b"").replace(b"POST", b"BREW"), 404, "BREW /v1/chat/completions: turncheck serves"),
    "huge-path": (post(b"").replace(b"/completions", b"/x" * 20_000), 404, "POST /v1/chat(/x){50,}… "),
    "web-socket": (
        post(b"", "connection: upgrade", "upgrade: websocket").replace(b"POST", b"GET"),
        404,
        "turncheck serves",
    ),
}
"""A request, the status of its answer, and the fault that is logged."""

NO_REQUESTS = {
    "huge-headers": post(b"", *["x: y"] * 50_000),
    "length-and-chunks-that-lie": post(b"", "transfer-encoding: gzip", length=5),
    "negative-length": post(b"{}", length=-5),
    "rubbish": b"\0\xff\r\n\r\n" * 100,
}
"""Bodies that are no request: the answer is 400, and reveals nothing about the run."""

AWAITED = {
    "duplicate-keys": post(b'{"messages": [], "messages": [{"role": "user", "role": "tool", "content": "x"}]}'),
    "giant-numbers": post(b'{"messages": [], "seed": 1%s, "temperature": 1e300}' % (b"0" * 4000)),
    "giant-numbers-as-content": raw(b"[1%s, -1e308]" % (b"0" * 40)),
    "content-is-an-object": raw(b'{"type": {"text": []}}'),
    "content-is-null": raw(b"null"),
    "role-is-a-number": messages({"role": 7, "content": "x"}),
    "calls-are-a-number": messages({"role": "assistant", "tool_calls": 7}),
    "calls-are-texts": messages({"role": "assistant", "tool_calls": ["x", None, [[]]]}),
    "call-id-is-a-list": messages({"role": "tool", "tool_call_id": [], "content": []}),
    "parts-are-none": messages({"role": "user", "content": [1, None, {"text": 7}, {"type": "text"}]}),
    "ten-thousand-messages": messages(*HI * 10_000),
    "a-megabyte-of-text": messages({"role": "user", "content": "x" * (1 << 20)}),
    "unknown-fields": messages(*HI, **{f"field{number}": {} for number in range(1000)}),
    "two-requests-in-one-connection": messages(*HI) * 2,
    "byte-by-byte-chunks": chunked(*(bytes([one]) for one in b'{"messages": []}')) + b"0\r\n\r\n",
    "expect-continue": post(b'{"messages": []}', "expect: 100-continue"),
    "http-1.0": messages(*HI).replace(b"HTTP/1.1", b"HTTP/1.0"),
    "wrong-content-type": post(b'{"messages": []}', "content-type: image/png"),
}
"""Odd requests that can be answered."""


@pytest.fixture(scope="module")
def open_run():
    """The worker of a server that only reports its run's beginning, and the port of its model."""
    server, model = Server(), free_port()
    server.serve = stays(OPEN + sse(STARTED))
    target = f"{server.address}#model-port={model}&patience=1"
    connection = Connection(target, command=worker_command(target), timeout=60)
    yield connection, model
    connection.close()
    server.close()


def begin(worker):
    """Open a run."""
    assert worker.ask(Reset(worker.next_seq())).ok
    run(worker, ONE)


def run(worker, *word):
    return list(worker.ask(Run(worker.next_seq(), word)).steps)


def faults(step):
    return [event["message"] for event in step.events if event.get("type") == "fault"]


def send(model: int, request: bytes) -> socket.socket:
    """Send a request, as far as it is read."""
    connection = socket.create_connection(("127.0.0.1", model), timeout=30)
    with contextlib.suppress(ConnectionError):
        connection.sendall(request)
    return connection


def status(connection: socket.socket) -> int:
    """Return the status of the answer; 0 if the connection was closed before it was read."""
    with contextlib.suppress(ConnectionError):
        return int(connection.recv(65536)[9:12] or 0)
    return 0


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_that_cannot_be_answered_is_refused_and_is_a_fault(open_run, name):
    worker, model = open_run
    request, code, pattern = REFUSED[name]
    begin(worker)
    with send(model, request) as connection:
        assert status(connection) == code or len(request) > 60_000  # an unread one may break the connection
    (fault,) = faults(run(worker, Abort())[0])
    assert (bool(re.search(pattern, fault)), len(fault) < 1000) == (True, True), fault


@pytest.mark.parametrize("name", NO_REQUESTS)
def test_what_is_no_request_is_answered_400_and_not_logged(open_run, name):
    worker, model = open_run
    begin(worker)
    with send(model, NO_REQUESTS[name]) as connection:
        assert status(connection) in {400, 0}
    assert faults(run(worker, Abort())[0]) == []


@pytest.mark.parametrize("name", AWAITED)
def test_an_odd_request_awaits_its_answer(open_run, name):
    worker, model = open_run
    begin(worker)
    with socket.create_connection(("127.0.0.1", model), timeout=30) as connection:
        connection.sendall(AWAITED[name])
        steps = iter(lambda: run(worker, Advance(seconds=0))[0], None)  # unsupported: it shows what is awaited
        step = next(step for step in itertools.islice(steps, 100) if step.awaiting)
        assert (step.awaiting[0].request_id, faults(step)) == ("r1", [])


def test_a_request_that_breaks_off_amid_its_body_is_forgotten(open_run):
    worker, model = open_run
    begin(worker)
    with send(model, post(b'{"messages"', length=10**12)) as connection:
        connection.shutdown(socket.SHUT_WR)
        assert status(connection) in {0, 400, 500}
    step = run(worker, Abort())[0]
    assert (step.awaiting, faults(step)) == ((), [])


def test_more_requests_at_once_than_two_hundred_are_refused_and_a_reset_frees_them(open_run):
    worker, model = open_run
    begin(worker)
    with contextlib.ExitStack() as stack:
        kept = [stack.enter_context(send(model, messages(*HI))) for _ in range(200)]
        steps = iter(lambda: run(worker, Advance(seconds=0))[0], None)
        assert any(len(step.awaiting) == 200 for step in itertools.islice(steps, 100))
        assert status(stack.enter_context(send(model, messages(*HI)))) == 400
        assert faults(run(worker, Advance(seconds=0))[0]) == ["a model request beside 200 that wait: it was refused"]
        assert worker.ask(Reset(worker.next_seq())).awaiting == ()
        assert {status(one) for one in kept} == {400}


def test_a_client_that_never_reads_its_stream_holds_up_no_reset(open_run):
    worker, model = open_run
    begin(worker)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", model))
        connection.sendall(messages(*HI, stream=True))
        steps = iter(lambda: run(worker, Advance(seconds=0))[0], None)
        assert any(step.awaiting for step in itertools.islice(steps, 100))
        run(worker, say("x" * (16 << 20)))
        assert worker.ask(Reset(worker.next_seq())).ok
        assert run(worker, ONE)[0].awaiting == ()


def test_after_a_release_nobody_answers_until_the_next_reset(open_run):
    worker, model = open_run
    begin(worker)
    control = f"POST {RELEASE} HTTP/1.1\r\nhost: 127.0.0.1\r\n{HEADER}: {SECRET}\r\n\r\n".encode()
    with send(model, control) as connection:
        assert status(connection) == 204
    with pytest.raises(ConnectionRefusedError):
        send(model, messages(*HI))
    with pytest.raises(ImplementationError, match="another turncheck took port"):
        run(worker, Abort())
    begin(worker)
    with send(model, post(b"")) as connection:
        assert status(connection) == 400


# Time


def test_a_body_that_does_not_come_is_refused_in_time(monkeypatch):
    monkeypatch.setattr(endpoint, "_SECONDS", 0.1)
    script = Script()
    with (
        serve(endpoint.model_endpoint(script, Secret(SECRET), release)) as address,
        send(int(address.rpartition(":")[2]), post(b"{", length=100)) as connection,
    ):
        assert status(connection) == 408
    assert script.faults == ["POST /v1/chat/completions: the body was not whole after 0.1 seconds"]


@pytest.mark.parametrize("sent", [b"", b"POST /", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "])
def test_headers_that_do_not_come_close_the_connection_in_time(monkeypatch, sent):
    monkeypatch.setattr(port, "_HEAD_SECONDS", 0.1)

    async def waits() -> bytes:
        number = free_port()
        secret = Secret(SECRET)
        served = port.ModelPort(endpoint.model_endpoint(Script(), secret, release), number, secret)
        await served.take()
        reader, writer = await asyncio.open_connection("127.0.0.1", number)
        writer.write(sent)
        came = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        await served.release()
        return came

    assert asyncio.run(waits()) == b""
