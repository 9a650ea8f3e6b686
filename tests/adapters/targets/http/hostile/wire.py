"""Ways of serving one connection: answers that are sent piece by piece, for ever, or compressed."""

import contextlib
import itertools
import json
import select
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from serving import listen

Serve: TypeAlias = Callable[[socket.socket], None]

SSE: Final = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
OPEN: Final = SSE + b"\r\n"
"""Headers of an answer whose end is the connection's."""
CHUNKED: Final = SSE + b"transfer-encoding: chunked\r\n\r\n"
STARTED: Final = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISHED: Final = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
MEGA: Final = 1 << 20
ENDLESS: Final = 64
"""Megabytes that stand for an endless stream: far beyond any bound, few enough to find a broken one in a second."""


def sse(*events: Any, end: bytes = b"\n") -> bytes:
    """Return events as on the wire; bytes stand for the text of one."""
    texts = (one if isinstance(one, bytes) else json.dumps(one).encode() for one in events)
    return b"".join(b"data: " + text + end + end for text in texts)


def said(text: str) -> list[dict[str, Any]]:
    """Return the events of an assistant's text."""
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": text},
        {"type": "TEXT_MESSAGE_END", "messageId": "m"},
    ]


RUN: Final = sse(STARTED, *said("hi"), FINISHED)
LONG: Final = sse(STARTED, *said("h" * 100_000), FINISHED)


def request(connection: socket.socket) -> bytes:
    """Read one request."""
    came = b""
    while b"\r\n\r\n" not in came:
        piece = connection.recv(65536)
        if not piece:
            return came
        came += piece
    head, _, body = came.partition(b"\r\n\r\n")
    (length,) = (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(65536)
    return head


def sends(*pieces: bytes, then: Iterable[bytes] = ()) -> Serve:
    """Read the request, and send *pieces*, one by one, and what *then* yields."""

    def serve(connection: socket.socket) -> None:
        request(connection)
        for piece in itertools.chain(pieces, then):
            connection.sendall(piece)

    return serve


def stays(*pieces: bytes) -> Serve:
    """Send *pieces*, and stay open and silent until the client leaves."""

    def serve(connection: socket.socket) -> None:
        sends(*pieces)(connection)
        connection.recv(1)

    return serve


def endless(first: bytes, piece: bytes) -> Serve:
    """Send *first*, and then *piece* until ENDLESS megabytes are over, or the client leaves."""
    block = piece * (MEGA // len(piece))
    return sends(first, then=itertools.repeat(block, ENDLESS))


def flood(first: bytes, piece: bytes) -> Serve:
    """Send *first*, and then *piece* until the client leaves."""
    return sends(first, then=itertools.repeat(piece))


def encoded(name: str, body: bytes) -> bytes:
    """Return an answer whose body is in an encoding."""
    return SSE + f"content-encoding: {name}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


def zipped(body: bytes, wbits: int) -> bytes:
    """Return *body* compressed by zlib with *wbits*."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return packer.compress(body) + packer.flush()


def bomb(first: bytes, megabytes: int, wbits: int) -> bytes:
    """Return *first* and megabytes of one letter, compressed to a thousandth of their size."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return b"".join([packer.compress(first), *(packer.compress(b"x" * MEGA) for _ in range(megabytes)), packer.flush()])


def deaf(connection: socket.socket) -> None:
    """Answer at once, and close, without reading the request."""
    connection.sendall(OPEN + RUN)
    connection.shutdown(socket.SHUT_WR)
    request(connection)


def never_reads(connection: socket.socket) -> None:
    """Neither read nor answer, until the client leaves."""
    left = select.poll()
    left.register(connection, select.POLLRDHUP)
    left.poll()


def resets(connection: socket.socket) -> None:
    """Break the connection amid an event, with a reset."""
    sends(OPEN + sse(STARTED) + b"data: {")(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def status(line: str, *headers: str, body: bytes = b"") -> Serve:
    """Answer with another status."""
    head = "".join(f"{header}\r\n" for header in (f"HTTP/1.1 {line}", *headers))
    return sends(head.encode() + b"\r\n" + body)


def events(*values: Any) -> Serve:
    """Send a run with *values* amid it."""
    return sends(OPEN + sse(STARTED, *values, FINISHED))


class Server:
    """Serves each connection by ``serve``, in its own thread."""

    def __init__(self) -> None:
        self.serve: Serve = sends(OPEN + RUN)
        self.listener = listen()
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Refuse connections from now on."""
        self.listener.shutdown(socket.SHUT_RDWR)  # accept() returns
        self.listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # it is closed
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:  # the client left
            self.serve(connection)
