"""How `check -j` shares a fleet of logs: ``fleet.py [FILES [EVENTS]]``, 100 files of 100,000 events by default.

One process and as many as processors take turns on the same files, by the clock: sharing is for that. The files have
10 contents, linked under as many names as needed.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import synthetic

CONTENTS = 10
TURNS = 3
"""Measurements of each number of processes, by turns: the host's speed changes meanwhile."""


def lines(files: int, events: int) -> Iterator[str]:
    """The table in Markdown, a line at a time."""
    with tempfile.TemporaryDirectory() as folder:
        logs = written(Path(folder), files, events)
        size = sum(path.stat().st_size for path in logs)
        yield f"{files} files, {files * events:,} events, {size / 1e9:.2f} GB; load {os.getloadavg()[0]:.1f}"
        yield "| processes | seconds | processor seconds | events a second |"
        yield "| --- | --- | --- | --- |"
        jobs = sorted({1, 2, os.cpu_count() or 1})
        found = [[ran(folder, count) for count in jobs] for _ in range(TURNS)]
        assert len({ran.out for turn in found for ran in turn}) == 1, "the outputs differ"
        for number, count in enumerate(jobs):
            seconds, processor = (min(turn[number][part] for turn in found) for part in (0, 1))
            yield f"| {count} | {seconds:.1f} | {processor:.1f} | {files * events / seconds:,.0f} |"
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        yield f"peak of any process: {peak:.0f} MB"


def written(folder: Path, files: int, events: int) -> list[Path]:
    """Write the fleet; return its paths."""
    for number in range(min(files, CONTENTS)):
        with Path(folder, f"{number:06}.jsonl").open("wb") as file:
            file.writelines(synthetic.lines(events, seed=number))
    for number in range(CONTENTS, files):
        Path(folder, f"{number:06}.jsonl").hardlink_to(Path(folder, f"{number % CONTENTS:06}.jsonl"))
    return sorted(folder.iterdir())


class Ran(tuple[float, float]):
    """Seconds by the clock and of the processors; ``out`` is what was printed."""

    out: bytes


def ran(folder: str, jobs: int) -> Ran:
    """Judge the fleet."""
    before, started = children(), time.monotonic()
    command = [sys.executable, "-m", "turncheck.conformance", "check", folder, "-j", str(jobs)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    found = Ran((time.monotonic() - started, children() - before))
    found.out = done.stdout
    return found


def children() -> float:
    """The processor seconds of the processes that have ended, of all levels."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    for line in lines(*given, *(100, 100_000)[len(given) :]):
        print(line, flush=True)
