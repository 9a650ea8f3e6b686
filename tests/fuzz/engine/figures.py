"""What each run came to, written down beside the corpora: a million inputs may take several runs.

``python -m fuzz.engine.figures`` prints the table of docs/hardening.md. Delete the lines of a target that has changed.
"""

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from fuzz import corpus

FILE: Final = corpus.WORK / "figures.jsonl"


class Run(NamedTuple):
    """A run, or several of one target: seconds of processor time; edges and features as libFuzzer last counted them."""

    target: str
    inputs: int
    seconds: float
    edges: int
    features: int
    found: int
    commit: str


def add(run: Run) -> None:
    """Write down one more run."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with FILE.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(run._asdict())}\n")


def total(target: str) -> Run:
    """Return the runs of a target as one."""
    runs = [run for run in _runs() if run.target == target] or [Run(target, 0, 0, 0, 0, 0, "")]
    most = {name: max(getattr(run, name) for run in runs) for name in ("edges", "features")}
    sums = {name: sum(getattr(run, name) for run in runs) for name in ("inputs", "seconds", "found")}
    return runs[-1]._replace(**most, **sums)


def _runs() -> Iterator[Run]:
    for line in FILE.read_text("utf-8").splitlines() if FILE.exists() else ():
        yield Run(**json.loads(line))


def main() -> None:
    """Print a row per target that was run."""
    for target in dict.fromkeys(run.target for run in _runs()):
        run = total(target)
        cells = (f"`{target}`", *(f"{cell:,.0f}" for cell in run[1:5]), str(run.found or "none"))
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
