"""Servers that break HTTP, event streams or JSON, by their fault: each with a law's exit code and the text logged."""

import gzip
import zlib
from dataclasses import dataclass
from typing import Final

from wire import (
    CHUNKED,
    FINISHED,
    LONG,
    MEGA,
    OPEN,
    RUN,
    SSE,
    STARTED,
    Serve,
    bomb,
    deaf,
    encoded,
    endless,
    events,
    flood,
    never_reads,
    resets,
    said,
    sends,
    sse,
    status,
    stays,
    zipped,
)


@dataclass(frozen=True)
class Hostile:
    """A server, the exit code of a law about it, and a pattern of the text logged."""

    serve: Serve
    code: int
    logged: str = "'reason': 'completed'"


BROKE: Final = "the connection broke"
EVENT: Final = r"an event is longer than 8,388,608 bytes \(docs/http.md\)"
ANSWER: Final = r"the answer is longer than 16,777,216 bytes"
TORN: Final = "the stream ended amid an event"
GZIP, ZLIB, RAW = zlib.MAX_WBITS | 16, zlib.MAX_WBITS, -zlib.MAX_WBITS
TEXT: Final = b'{"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": %s}'
DEEP: Final = b"[" * 100_000 + b"]" * 100_000

RIGHT: Final = {
    "http-1.0": Hostile(sends(OPEN.replace(b"1.1", b"1.0", 1) + RUN), 0),
    "byte-by-byte": Hostile(sends(*(bytes([one]) for one in OPEN + RUN)), 0),
    "byte-order-mark": Hostile(sends(OPEN + b"\xef\xbb\xbf" + RUN), 0),
    "newlines-are-cr": Hostile(sends(OPEN + RUN.replace(b"\n", b"\r")), 0),
    "newlines-are-lf-cr": Hostile(sends(OPEN + RUN.replace(b"\n\n", b"\n\r")), 0),
    "newlines-of-each-kind": Hostile(sends(OPEN + RUN.replace(b"\n\n", b"\r\n\r", 2).replace(b"\n\n", b"\r\r", 1)), 0),
    "invalid-utf-8": Hostile(events(*said("hi")[:1], TEXT % b'"\xff\xfe\xc0"', said("hi")[2]), 0),
    "nul-in-a-text": Hostile(events(*said("\0")), 0),
    "charset-is-a-compression": Hostile(sends(SSE.replace(b"stream", b"stream; charset=zlib") + b"\r\n" + RUN), 0),
    "charset-is-utf-16": Hostile(sends(SSE.replace(b"stream", b"stream; charset=utf-16") + b"\r\n" + RUN), 0),
    "charset-is-unknown": Hostile(sends(SSE.replace(b"stream", b"stream; charset=klingon") + b"\r\n" + RUN), 0),
    "gzip-that-nobody-asked-for": Hostile(sends(encoded("gzip", gzip.compress(RUN))), 0),
    "deflate-with-a-header": Hostile(sends(encoded("deflate", zipped(RUN, ZLIB))), 0),
    "deflate-without-a-header": Hostile(sends(encoded("deflate", zipped(RUN, RAW))), 0),
    "gzip-with-bytes-behind-it": Hostile(sends(encoded("gzip", gzip.compress(RUN) + b"\0" * 100_000)), 0),
    "answers-before-the-request-is-read": Hostile(deaf, 0),
    "early-hints": Hostile(
        sends(b"HTTP/1.1 100 Continue\r\n\r\n" + b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100 + OPEN + RUN), 0
    ),
    "huge-status-text": Hostile(sends(OPEN.replace(b"OK", b"O" * 60_000) + RUN), 0),
    "many-headers": Hostile(sends(SSE + b"x: y\r\n" * 9_000 + b"\r\n" + RUN), 0),
    "cookie-flood": Hostile(
        sends(SSE + b"".join(b"set-cookie: c%d=%s\r\n" % (n, b"x" * 60) for n in range(900)) + b"\r\n" + RUN), 0
    ),
    "bytes-behind-the-last-chunk": Hostile(
        sends(CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(RUN), RUN) + b"HTTP/1.1 500 No\r\n\r\n"), 0
    ),
    "length-and-chunks": Hostile(
        sends(
            CHUNKED.replace(b"\r\n\r\n", b"\r\ncontent-length: 3\r\n\r\n") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(RUN), RUN)
        ),
        0,
    ),
    "duplicate-keys": Hostile(
        events(b'{"type": "CUSTOM", "type": "RAW", "type": "CUSTOM", "name": "x", "value": 1}'), 0
    ),
    "comments-alone-for-a-megabyte": Hostile(sends(OPEN + b": ping\n\n" * 100_000 + RUN), 0),
}
"""Answers that look wrong and can be read."""

