"""Run all mutants, two at a time, and write docs/mutation.md.

``--resume`` goes on where the last run ended, ``--survivors`` runs those again that survived, ``--report`` runs none.
Exits 1 where a survivor has no reason in plan.toml, or a reason no survivor.
"""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from mutation.judge import ROOT, SURVIVED, Bench
from mutation.mutants import Mutant, mutants
from mutation.plan import Outcome, Plan
from mutation.report import PAGE, page

RESULTS = ROOT / ".turncheck" / "mutation.jsonl"
WORKERS = 2


@cache
def bench(folder: str) -> Bench:
    """This process's own copy of the packages."""
    return Bench(Path(folder) / str(os.getpid()))


def outcome(folder: str, plan: Plan, mutant: Mutant) -> Outcome:
    """Return the fate of one mutant."""
    return Outcome(mutant, *bench(folder).held(mutant, plan.faces(mutant)))


def wanted(plan: Plan) -> Iterator[Mutant]:
    """The mutants that a face can show."""
    for module in plan.modules:
        for mutant in mutants(module, (ROOT / f"{module}.py").read_text("utf-8")):
            if plan.faces(mutant):
                yield mutant


def run(plan: Plan, todo: Sequence[Mutant]) -> Iterator[Outcome]:
    """Hold mutants to the laws, two at a time; each is told as soon as it and those before it are done."""
    started = time.monotonic()
    with TemporaryDirectory() as folder, ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        for number, one in enumerate(pool.map(partial(outcome, folder, plan), todo), 1):
            yield one
            if number % 50 == 0:
                print(f"{number}/{len(todo)} mutants, {time.monotonic() - started:.0f} s", flush=True)


def main(arguments: list[str]) -> int:
    """Run, or take the last run; write the page; the exit code."""
    plan = Plan()
    RESULTS.parent.mkdir(exist_ok=True)
    known = {one.mutant: one for one in _read()} if RESULTS.exists() and arguments else {}
    again = {mutant for mutant, one in known.items() if one.fate == SURVIVED and "--survivors" in arguments}
    todo = [mutant for mutant in wanted(plan) if mutant not in known or mutant in again]
    if "--report" not in arguments:
        with RESULTS.open("ab" if arguments else "wb") as file:
            for one in run(plan, todo):
                file.write(msgspec.json.encode(one) + b"\n")
                file.flush()
    text, missing = page(list({one.mutant: one for one in _read()}.values()), plan)
    PAGE.write_text(text, "utf-8")
    print(*missing, sep="\n")
    return 1 if missing else 0


def _read() -> list[Outcome]:
    return [msgspec.json.decode(line, type=Outcome) for line in RESULTS.read_bytes().splitlines()]
