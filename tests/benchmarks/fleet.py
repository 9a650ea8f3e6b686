"""How `check -j` shares a fleet of logs, and one large log: ``fleet.py [FILES [EVENTS [TURNS]]]``.

``fleet.py clock`` prints how many times as fast two processes are as one, by the clock, in two minutes of a quiet
machine. ``fleet.py memory [LINES [FORMAT …]]`` prints the peak memory of a check of so many lines, 10^6 by default, of
each format; nothing is written to a disk.

100 files of 100,000 events by default; ``fleet.py 1000 100000 1`` is 10^8 events. One process and as many as processors
take turns on the same files, by the clock: sharing is for that. The files have 10 contents, linked under as many names
as needed; the large log is all files in a row.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import streams, synthetic
from benchmarks.session_files.registry import FILES

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


def clock(files: int = 100, events: int = 100_000, turns: int = 9) -> Iterator[str]:
    """Yield the row of the table of targets: the median of ratios by turns, and their range without the ends."""
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder, "fleet"), files, events)
        path = str(Path(folder, "fleet"))
        ran(path, 1)  # the files are in memory now
        yield f"load {os.getloadavg()[0]:.1f}; {files} files of {events:,} events"
        ratios: list[float] = []
        for turn in range(turns):
            order = (1, 2) if turn % 2 else (2, 1)
            found = {jobs: ran(path, jobs)[0] for jobs in order}
            ratios.append(found[1] / found[2])
        low, high = sorted(ratios)[1], sorted(ratios)[-2]
        yield "| by the clock | times as fast | interval | first target | goal |"
        yield "| --- | --- | --- | --- | --- |"
        middle = statistics.median(ratios)
        yield f"| n files, two processes over one | **{middle:.2f}** | {low:.2f} to {high:.2f} | 1.8 | 1.95 |"


def memory(least: int = 1_000_000, names: Sequence[str] = ()) -> Iterator[str]:
    """Yield the table of peak memory, in Markdown."""
    yield "| format | lines | events | peak memory |"
    yield "| --- | --- | --- | --- |"
    for name in names or ("turncheck", *streams.STREAMS, *FILES):
        command = [sys.executable, "-m", "turncheck.conformance", "check", "-", "--json"]
        with subprocess.Popen(
            [sys.executable, "-c", _MEASURED, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as done:
            assert done.stdin is not None
            assert done.stdout is not None
            with done.stdin:
                done.stdin.writelines(synthetic.lines(least) if name == "turncheck" else islice(endless(name), least))
            out, _, used = done.stdout.read().rpartition(b"\n")
        found = json.loads(out)
        yield f"| {name} | {least:,} | {found['events']:,} | {float(used.split()[1]):.0f} MB |"


def endless(name: str) -> Iterator[bytes]:
    """Yield lines of a format, run after run; a stream of the AI SDK ends with its mark."""
    encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
    made = streams.STREAMS.get(name) or FILES[name]
    number = 0
    while True:
        number += 1
        yield from (encode(event).encode() + b"\n" for event in made(number))
        if name == "ai-sdk":
            yield b'{"type":"finish","finishReason":"stop"}\n[DONE]\n'


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


def main(given: Sequence[str]) -> Iterator[str]:
    """Yield the lines that the command line asks for."""
    match given:
        case ["clock"]:
            return clock()
        case ["memory"]:
            return memory()
        case ["memory", least, *names]:
            return memory(int(least), names)
        case _:
            numbers = [int(text) for text in given]
            return lines(*numbers, *(100, 100_000, TURNS)[len(numbers) :])


if __name__ == "__main__":
    for line in main(sys.argv[1:]):
        print(line, flush=True)
