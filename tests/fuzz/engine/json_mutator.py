"""A mutator that knows lines and the tokens of JSON: mutated bytes seldom stay JSON, and reach little code.

One change per call: to the order of lines, to one line's tokens, or, now and then, to the bytes.
"""

import random
import re
from collections.abc import Sequence
from typing import Final

_TOKEN: Final = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
_PAIR: Final = re.compile(rb'"(?:[^"\\\n]|\\.)*"\s*:\s*("(?:[^"\\\n]|\\.)*"|[-\w.+]+|\[\]|\{\}),?')
_LITERALS: Final = (
    *(b"null", b"true", b"false", b"0", b"-1", b"1", b"[]", b"{}", b"1.5", b"-0", b"1e999", b"NaN", b"2027-01-31"),
    *(b"18446744073709551616", b"9" * 400, b"9" * 5000),
    *(b"[1]", b"[[]]", b"[{}]", b'{"hunter2":["hunter2"]}'),
    *(b'""', b'"hunter2"', b'"\\ud83d"', b'"\\u0000"', b'"\xff"', b'"\xc3\xa9"'),
)
_PARTS: Final = (
    *(b"\r", b" ", b"\t", b"\x00", b"\xef\xbb\xbf", b",", b"[", b"]", b"{", b"}", b"#"),
    *(b"data: ", b"data:", b"event: x", b": ping", b"[DONE]"),
)
_WINDOW: Final = 512
"""Bytes of a long line that are looked at: all 4 kB of a counterexample's take 120 µs, half as long as judging it."""
_DEPTHS: Final = (3, 150, 199, 201, 900, 985, 1100)


class Mutator:
    """A custom mutator for libFuzzer; *lines* are pieces of known inputs.

    ``atheris.Mutate`` would hand bytes to libFuzzer's own mutator; in atheris 3.0.0 it ends the process.
    """

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines or [b""]
        self._tokens = sorted({token for line in lines for token in _TOKEN.findall(line)}) or [b"0"]

    def __call__(self, data: bytes, max_size: int, seed: int) -> bytes:
        """Return *data* with one change, of *max_size* bytes at most."""
        draw = random.Random(seed)
        kind = draw.random()
        if kind < 0.1 or not data:
            return _bytes(data, draw)[:max_size]
        lines = data.split(b"\n")
        if kind < 0.4:
            self._order(lines, draw)
        else:
            at = draw.randrange(len(lines))
            lines[at] = self._line(lines[at], draw)
        return b"\n".join(lines)[:max_size]

    def _order(self, lines: list[bytes], draw: random.Random) -> None:
        at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        match draw.randrange(6):
            case 0:
                lines[at], lines[other] = lines[other], lines[at]
            case 1:
                lines.insert(at, lines[other])
            case 2:
                del lines[at]
            case 3:
                lines[at] = draw.choice(self._lines)
            case 4:
                lines.insert(at, draw.choice((b"", draw.choice(_PARTS))))
            case _:
                lines.insert(at, draw.choice(self._lines))

    def _line(self, line: bytes, draw: random.Random) -> bytes:
        kind = draw.randrange(12)
        if kind == 0:
            return line[: draw.randrange(len(line) + 1)]
        if kind == 1:
            at = draw.randrange(len(line) + 1)
            return line[:at] + draw.choice(_PARTS) + line[at:]
        if kind in {2, 3}:
            return self._pair(line, draw)
        tokens = [found.span() for found in _TOKEN.finditer(line, *_window(line, draw))]
        if not tokens:
            return draw.choice(self._lines)
        begin, end = draw.choice(tokens)
        new: bytes
        if kind == 4:
            new = draw.choice(_LITERALS)
        elif kind == 5:
            first, last = draw.choice(tokens)
            new = line[first:last]
        elif kind == 6:
            depth = draw.choice(_DEPTHS)
            new = b"[" * depth + line[begin:end] + b"]" * depth
        elif kind == 7:
            new = _bytes(line[begin:end], draw)
        else:
            new = draw.choice(self._tokens)
        return line[:begin] + new + line[end:]

    def _pair(self, line: bytes, draw: random.Random) -> bytes:
        pairs = list(_PAIR.finditer(line, *_window(line, draw)))
        if not pairs:
            return line[::-1]
        pair = draw.choice(pairs)
        begin, end = pair.span()
        new: bytes
        match draw.randrange(3):
            case 0:
                new = b""
            case 1:
                new = pair.group().rstrip(b",") + b"," + pair.group()
            case _:
                value = draw.choice((draw.choice(_LITERALS), draw.choice(self._tokens)))
                new = draw.choice(self._tokens) + b":" + value + b"," + pair.group()
        return line[:begin] + new + line[end:]


def _window(line: bytes, draw: random.Random) -> tuple[int, int]:
    """Draw a part of a line, from a comma on: most commas stand between tokens."""
    if len(line) <= _WINDOW:
        return 0, len(line)
    begin = line.find(b",", draw.randrange(len(line) - _WINDOW)) + 1
    return begin, begin + _WINDOW


def _bytes(data: bytes, draw: random.Random) -> bytes:
    """Change, insert, drop or repeat some bytes."""
    at = draw.randrange(len(data) + 1)
    end = at + draw.randrange(1, 9)
    match draw.randrange(5):
        case 0:
            return data[:at] + draw.randbytes(1) + data[at + 1 :]
        case 1:
            return data[:at] + draw.randbytes(end - at) + data[at:]
        case 2:
            return data[:at] + data[end:]
        case 3:
            return data[:end] + data[at:]
        case _:
            return data[:at] + bytes(byte ^ 1 << draw.randrange(8) for byte in data[at : at + 1]) + data[at + 1 :]
