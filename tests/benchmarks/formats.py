"""Print the table of formats, that of streams as servers send them, and AG-UI's peers: bytes → verdict.

The peers need tests/ag_ui/node_modules.
``verifyEvents`` 1.0.0 runs in one Node process, which is warm from the second log on; ag-ui-validate 0.4.0 is given
what msgspec decodes. All have the same log by turns, and what counts is processor time.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import msgspec
from ag_ui_validate import create_validator

from benchmarks import measure, streams
from benchmarks.measure import ROWS

NODE = ["node", "time.mjs"]
AG_UI = Path(__file__).parents[1] / "ag_ui"
LINES = 100_000
ROUNDS = 7


def formats() -> Iterator[str]:
    """The rows of the formats, in Markdown."""
    yield f"| {LINES:,} lines → verdict | by generic decode | middle half | a line | the decode | first target | goal |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for row in ROWS:
        if row.stream is not None or row.file is not None:
            found = measure.ratio(row, LINES)
            middle = f"{found.low:.2f} to {found.high:.2f}"
            each = f"{found.ratio * found.decode / 1000:.2f} µs | {found.decode:.0f} ns"
            name, goals = row.name.removesuffix(" → verdict"), f"{row.target or ''} | {row.goal or ''}"
            yield f"| {name} | **{found.ratio:.2f}** | {middle} | {each} | {goals} |"


def as_sent() -> Iterator[str]:
    """The streams as servers write them, by a decode of the same values as compact lines, in Markdown."""
    names = ("ag-ui", *(name for name in measure.SENT if name != "ag-ui"))
    yield f"| {LINES:,} lines → verdict, by a generic decode | {' | '.join(names)} |"
    yield f"| --- {'| --- ' * len(names)}|"
    logs = [streams.log(name, LINES) for name in names]
    for way, write in streams.SENT_AS.items():
        found = [_middle(data, write(data)) for data in logs]
        yield f"| {way} | {' | '.join(found)} |"


def _middle(plain: bytes, written: bytes) -> str:
    pairs = [
        measure.seconds(measure.judged, written) / measure.seconds(measure.yardstick.generic, plain)
        for _ in range(ROUNDS)
    ]
    return f"{statistics.median(pairs):.2f}"


def peers() -> Iterator[str]:
    """AG-UI's peers, in Markdown."""
    data = streams.log("ag-ui", LINES)
    with verifier(data) as verify_events:
        rounds = [(measure.seconds(measure.judged, data), verify_events(), validate(data)) for _ in range(ROUNDS + 1)]
    yield f"| AG-UI, {LINES:,} lines → verdict | a line | turncheck ÷ it | first target | goal |"
    yield "| --- | --- | --- | --- | --- |"
    rows = (
        ("turncheck", None, None),
        ("`verifyEvents` 1.0.0 with JSON.parse", 0.15, 0.1),
        ("ag-ui-validate 0.4.0 with a decode", 0.06, 0.04),
    )
    for place, (name, target, goal) in enumerate(rows):
        warm = rounds[1:]
        each = statistics.median(one[place] for one in warm) / data.count(b"\n") * 1e6
        ratio = statistics.median(one[0] / one[place] for one in warm)
        yield f"| {name} | {each:.2f} µs | **{ratio:.3f}** | {target or ''} | {goal or ''} |"


@contextmanager
def verifier(data: bytes) -> Iterator[Callable[[], float]]:
    """A function that lets ``verifyEvents`` read the log, and returns its seconds."""
    with (
        tempfile.NamedTemporaryFile(suffix=".jsonl") as file,
        subprocess.Popen(NODE, cwd=AG_UI, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node,
    ):
        file.write(data)
        file.flush()
        asked, told = node.stdin, node.stdout
        assert asked is not None
        assert told is not None

        def seconds() -> float:
            asked.write(f"{file.name}\n")
            asked.flush()
            answer = json.loads(told.readline())
            assert answer["why"] is None, answer["why"]
            return float(answer["seconds"])

        yield seconds
        asked.close()


def validate(data: bytes) -> float:
    """The seconds of ag-ui-validate."""
    decode = msgspec.json.Decoder().decode

    def validated(log: bytes) -> None:
        validator = create_validator()
        for line in log.splitlines():
            validator.feed(decode(line))
        validator.finalize()
        assert not [found for found in validator.report().diagnostics if found.severity == "error"]

    return float(measure.seconds(validated, data))


if __name__ == "__main__":
    for part in (formats, as_sent, peers):
        for line in part():
            print(line, flush=True)
        print()
