"""Print how fast each format is judged: ``formats.py [EVENTS]``, 30,000 by default.

From bytes to the verdict, by processor time, beside a generic msgspec decode of the same lines, by turns in one run.
The first row is turncheck's own format, beside the frozen yardstick too.
"""

import statistics
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import streams, synthetic, yardstick
from benchmarks.measure import seconds
from turncheck.conformance.check.judge import check

EVENTS = 30_000
TURNS = 7
DECODER = msgspec.json.Decoder()


def lines(events: int) -> Iterator[str]:
    """The table in Markdown, a line at a time."""
    yield f"| {events:,} lines → verdict | by a generic decode | a line | generic decode | lines a second |"
    yield "| --- | --- | --- | --- | --- |"
    own = synthetic.log(events)
    pairs = [(seconds(yardstick.decode, own), seconds(judged, own)) for _ in range(TURNS)]
    frozen = statistics.median(subject / base for base, subject in pairs)
    yield row(f"turncheck ({frozen:.2f} by the frozen yardstick)", own)
    for name in streams.STREAMS:
        yield row(name, streams.log(name, events))


def row(name: str, data: bytes) -> str:
    """A row of the table."""
    count = data.count(b"\n")
    pairs = [(seconds(generic, data), seconds(judged, data)) for _ in range(TURNS)]
    ratio = statistics.median(subject / base for base, subject in pairs)
    base, subject = (statistics.median(column) for column in zip(*pairs, strict=True))
    each = f"{subject / count * 1e6:.2f} µs | {base / count * 1e9:.0f} ns"
    return f"| {name} | **{ratio:.1f}** | {each} | {count / subject:,.0f} |"


def judged(data: bytes) -> None:
    """From bytes to the verdict, which is right."""
    result = check("log", BytesIO(data), strict=False)
    assert not result.findings or result.format == "turncheck", result.findings[:3]


def generic(data: bytes) -> None:
    """Decode all lines as plain values, a block at a time."""
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + yardstick.CHUNK) + 1 or len(data)
        DECODER.decode_lines(data[start:end])
        start = end


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS):
        print(line, flush=True)
