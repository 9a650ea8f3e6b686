"""Logs for the fast loops: good streams with some edits, framed in each way that people have them."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from benchmarks import streams
from benchmarks.session_files import registry as session_files
from hypothesis import strategies as st

from fuzz.logs import Pieces, known, mapper_alone
from turncheck.adapters.logs.fast.lines.registry import READS
from turncheck.adapters.logs.fast.registry import LOOPS
from turncheck.adapters.logs.reading import read_log, read_values
from turncheck.conformance.check.judge import check

RECORDED: Final = Path(__file__).parents[1] / "recordings" / "logs"
Value = Any


def events_of(name: str, data: bytes, piece: int, max_line: int) -> list[Any]:
    log = read_log(Pieces(data, piece), format_name=name, max_line=max_line)
    return [
        (at, known(event), chunk.origin(index), line)
        for chunk in log.chunks
        for index, (at, event, line) in enumerate(zip(chunk.batch.ats, chunk.batch.events, chunk.lines(), strict=True))
    ]


def judged(name: str, data: bytes, piece: int, max_line: int) -> bytes:
    try:
        return msgspec.json.encode(check("log", Pieces(data, piece), format_name=name, max_line=max_line))
    except ValueError as error:
        return str(error).encode()


def assert_same(name: str, data: bytes, piece: int = 1 << 20, max_line: int = 1 << 20) -> None:
    """The fast loop gives what the mapper alone gives: events, positions, lines, offsets and the verdict."""
    fast = events_of(name, data, piece, max_line), judged(name, data, piece, max_line)
    with mapper_alone():
        assert fast == (events_of(name, data, piece, max_line), judged(name, data, piece, max_line))


def recordings(name: str) -> list[Path]:
    """The recorded logs in a format."""
    return [path for path, form in _recorded() if form == name]


@cache
def _recorded() -> list[tuple[Path, str]]:
    """Every recorded log with its format, which takes a tenth of a second to find."""
    return [(path, _format_of(path)) for path in sorted(RECORDED.rglob("*")) if path.suffix in (".jsonl", ".sse")]


def _format_of(path: Path) -> str:
    with path.open("rb") as file:
        return read_values(file)[0].name


def values_of(path: Path) -> list[Value]:
    with path.open("rb") as file:
        return list(read_values(file)[1])


def written(value: Value, *, spaces: str = "", ascii_only: bool = True) -> bytes:
    """A value as a line; the end mark of a stream as it is."""
    if value == "[DONE]":
        return b"[DONE]"
    text = json.dumps(value, separators=("," + spaces, ":" + spaces), ensure_ascii=ascii_only)
    return text.encode("utf-8", "replace")


def _sse(line: bytes) -> bytes:
    return b"data: " + line + b"\n\n"


FRAMES: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "lines": lambda line: line + b"\n",
    "lines with carriage returns": lambda line: line + b"\r\n",
    "events": _sse,
    "events without a space": lambda line: b"data:" + line + b"\n\n",
    "events with carriage returns": lambda line: b"data: " + line + b"\r\n\r\n",
    "events with carriage returns but some": lambda line: (
        b"data: " + line + (b"\n\r\n" if len(line) % 3 else b"\r\n\r\n")
    ),
    "events without a space but some": lambda line: b"data:" + (b"" if len(line) % 3 else b" ") + line + b"\n\n",
    "events with names": lambda line: b"event: message\n" + _sse(line),
    "events with ids": lambda line: b"id: 7\nevent: message\n" + _sse(line),
    "events with comments": lambda line: (b": ping\n\n" if len(line) % 3 else b"") + _sse(line),
    "events with fields behind": lambda line: b"data: " + line + b"\nid: 7\n\n",
    "events in two lines": lambda line: (
        b"data: " + line.replace(b',"', b',\ndata: "', 1) + b"\n\n" if len(line) % 5 == 0 else _sse(line)
    ),
}
"""How a log is framed → the bytes of one value's line."""

ODD: Final = (
    *(b"", b" \t", b"{", b"nonsense", b"[DONE]", b'{"type":"x","y":"\xff"}', b"x" * 300, b"[" * 50, b"[1]"),
    *(b"data: {}", b": ping", b"event: x", b"null"),
)
_TEXTS: Final = ("", "a", 'say "b"\n', "é", "\ud800", "\\", "x" * 200)
_ATOMS: Final[tuple[Value, ...]] = (None, True, 0, 1, -1, 1.0, 10**30, [], {}, "completed", "error", *_TEXTS)


