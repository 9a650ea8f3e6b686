"""``make variants``: every conforming variant against every law; the table, and exit code 1 where a law alarms."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor

from variants.holding import Held, combined, held, logged, together
from variants.logs import LOGS, SIZES
from variants.registry import MACHINES, PROJECTORS, RUNTIMES, combinations

WORDS, LOGS_EACH = 60, 60
COMBINED = 3
"""Generated words for each of the many combinations of policies, in addition to the directed ones."""
WORKERS = 2


def rows(pool: ProcessPoolExecutor) -> Iterator[tuple[str, str, list[Future[Held]]]]:
    """Yield subject, name, and the runs of each row of the table."""
    for name in RUNTIMES:
        yield "runtime", name, [pool.submit(held, "runtime", name, WORDS)]
    every = list(enumerate(combinations()))
    for machine in MACHINES:
        some = [(number, policies) for number, policies in every if policies["machine"] == machine]
        title = f"{len(some)} combinations of policies, {machine or 'no machine'}"
        yield "runtime", title, [pool.submit(combined, number, policies, COMBINED) for number, policies in some]
    for name in PROJECTORS:
        yield "projector", name, [pool.submit(held, "projector", name, LOGS_EACH)]
    for format_name in LOGS:
        for size, characters in SIZES.items():
            for noise in (False, True):
                title = f"{format_name}, {size}{', events in between' if noise else ''}"
                yield "log", title, [pool.submit(logged, format_name, characters, noise=noise)]


def main() -> int:
    """Print the table; return the exit code."""
    started, alarms, count = time.monotonic(), 0, 0
    print(f"{'variant':58} {'passed':>7} {'skipped':>8} {'no evidence':>12} {'findings':>9}")
    with ProcessPoolExecutor(WORKERS) as pool:
        for subject, name, runs in list(rows(pool)):
            one = together([run.result() for run in runs])
            count, alarms = count + len(runs), alarms + len(one.findings)
            title = f"{subject} {name}"
            print(f"{title:58} {one.passed:7} {one.skipped:8} {one.inconclusive:12} {len(one.findings):9}")
            print(
                *(f"    {finding}" for finding in one.findings[:5]),
                sep="\n",
                end="\n" if one.findings else "",
                flush=True,
            )
    print(f"{count} variants, {alarms} findings, {time.monotonic() - started:.0f} s")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
