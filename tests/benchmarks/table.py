"""Print the performance table; ``--large`` adds the two rows on 10^7 events (minutes, and 1.3 GB of log on disk)."""

import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import driving, measure, synthetic, watching
from benchmarks.measure import ROWS, Row

EVENTS = 100_000
KIT = Path(__file__).parents[1] / "adapters" / "kit"
NULL = {
    "Python": f"cmd:{shlex.join([sys.executable, str(KIT / 'null_runtime.py')])}",
    "JavaScript": f"cmd:{shlex.join(['node', str(KIT / 'js' / 'null_runtime.mjs')])}",
}
LARGE = 10_000_000
FEW = 8
"""Times that the small log is projected before the large one, and after it: the host's speed changes meanwhile."""

_PROJECT = """
import sys, time
from turncheck.adapters.logs.reading import read_log
from turncheck.model.core.projection import LogProjector
sessions, started = LogProjector(), time.process_time()
with open(sys.argv[1], "rb") as stream:
    for chunk in read_log(stream).chunks:
        sessions.feed(chunk.batch)
print(time.process_time() - started)
"""


def lines() -> Iterator[str]:
    """The table in Markdown, a line at a time."""
    yield f"| bytes → …, {EVENTS:,} events | by decoding | middle half | first target | goal | decoding itself |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in ROWS:
        found = measure.ratio(row, EVENTS)
        middle = f"{found.low:.2f} to {found.high:.2f}"
        goals = f"{row.target or ''} | {row.goal or ''}"
        yield f"| {row.name} | **{found.ratio:.2f}** | {middle} | {goals} | {found.decode:.0f} ns |"
    found = measure.ratio(Row("", measure.by_transitions, None, None), 10_000, 3)
    yield f"| driving `transitions` with the same rows (printed, not targeted) | {found.ratio:.0f} | | | | |"
    own = driving.per_stimulus(300)
    yield f"| harness's own time a stimulus, generation and all laws | **{own:.2f} ms** | | 0.5 | 0.4 | |"
    for language, command in NULL.items():
        rate = driving.per_second(command, 300)
        yield f"| stimuli a second, null target in {language}, all laws | **{rate:,.0f}** | | 2,000 | | |"
    yield from watching.lines()
    if "--large" in sys.argv[1:]:
        yield from large()


def large() -> Iterator[str]:
    """Flatness and memory, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        small, big = Path(folder, "small.jsonl"), Path(folder, "big.jsonl")
        for path, events in ((small, EVENTS), (big, LARGE)):
            with path.open("wb") as file:
                file.writelines(synthetic.lines(events))
        before = [projected(small) for _ in range(FEW)]
        many = projected(big)
        few = statistics.median([*before, *(projected(small) for _ in range(FEW))])
        flat = (many / LARGE) / (few / EVENTS)
        yield f"| time per event, 10^7 over 10^5 events, streaming | **{flat:.2f}** | | 1.15 | 1.15 | |"
        check = [sys.executable, "-m", "turncheck.conformance", "check", str(big)]
        yield f"| resident memory, `check`, 10^7 events | **{memory(check):.0f} MB** | | 60 MB | 40 MB | |"


def projected(path: Path) -> float:
    """Seconds of processor time that the projection of a log takes in a process of its own."""
    done = subprocess.run([sys.executable, "-c", _PROJECT, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def memory(command: list[str]) -> float:
    """Peak resident megabytes of a process."""
    watch = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", watch, *command], capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
