"""What this process holds, and whether it has grown."""

import gc
import os
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Final

from turncheck.adapters.protocol.processes.supervisor import descendants

WARM: Final = 0.25
"""The share of the samples that is left out: caches fill, and the allocator finds its size."""
TOLERANCE: Final = {"megabytes": 4.0}
"""How much more may be there at the end, where it is not nothing. Memory of a process that leaks nothing moved by two
megabytes either way within two minutes."""


@dataclass(frozen=True)
class Sample:
    """One look, after so many seconds and runs; memory is resident, ``files`` are temporary ones."""

    seconds: int
    runs: int
    megabytes: float
    descriptors: int
    processes: int
    threads: int
    files: int


GROWING: Final = tuple(field.name for field in fields(Sample)[2:])


def look(seconds: float, runs: int, allowed: Sequence[int]) -> Sample:
    """Look at this process; the processes *allowed* are not its own."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Sample(
        int(seconds),
        runs,
        round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1),
        len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - it counts names
        len({row.pid for row in descendants(os.getpid())} - set(allowed)),
        threading.active_count(),
        sum(len(files) for _, _, files in os.walk(tempfile.gettempdir())),
    )


def grown(samples: Sequence[Sample]) -> list[str]:
    """Say what has grown: the median of the last third is above that of the first third after the warm-up."""
    warm = samples[int(len(samples) * WARM) :]
    third = max(len(warm) // 3, 1)
    found: list[str] = []
    for name in GROWING:
        first, last = (median(getattr(one, name) for one in part) for part in (warm[:third], warm[-third:]))
        if last > first + TOLERANCE.get(name, 0):
            found.append(f"{name} grew from {first:g} to {last:g}")
    return found
