"""Run a machine's mutants, in parallel parts."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from ...verify.subjects.projector import EXAMPLES
from .killing import Kills, kills
from .mutants_as_targets import Judged, judged, reached
from .report import Report, reported


def run(
    machine: str,
    *,
    seeds: Sequence[int],
    examples: int = EXAMPLES,
    every: int = 1,
    verified: int = 1,
    verify_seeds: int = 1,
    jobs: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Run every *every*-th mutant of the machine called *machine*, in *jobs* processes (default: one per processor).

    If mutants can run as targets, `verify` judges every *verified*-th of them too, under the first *verify_seeds* of
    the seeds; this takes most of the time.
    """
    count = jobs or os.cpu_count() or 1
    part = partial(
        _part,
        machine,
        seeds=tuple(seeds),
        verify_seeds=tuple(seeds)[:verify_seeds],
        examples=examples,
        steps=(every, verified),
        count=count,
    )
    found: list[tuple[Kills, list[Judged]]] = []
    with ProcessPoolExecutor(count) as pool:
        for done, some in enumerate(pool.map(part, range(count)), 1):
            found += some
            progress(f"{done} of {count} parts")
    found.sort(key=lambda pair: pair[0].number)
    return reported(machine, [one for one, _ in found], {one.name: told for one, told in found if told}, seeds)


def _part(
    machine: str,
    number: int,
    *,
    seeds: Sequence[int],
    verify_seeds: Sequence[int],
    examples: int,
    steps: tuple[int, int],
    count: int,
) -> list[tuple[Kills, list[Judged]]]:
    """Return mutants with the methods that kill them, and the verdicts of `verify` (none where it was not run)."""
    every, verified = steps
    found: list[tuple[Kills, list[Judged]]] = []
    for mutant, one in kills(machine, seeds=seeds, examples=examples, every=every, part=(number, count)):
        asked = not (mutant.number // every) % verified and reached(mutant) and not one.equivalent
        told = judged(mutant, one.tables, seeds=verify_seeds, examples=examples) if asked else ()
        found.append((one, [*told]))
    return found
