"""The cost of a ``Monitor`` an event: in batches as a multiple of the generated loop, and one at a time.

``python tests/benchmarks/watching.py``; table.py prints the same rows.
"""

import statistics
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import msgspec

from benchmarks import measure, streams, synthetic
from turncheck.model.core.decode import decode_lines

EVENTS = 50_000
TURNS = 7


def lines() -> Iterator[str]:
    """The rows of the table."""
    data = synthetic.log(EVENTS)
    events = decode_lines(data).events
    ratios = [
        measure.seconds(measure.together, events) / measure.seconds(measure.loop_alone, events) for _ in range(TURNS)
    ]
    ratio = statistics.median(ratios)
    yield f"| `Monitor`, {measure.TOGETHER:,} events at once, by the loop alone | **{ratio:.2f}** | | 2 | | |"
    ours = data.splitlines()
    subjects: dict[str, tuple[str, Sequence[Any]]] = {
        "events of the core": ("turncheck", events),
        "objects": ("turncheck", [msgspec.json.decode(line) for line in ours]),
        "lines": ("turncheck", ours),
        **{f"lines of {name}": (name, streams.log(name, EVENTS).splitlines()) for name in measure.WATCHED},
    }
    for name, (form, values) in subjects.items():
        took = [measure.seconds(partial(measure.one_by_one, form), values) for _ in range(TURNS)]
        each = statistics.median(took) / len(values) * 1e6
        yield f"| `Monitor`, {name}, one at a time | **{each:.1f} µs** | | 5 | | |"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
