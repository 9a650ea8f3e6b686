"""The gate on the hot path: each row's ratio to the yardstick against ``baseline.json``; ``--update`` writes that anew.

A row has become slower where even the lower end of its interval lies above the committed upper end times TOLERANCE.
Both ends are order statistics: with 15 repetitions, the 4th and the 12th hold the median with a probability of 96 %,
whatever the distribution. Only ratios of one run are compared; nothing here is a timed test, and `make test` does not
run it.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import measure
from benchmarks.measure import ROWS

BASELINE = Path(__file__).with_name("baseline.json")
EVENTS = 100_000
REPETITIONS = 15
RANK = 4
"""The interval's ends are the fourth smallest and the fourth greatest of the ratios."""
TOLERANCE = 1.15
"""Unchanged code moved by 11 % at most between a quiet machine and a load of 2.5 a core (docs/performance.md)."""
BUSY = 2.5
"""The load a core above which nothing is judged: at 6, unchanged code moved by 29 to 50 %."""


@dataclass(frozen=True)
class Interval:
    """The median of a row's ratios, and the interval that holds the true one."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


def interval(ratios: list[float]) -> Interval:
    """Return the interval of one row's ratios, in any order; at least twice RANK of them."""
    ordered = sorted(ratios)
    return Interval(*(round(ordered[place], 3) for place in (len(ordered) // 2, RANK - 1, -RANK)))


def slower(now: Interval, committed: Interval) -> bool:
    """Return whether *now* lies wholly above the committed interval, beyond the tolerance."""
    return now.low > committed.high * TOLERANCE


def read(text: str) -> dict[str, Interval]:
    """The committed intervals by row. Raises ValueError, KeyError and TypeError for a text that is no baseline."""
    return {name: Interval(**ends) for name, ends in json.loads(text)["rows"].items()}


def written(rows: Mapping[str, Interval], load: float) -> str:
    """Return the text of ``baseline.json``; *load* per core is noted for the reader."""
    what = f"ratios to the yardstick, {EVENTS} events, {REPETITIONS} pairs: tests/benchmarks/gate.py"
    found = {"of": what, "load": round(load, 1), "rows": {name: asdict(row) for name, row in rows.items()}}
    return json.dumps(found, indent=2) + "\n"


def load_a_core() -> float:
    """Return the load average of the last minute, per core."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def compared(now: Mapping[str, Interval], committed: Mapping[str, Interval]) -> Iterator[str]:
    """Yield a line for each row that fails: slower, or present in only one of the two."""
    for name in now.keys() | committed.keys():
        if name not in committed:
            yield f"{name}: not in the baseline; --update writes it"
        elif name not in now:
            yield f"{name}: in the baseline, and no row any more; --update takes it out"
        elif slower(now[name], committed[name]):
            yield f"{name}: {now[name]}, committed {committed[name]}: above it by more than {TOLERANCE:.2f}"


def main(arguments: list[str]) -> int:
    """Measure, print, and compare or write; return 1 if a row has become slower, 2 if that cannot be judged."""
    load = load_a_core()
    update = "--update" in arguments
    try:
        committed = {} if update else read(BASELINE.read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"{BASELINE} cannot be read: {error}; `gate.py --update` writes it", file=sys.stderr)
        return 2
    if load > BUSY and not update:
        print(f"the machine is busy (load {load:.1f} a core, {BUSY} at most): nothing is judged", file=sys.stderr)
        return 2
    now: dict[str, Interval] = {}
    for row in ROWS:
        now[row.name] = interval([subject / base for base, subject in measure.pairs(row, EVENTS, REPETITIONS)])
        beside = f", committed {committed[row.name]}" if row.name in committed else ""
        print(f"{row.name}: {now[row.name]}{beside}", flush=True)
    if update:
        BASELINE.write_text(written(now, load), "utf-8")
        return 0
    failed = sorted(compared(now, committed))
    for line in failed:
        print(line, file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