WRONG: Final = {
    "endless-headers": Hostile(endless(SSE, b"x: y\r\n"), 1, BROKE),
    "endless-header": Hostile(endless(SSE + b"x: ", b"y"), 1, BROKE),
    "endless-status-line": Hostile(endless(b"HTTP/1.1 200 ", b"O"), 1, BROKE),
    "endless-line": Hostile(endless(OPEN + sse(STARTED) + b"data: ", b"x"), 1, EVENT),
    "endless-comment": Hostile(endless(OPEN + sse(STARTED) + b": ", b"x"), 1, EVENT),
    "endless-lines-of-one-event": Hostile(endless(OPEN + sse(STARTED), b"data: x\n"), 1, EVENT),
    "endless-comments": Hostile(endless(OPEN + sse(STARTED), b": ping\n\n"), 1, ANSWER),
    "endless-events": Hostile(endless(OPEN + sse(STARTED), sse({"type": "CUSTOM", "value": "x" * 10_000})), 1, ANSWER),
    "endless-trailers": Hostile(endless(CHUNKED + b"0\r\n", b"x: y\r\n"), 1, BROKE),
    "endless-chunk-extension": Hostile(endless(CHUNKED + b"5;", b"x"), 1, BROKE),
    "no-newline-at-all": Hostile(sends(OPEN + b'data: {"type": "RUN_STARTED"}'), 1, TORN),
    "length-is-too-long": Hostile(sends(SSE + b"content-length: 1000000\r\n\r\n" + RUN), 1, BROKE),
    "length-is-too-short": Hostile(sends(SSE + b"content-length: 30\r\n\r\n" + RUN), 1, TORN),
    "length-is-negative": Hostile(sends(SSE + b"content-length: -1\r\n\r\n" + RUN), 1, BROKE),
    "length-is-no-number": Hostile(sends(SSE + b"content-length: many\r\n\r\n" + RUN), 1, BROKE),
    "two-lengths": Hostile(sends(SSE + b"content-length: 3\r\ncontent-length: 900\r\n\r\n" + RUN), 1, BROKE),
    "chunk-is-shorter-than-it-says": Hostile(sends(CHUNKED + b"ffffff\r\n" + RUN), 1, BROKE),
    "chunk-is-longer-than-it-says": Hostile(sends(CHUNKED + b"5\r\n" + RUN), 1, BROKE),
    "chunk-of-a-size-that-is-none": Hostile(sends(CHUNKED + b"five\r\n" + RUN), 1, BROKE),
    "chunk-of-a-size-beyond-64-bits": Hostile(sends(CHUNKED + b"f" * 30 + b"\r\n" + RUN), 1, BROKE),
    "closed-amid-its-chunks": Hostile(sends(CHUNKED + b"%x\r\n%s\r\n" % (len(RUN), RUN)), 1, BROKE),
    "closed-before-the-answer": Hostile(sends(), 1, BROKE),
    "closed-amid-the-headers": Hostile(sends(SSE[:20]), 1, BROKE),
    "reset-amid-an-event": Hostile(resets, 1, f"{BROKE}|{TORN}"),
    "tls-on-a-plain-port": Hostile(sends(b"\x15\x03\x01\x00\x02\x02\x28"), 1, BROKE),
    "no-http-at-all": Hostile(sends(b"\0\xff" * 1000), 1, BROKE),
    "http-2": Hostile(sends(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"), 1, BROKE),
    "http-0.9": Hostile(sends(RUN), 1, BROKE),
    "status-of-four-digits": Hostile(status("2000 OK", body=RUN), 1, BROKE),
    "nul-in-a-header": Hostile(sends(SSE + b"x: \0\r\n\r\n" + RUN), 1, BROKE),
    "unknown-transfer-encoding": Hostile(sends(SSE + b"transfer-encoding: gzip\r\n\r\n" + RUN), 1, BROKE),
    "switches-protocols": Hostile(
        status("101 Switching Protocols", "upgrade: websocket", body=b"\x81\x02hi"), 1, "HTTP 101|the connection broke"
    ),
    "huge-content-type": Hostile(
        sends(b"HTTP/1.1 200 OK\r\ncontent-type: " + b"x" * 50_000 + b"\r\n\r\n"), 1, "no event stream"
    ),
    "no-content-type": Hostile(sends(b"HTTP/1.1 200 OK\r\n\r\n" + RUN), 1, "no event stream"),
    "nul-bytes": Hostile(sends(OPEN + sse(STARTED, b"\0" * 1000, FINISHED)), 1, "unreadable line"),
    "deep-json": Hostile(events(b'{"type": "CUSTOM", "value": %s}' % DEEP), 1, "unreadable line"),
    "infinity": Hostile(events(b'{"type": "CUSTOM", "value": Infinity}'), 1, "unreadable line"),
    "events-that-are-numbers": Hostile(events(b"1", b"1e400", b"-0"), 1, "not an object"),
    "type-is-an-object": Hostile(events(b'{"type": {"type": {}}}'), 1, "malformed"),
    "first-type-is-an-object": Hostile(sends(OPEN + sse({"type": {}}, FINISHED)), 1, "the first event is {}"),
    "huge-first-type": Hostile(sends(OPEN + sse({"type": "x" * MEGA}, FINISHED)), 1, "the first event is x{200,}… "),
    "gzip-that-is-none": Hostile(sends(encoded("gzip", RUN)), 1, r"the answer is no gzip: .* \(docs/http.md\)"),
    "gzip-cut-off": Hostile(sends(encoded("gzip", gzip.compress(LONG)[:200])), 1, TORN),
    "gzip-bomb-of-one-event": Hostile(sends(encoded("gzip", bomb(sse(STARTED) + b"data: ", 256, GZIP))), 1, EVENT),
    "gzip-bomb-of-events": Hostile(
        sends(encoded("gzip", zipped(sse(STARTED) + b": %s\n\n" % (b"x" * 60) * MEGA, GZIP))),
        1,
        f"{ANSWER}, from [0-9,]+ bytes of gzip",
    ),
    "deflate-bomb": Hostile(sends(encoded("deflate", bomb(sse(STARTED) + b"data: ", 256, ZLIB))), 1, EVENT),
    "bare-deflate-bomb": Hostile(sends(encoded("deflate", bomb(sse(STARTED) + b"data: ", 256, RAW))), 1, EVENT),
    "gzip-in-gzip": Hostile(
        sends(encoded("gzip, gzip", gzip.compress(bomb(b"", 64, GZIP)))),
        1,
        "in Content-Encoding gzip, gzip; it was asked for as it is",
    ),
    "thousand-encodings": Hostile(
        sends(encoded(", ".join(["gzip"] * 1000), gzip.compress(RUN))), 1, "in Content-Encoding gzip, gzip"
    ),
    "brotli": Hostile(sends(encoded("br", b"\x0b\x02\x80hello\x03")), 1, "in Content-Encoding br;"),
    "zstandard": Hostile(sends(encoded("zstd", b"\x28\xb5\x2f\xfd")), 1, "in Content-Encoding zstd;"),
}
"""Answers that break the stream: the log says so, and a law fails."""

REFUSED: Final = {
    "no-content-with-content": Hostile(
        status("204 No Content", "content-length: 5", body=b"hello"), 0, "HTTP 204, without a body"
    ),
    "redirect-to-itself": Hostile(status("307 Again", "location: /", "content-length: 0"), 0, "HTTP 307, without"),
    "redirect-to-a-file": Hostile(
        status("302 Found", "location: file:///etc/passwd", "content-length: 0"), 0, "HTTP 302, without a body"
    ),
    "redirect-to-nowhere": Hostile(status("308 Gone", "content-length: 0"), 0, "HTTP 308, without a body"),
    "error-with-a-bomb": Hostile(
        sends(encoded("gzip", bomb(b"", 256, GZIP)).replace(b"200 OK", b"500 No")), 0, "HTTP 500: x{200,}… "
    ),
    "error-with-an-endless-body": Hostile(endless(b"HTTP/1.1 500 No\r\n\r\n", b"x"), 0, "HTTP 500: x{200,}… "),
    "error-in-brotli": Hostile(
        sends(encoded("br", b"\x0b").replace(b"200 OK", b"500 No")), 1, "in Content-Encoding br;"
    ),
    "status-999": Hostile(status("999 Beyond", "content-length: 0"), 0, "HTTP 999, without a body"),
}
"""Answers with other statuses: the run has failed, and a fault says how."""

STUCK: Final = {
    "never-reads": Hostile(never_reads, 2, ""),
    "never-answers": Hostile(stays(), 2, ""),
    "stops-amid-the-headers": Hostile(stays(SSE), 2, ""),
    "stops-amid-a-line": Hostile(stays(OPEN + sse(STARTED) + b"data: {"), 2, ""),
    "stops-amid-a-chunk": Hostile(stays(CHUNKED + b"ff\r\ndata"), 2, ""),
    "stops-amid-gzip": Hostile(stays(SSE + b"content-encoding: gzip\r\n\r\n" + gzip.compress(LONG)[:100]), 2, ""),
    "informational-flood": Hostile(flood(b"", b"HTTP/1.1 102 Processing\r\n\r\n" * 1000), 2, ""),
    "flood-of-empty-gzip": Hostile(flood(SSE + b"content-encoding: gzip\r\n\r\n", gzip.compress(b"")), 2, ""),
    "keeps-its-stream-open": Hostile(stays(OPEN + RUN), 2, ""),
}
"""Answers that never end: the patience is over first, and no law gives a verdict."""

ALL: Final = {**RIGHT, **WRONG, **REFUSED, **STUCK}
