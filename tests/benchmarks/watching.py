"""The cost of a ``Monitor`` an event: in batches as a multiple of the generated loop, and one at a time.

``python tests/benchmarks/watching.py``; table.py prints the same rows.
"""

import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import msgspec

import turncheck
from benchmarks import measure, streams, synthetic
from turncheck.model.core.decode import Batch, decode_lines
from turncheck.model.core.projection import LogProjector

EVENTS = 50_000
TOGETHER = 1000
TURNS = 7


def lines() -> Iterator[str]:
    """The rows of the table."""
    data = synthetic.log(EVENTS)
    events, _ = decode_lines(data)
    ratios = [measure.seconds(_batches, events) / measure.seconds(_loop, events) for _ in range(TURNS)]
    ratio = statistics.median(ratios)
    yield f"| `Monitor`, {TOGETHER:,} events at once, by the loop alone | **{ratio:.2f}** | | 2 | | |"
    ours = data.splitlines()
    subjects: dict[str, tuple[str, Sequence[Any]]] = {
        "events of the core": ("turncheck", events),
        "objects": ("turncheck", [msgspec.json.decode(line) for line in ours]),
        "lines": ("turncheck", ours),
        **{f"lines of {name}": (name, streams.log(name, EVENTS).splitlines()) for name in ("ag-ui", "ai-sdk")},
    }
    for name, (form, values) in subjects.items():
        took = [measure.seconds(_one_by_one(form), values) for _ in range(TURNS)]
        each = statistics.median(took) / len(values) * 1e6
        yield f"| `Monitor`, {name}, one at a time | **{each:.1f} µs** | | 5 | | |"


def _loop(events: Any) -> object:
    return LogProjector().feed(Batch(events, range(len(events))))


def _batches(events: Any) -> object:
    monitor = turncheck.Monitor()
    for at in range(0, len(events), TOGETHER):
        monitor.feed_all(events[at : at + TOGETHER], session="a")
    return monitor


def _one_by_one(form: str) -> Callable[[Sequence[Any]], object]:
    def fed(values: Sequence[Any]) -> object:
        monitor = turncheck.Monitor(format_name=form)
        for value in values:
            monitor.feed(value, session="a")
        return monitor

    return fed


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
