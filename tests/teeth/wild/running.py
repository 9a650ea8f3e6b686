"""Run mutants of real runtimes, and write docs/wild.json: ``python -m wild [RUNTIME…]``.

``--observable N`` ends a runtime when so many mutants changed something, ``--minutes N`` when so much time is over;
``--seed N`` chooses the order. What was tried is kept in .turncheck and not tried again, unless ``--anew``;
``--survivors`` tries those again that no law told. ``--page`` tries none, and writes the files from what was kept.
"""

import argparse
import json
import random
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from turncheck.adapters.targets.runtime_catalog import known
from wild.bench import LOOPS, Bench
from wild.judge import Judge
from wild.mutants import changes, versions
from wild.outcome import STILLBORN, UNSEEN, Measured
from wild.page import DATA, ROOT, write

KEPT = ROOT / ".turncheck"
MATRIX = ROOT / "docs" / "matrix" / "matrix.json"


def run(name: str, asked: argparse.Namespace) -> None:
    """Try mutants of one runtime, in the order that the seed gives."""
    file = KEPT / f"wild-{name}.json"
    kept = None if asked.anew or not file.exists() else msgspec.json.decode(file.read_bytes(), type=Measured)
    with ExitStack() as opened:
        folder = opened.enter_context(TemporaryDirectory(prefix="turncheck-wild-"))
        bench = opened.enter_context(closing(Bench(name, Path(folder))))
        words = bench.recorded(asked.seed)
        lines = bench.lines(words, Path(folder) / "lines")
        found = [one for path in bench.files for one in changes(path, bench.source(path), lines[path])]
        judge = Judge(bench, words, asked.seed, failed=red(name))
        print(f"{name}: {len(found)} mutants in {sum(map(len, lines.values()))} lines, {len(words)} words", flush=True)
        outcomes = list(kept.outcomes) if kept is not None else []
        again = [one for one in outcomes if asked.survivors and one.fate not in {"law", UNSEEN, STILLBORN}]
        outcomes = [one for one in outcomes if one not in again]
        tried = {(one.file, one.operator, one.number) for one in outcomes}
        until = time.monotonic() + 60 * asked.minutes
        random.Random(asked.seed).shuffle(found)
        wanted = {(one.file, one.operator, one.number) for one in again}
        state = commit(), len(found), len(words), judge.failed

        def keep() -> None:
            measured = Measured(name, asked.seed, *state, tuple(outcomes), versions())
            file.write_bytes(msgspec.json.encode(measured))

        found.sort(key=lambda one: (Path(one.file).name, one.operator, one.number) not in wanted)
        for one in found:
            if (Path(one.file).name, one.operator, one.number) in tried:
                continue
            seen = sum(other.fate not in {UNSEEN, STILLBORN} for other in outcomes)
            if seen >= asked.observable or time.monotonic() > until:
                break
            found_out = judge.outcome(one, lines[one.file][one.line])
            if found_out.fate == STILLBORN and (found_out.why or "").startswith("hangs"):
                continue  # a start that takes so long says more of a busy machine: it is tried again in the next run
            outcomes.append(found_out)
            last = outcomes[-1]
            print(
                f"{len(outcomes)} {seen} {last.fate} {last.law or ''} {last.by or ''} {last.before} -> {last.after}",
                flush=True,
            )
            keep()
        keep()


def measured() -> Iterator[Measured]:
    """The outcomes of each runtime: those that were kept, else those that were published."""
    published = {one.runtime: one for one in msgspec.json.decode(DATA.read_bytes(), type=list[Measured])}
    for name in (one for one in known() if one in LOOPS):
        file = KEPT / f"wild-{name}.json"
        if file.exists():
            yield msgspec.json.decode(file.read_bytes(), type=Measured)
        elif name in published:
            yield published[name]


def red(name: str) -> Sequence[str] | None:
    """The laws that a runtime fails unchanged: its red cells in the matrix; None where it has no column there."""
    columns = {one["target"]: one["laws"] for one in json.loads(MATRIX.read_bytes())["results"]}
    return [law["law"] for law in columns[name] if law["verdict"] == "fail"] if name in columns else None


def commit() -> str:
    """The commit of the checkout."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def main(arguments: Sequence[str]) -> int:
    """Run, and write the files; the exit code is 1 where a survivor has no reason."""
    parser = argparse.ArgumentParser(prog="wild", description=__doc__)
    parser.add_argument("runtimes", nargs="*", metavar="RUNTIME", help=", ".join(LOOPS))
    parser.add_argument("--observable", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    for flag in ("--anew", "--survivors", "--page"):
        parser.add_argument(flag, action="store_true")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.runtimes) - LOOPS.keys():
        parser.error(f"not mutated: {', '.join(unknown)}")
    KEPT.mkdir(exist_ok=True)
    if not asked.page:
        for name in asked.runtimes or LOOPS:
            run(name, asked)
    missing = write(list(measured()))
    print(*missing, sep="\n")
    return 1 if missing else 0