def _paths(value: Value, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(one for key, item in inner for one in _paths(item, (*path, key)))]


def _put(value: Value, path: tuple[Any, ...], new: Value) -> Value:
    if not path:
        return new
    copied = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = _put(value[path[0]], path[1:], new)
    return copied


def _changed(draw: Any, value: Value) -> Value:
    """A value with another part, or one more or fewer."""
    paths = [path for path in _paths(value) if path]
    if not paths:
        return value
    path = draw(st.sampled_from(paths))
    inner = value
    for key in path[:-1]:
        inner = inner[key]
    if isinstance(inner, dict):
        way = draw(st.sampled_from(["new", "drop", "add", "order", "text"]))
        if way == "drop":
            return _put(value, path[:-1], {key: item for key, item in inner.items() if key != path[-1]})
        if way == "add":
            return _put(value, path[:-1], {**inner, "later": draw(st.sampled_from(_ATOMS))})
        if way == "order":
            return _put(value, path[:-1], dict(reversed(inner.items())))
        if way == "text" and isinstance(inner[path[-1]], str):
            return _put(value, path, draw(st.sampled_from(_TEXTS)))
    return _put(value, path, draw(st.sampled_from(_ATOMS)))


def _stamped(values: list[Value], place: str) -> list[Value]:
    """The values, each with a time of its own as its *first* field behind the type, or its *last* one."""

    def one(value: Value, stamp: dict[str, Value]) -> Value:
        if not place or not isinstance(value, dict):
            return value
        head = {"type": value["type"]} if "type" in value else {}
        return {**head, **stamp, **value} if place == "first" else {**value, **stamp}

    return [one(value, {"timestamp": 1732450000000 + 7 * number}) for number, value in enumerate(values)]


@st.composite
def logs(draw: Any, bases: list[list[Value]]) -> bytes:
    """A part of a good stream, edited in a few places, and framed."""
    base = draw(st.sampled_from(bases))
    first = draw(st.integers(0, max(len(base) - 1, 0)) | st.just(0))
    values = list(base[first : first + draw(st.integers(1, 40))])
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(values)))
        other = draw(st.integers(0, len(values)))
        way = draw(st.sampled_from(["change", "change", "change", "drop", "repeat", "move", "later", "done"]))
        if way == "done":
            values.insert(at, "[DONE]")
        elif at < len(values):
            if way == "change":
                values[at] = _changed(draw, values[at])
            elif way == "drop":
                del values[at]
            elif way == "repeat":
                values[at:at] = values[at : at + 3]
            elif way == "move":
                values.insert(min(other, len(values) - 1), values.pop(at))
            else:
                values[at:at] = draw(st.sampled_from(base and [base]))[:3]
    values = _stamped(values, draw(st.sampled_from(["", "", "", "first", "last"])))
    spaces, ascii_only = draw(st.sampled_from(["", "", "", " "])), draw(st.booleans())
    lines = [written(value, spaces=spaces, ascii_only=ascii_only) for value in values]
    for _ in range(draw(st.integers(0, 1))):
        lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(ODD)))
    frame = FRAMES[draw(st.sampled_from([*FRAMES, "lines", "events"]))]
    data = b"".join(map(frame, lines))
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data


def bases(name: str) -> list[list[Value]]:
    """Good streams of a format: of the benchmark, and recorded."""
    rows = [row for row, form in session_files.DIALECTS.items() if form == name]
    made = [measured(row, 60) for row in ([name, *rows] if name in MEASURED else rows)]
    return [*([json.loads(line) for line in log.splitlines()] for log in made), *map(values_of, recordings(name))]


def measured(name: str, lines: int) -> bytes:
    """A log of the benchmark's."""
    found: bytes = streams.log(name, lines) if name in streams.STREAMS else session_files.log(name, lines)
    return found


NAMES: Final = sorted((*LOOPS, *READS))
"""The formats that are read fast."""
MEASURED: Final = [name for name in NAMES if name in streams.STREAMS or name in session_files.FILES]
