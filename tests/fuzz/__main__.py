"""``make fuzz``: each target under atheris in its own process; a line of figures per target, exit code 1 for a finding.

The folder ``build/fuzz/TARGET`` has ``corpus``, which grows from run to run, and ``broken-*``, which break a promise.
A run that is ended goes on where it was: ``figures.jsonl`` says how many inputs each target had.
"""

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz import corpus
from fuzz.engine import figures
from fuzz.targets import TARGETS

MEGABYTES, SECONDS = 1024, 900
"""Limits: memory of the process, wall time for an input. A busy host starves a process of the lowest priority for
minutes: the limit of processor time is 2 s ((``engine/one.py``))."""


def main() -> int:
    """Fuzz the named targets, or all; return the exit code."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs to each target, in all its runs")
    parser.add_argument("--seconds", type=int, default=0, help="at most, for each target; 0: no limit")
    parser.add_argument("--write", action="store_true", help="write what was learned into tests/fuzz/corpus")
    options = parser.parse_args()
    if unknown := set(options.targets) - TARGETS.keys():
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    print(
        f"{'target':18} {'runs':>9} {'seconds':>8} {'per second':>10} {'edges':>6} {'features':>8}  found", flush=True
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    broken = False
    for name in options.targets or TARGETS:
        broken |= fuzzed(name, options.runs - figures.total(name).inputs, options.seconds)
        if options.write:
            subprocess.run([sys.executable, "-m", "fuzz.engine.fewest", name], env=_environment(), check=True)
    return int(broken)


def fuzzed(name: str, runs: int, seconds: int) -> bool:
    """Run one target, if any runs are left, and print its line; return whether an input broke a promise."""
    if runs <= 0:
        return False
    folder = corpus.WORK / name
    for part in ("corpus", "seeds"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for number, data in enumerate([*TARGETS[name].seeds(), *corpus.load(name)]):
        (folder / "seeds" / f"{number:05}").write_bytes(data)
    before, began = set(folder.glob("broken-*")), _processor_time()
    seed = figures.total(name).inputs + 1  # another one for each run, and the same ones in the same order
    try:
        _atheris(name, folder, f"-runs={runs}", f"-max_total_time={seconds}", f"-seed={seed}", "corpus", "seeds")
    finally:
        took = _processor_time() - began
        new = sorted(path.name for path in set(folder.glob("broken-*")) - before)
        ended = _note(name, folder, took, new)
    return bool(new) or not ended


def _note(name: str, folder: Path, took: float, new: Sequence[str]) -> bool:
    """Write down what a run came to, and print it; return whether it ended by itself."""
    output = (folder / "output.txt").read_text("utf-8", "replace")
    rows = re.findall(r"^#(\d+)\s.*?cov: (\d+) ft: (\d+)", output, re.MULTILINE) or [("0", "0", "0")]
    done, edges, features = rows[-1]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    figures.add(figures.Run(name, int(done), took, int(edges), int(features), len(new), commit.stdout.strip()))
    ended = "DONE" in output
    found = " ".join(new) or ("nothing" if ended else f"ended: see {folder / 'output.txt'}")
    print(f"{name:18} {done:>9} {took:8.0f} {int(done) / took:10.0f} {edges:>6} {features:>8}  {found}", flush=True)
    return ended


def _processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _atheris(name: str, folder: Path, *flags: str) -> None:
    """Run the target's process in *folder*, where its output is kept; it gets the time that nobody else wants."""
    limits = (
        f"-rss_limit_mb={MEGABYTES}",
        f"-timeout={SECONDS}",
        f"-max_len={TARGETS[name].longest}",
        "-print_final_stats=1",
    )
    command = [sys.executable, "-m", "fuzz.engine.one", name, *flags, *limits]
    with (folder / "output.txt").open("wb") as output:
        subprocess.run(
            ["chrt", "-i", "0", *command],
            cwd=folder,
            env=_environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )


def _environment() -> dict[str, str]:
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": paths}


if __name__ == "__main__":
    sys.exit(main())
