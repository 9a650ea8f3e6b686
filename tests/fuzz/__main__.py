"""``make fuzz``: each target under atheris in its own process; a line of figures per target, exit code 1 for a finding.

The folder ``build/fuzz/TARGET`` has ``corpus``, which grows from run to run, and ``broken-*``, which break a promise.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from fuzz import corpus
from fuzz.targets import TARGETS

MEGABYTES, SECONDS = 1024, 60
"""Limits: memory of the process, wall time for an input. A busy host starves a process of low priority for seconds: the
limit of processor time is 2 s (``one.py``)."""


def main() -> int:
    """Fuzz the named targets, or all; return the exit code."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs to each target")
    parser.add_argument("--seconds", type=int, default=0, help="at most, for each target; 0: no limit")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write what was learned into tests/fuzz/corpus")
    options = parser.parse_args()
    if unknown := set(options.targets) - TARGETS.keys():
        parser.error(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    print(
        f"{'target':18} {'runs':>9} {'seconds':>8} {'per second':>10} {'edges':>6} {'features':>8}  found", flush=True
    )
    broken = False
    for name in options.targets or TARGETS:
        broken |= fuzzed(name, options.runs, options.seconds, options.seed)
        if options.write:
            subprocess.run([sys.executable, "-m", "fuzz.fewest", name], env=_environment(), check=True)
    return int(broken)


def fuzzed(name: str, runs: int, seconds: int, seed: int) -> bool:
    """Run one target, and print its line; return whether an input broke a promise."""
    folder = corpus.WORK / name
    for part in ("corpus", "seeds"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for number, data in enumerate([*TARGETS[name].seeds(), *corpus.load(name)]):
        (folder / "seeds" / f"{number:05}").write_bytes(data)
    before, began = set(folder.glob("broken-*")), time.monotonic()
    flags = [f"-runs={runs}", f"-max_total_time={seconds}", f"-seed={seed}", "corpus", "seeds"]
    output = _atheris(name, folder, *flags)
    took = time.monotonic() - began
    rows = re.findall(r"^#(\d+)\s.*?cov: (\d+) ft: (\d+)", output, re.MULTILINE) or [("0", "0", "0")]
    done, edges, features = rows[-1]
    new = sorted(path.name for path in set(folder.glob("broken-*")) - before)
    ended = "DONE" in output
    found = " ".join(new) or ("nothing" if ended else f"died: see {folder / 'output.txt'}")
    print(f"{name:18} {done:>9} {took:8.0f} {int(done) / took:10.0f} {edges:>6} {features:>8}  {found}", flush=True)
    return bool(new) or not ended


def _atheris(name: str, folder: Path, *flags: str) -> str:
    """Run the target's process in *folder*, at low priority; return its output, which is also kept there."""
    limits = (
        f"-rss_limit_mb={MEGABYTES}",
        f"-timeout={SECONDS}",
        f"-max_len={TARGETS[name].longest}",
        "-print_final_stats=1",
    )
    command = [sys.executable, "-m", "fuzz.one", name, *flags, *limits]
    with (folder / "output.txt").open("wb") as output:
        subprocess.run(
            ["nice", "-n", "10", *command],
            cwd=folder,
            env=_environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return (folder / "output.txt").read_text("utf-8", "replace")


def _environment() -> dict[str, str]:
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": paths}


if __name__ == "__main__":
    sys.exit(main())
