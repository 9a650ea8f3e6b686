"""How `check -j` shares a fleet of logs, and one large log: ``fleet.py [FILES [EVENTS [TURNS]]]``.

100 files of 100,000 events by default; ``fleet.py 1000 100000 1`` is 10^8 events. One process and as many as processors
take turns on the same files, by the clock: sharing is for that. The files have 10 contents, linked under as many names
as needed; the large log is all files in a row.
"""

import os
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


def lines(files: int, events: int, turns: int) -> Iterator[str]:
    """The table in Markdown, a line at a time."""
    with tempfile.TemporaryDirectory() as folder:
        logs = written(Path(folder, "fleet"), files, events)
        size = sum(path.stat().st_size for path in logs)
        yield f"{files * events:,} events, {size / 1e9:.2f} GB; load {os.getloadavg()[0]:.1f}"
        yield "| logs | processes | seconds | processor seconds | events a second | by one process | peak memory |"
        yield "| --- | --- | --- | --- | --- | --- | --- |"
        yield from rows(f"{files} files", Path(folder, "fleet"), files * events, turns)
        yield from rows("one file", joined(logs, Path(folder, "one.jsonl")), files * events, turns)


def rows(name: str, path: Path, events: int, turns: int) -> Iterator[str]:
    """The rows of one subject: the least of each number of processes."""
    jobs = sorted({1, 2, os.cpu_count() or 1})
    found = [[ran(str(path), count) for count in jobs] for _ in range(turns)]
    assert len({ran.out for turn in found for ran in turn}) == 1, "the outputs differ"
    alone = min(turn[0][0] for turn in found)
    for number, count in enumerate(jobs):
        seconds, processor = (min(turn[number][part] for turn in found) for part in (0, 1))
        peak = max(turn[number].peak for turn in found)
        yield (
            f"| {name} | {count} | {seconds:.1f} | {processor:.1f} | {events / seconds:,.0f} | {alone / seconds:.2f}"
            f" | {peak:.0f} MB |"
        )


def written(folder: Path, files: int, events: int) -> list[Path]:
    """Write the fleet; return its paths."""
    folder.mkdir()
    for number in range(min(files, CONTENTS)):
        with Path(folder, f"{number:06}.jsonl").open("wb") as file:
            file.writelines(synthetic.lines(events, seed=number))
    for number in range(CONTENTS, files):
        Path(folder, f"{number:06}.jsonl").hardlink_to(Path(folder, f"{number % CONTENTS:06}.jsonl"))
    return sorted(folder.iterdir())


def joined(logs: list[Path], path: Path) -> Path:
    """Write all logs in a row to *path*, where they are removed meanwhile: both may not fit on the disk."""
    with path.open("wb") as file:
        for log in logs:
            file.write(log.read_bytes())
            log.unlink()
    return path


class Ran(tuple[float, float]):
    """Seconds by the clock and of the processors; ``out`` is what was printed, ``peak`` the MB of any process."""

    out: bytes
    peak: float


def ran(path: str, jobs: int) -> Ran:
    """Judge the logs, in a process that has no other children."""
    command = [sys.executable, "-m", "turncheck.conformance", "check", path, "-j", str(jobs)]
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", _MEASURED, *command], capture_output=True, check=True)
    seconds = time.monotonic() - started
    out, _, used = done.stdout.rpartition(b"\n")
    processor, peak = map(float, used.split())
    found = Ran((seconds, processor))
    found.out, found.peak = out, peak
    return found


_MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True)
assert done.returncode in (0, 1), done.stderr.decode()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stdout.buffer.write(done.stdout + b"\\n%f %f" % (used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
"""
"""Runs a command; prints what it prints, and its processor seconds and peak of MB, those of its children too."""


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    for line in lines(*given, *(100, 100_000, TURNS)[len(given) :]):
        print(line, flush=True)
