"""Do conforming runtimes notice as many mutants of the laws with ``FEW`` generated words as with more?

``python -m mutation.fewer_words`` mutates ``conformance/laws`` and ``conformance/observe`` in a copy of the tree: a
seeded sample of the mutants in lines that are reached. Each is held to one in six cases of the tests that use ``FEW``;
what they let pass is held to them again with more words. Prints one line a mutant, and then how many were found.
"""

import argparse
import os
import random
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from broken.running import Copy
from coverage.numbits import numbits_to_nums

from mutation.mutants import Mutant, change, mutants

ROOMS: Final = ("conformance/laws", "conformance/observe")
TESTS: Final = tuple(f"conformance/laws/test_{name}_runtimes.py" for name in ("right", "lifecycle"))
HELD: Final = "runtimes/held.py"
"""Where ``FEW`` is declared."""
MORE: Final = 20
"""Words that ``FEW`` was before."""
STRIDE: Final = 6
"""Of so many cases of these tests one is run: all take 25 s with few words, and 40 s with more, for each mutant."""
SECONDS: Final = 600
"""Ten times what the tests take where lines are noted, on a processor of their own."""
_FEW: Final = re.compile(r"^FEW = (\d+)", re.MULTILINE)

Fate = Literal["found by few", "found by more", "found by neither"]


def using_few(text: str) -> list[str]:
    """Return the tests of a module whose text names ``FEW``.

    >>> using_few("def test_a():\\n    f(FEW)\\n\\ndef test_b():\\n    f(1)\\n")
    ['test_a']
    """
    parts = re.split(r"^(?=def |class |@|[A-Z])", text, flags=re.MULTILINE)
    named = (re.match(r"def (test_\w+)", part) for part in parts if "FEW" in part)
    return [found[1] for found in named if found]


class Bench(Copy):  # type: ignore[misc]
    """A copy of the tree, and some cases of its tests that use ``FEW``, as they are and with more words."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, SECONDS)
        self._file = folder / "tests" / HELD
        self._text = self._file.read_text("utf-8")
        files = [f"tests/{name}" for name in TESTS]
        listed = self._run([sys.executable, "-m", "pytest", "--collect-only", *files], SECONDS).stdout
        names = {test for name in files for test in using_few((folder / name).read_text("utf-8"))}
        cases = [line.removeprefix("tests/") for line in listed.splitlines() if "::" in line]
        self._tests = [case for case in cases if case.partition("::")[2].partition("[")[0] in names][::STRIDE]

    def passes(self, words: int | None = None) -> bool:
        """Run the tests, with *words* for ``FEW`` where it is given; return whether all pass."""
        changed = self._text if words is None else _FEW.sub(f"FEW = {words}", self._text)
        self._file.write_text(changed, "utf-8")
        return bool(self.tested(self._tests)[0])

    def reached(self) -> dict[str, set[int]]:
        """Return the lines of each module that the tests reach with more words."""
        data = self.folder / "reached"
        self._file.write_text(_FEW.sub(f"FEW = {MORE}", self._text), "utf-8")
        places = ",".join(f"{self.folder / room}/*" for room in ROOMS)
        command = [
            sys.executable,
            "-m",
            "coverage",
            "run",
            f"--include={places}",
            f"--data-file={data}",
            "-m",
            "pytest",
        ]
        done = self._run([*command, "-n0", *(f"tests/{test}" for test in self._tests)], SECONDS)
        if done.returncode != 0:
            raise RuntimeError(f"the tests fail without a mutant:\n{done.stdout}")
        with sqlite3.connect(data) as lines:
            found = lines.execute("select path, numbits from line_bits join file on file.id = file_id").fetchall()
        return {Path(path).relative_to(self.folder).as_posix(): {*numbits_to_nums(bits)} for path, bits in found}

    def fate(self, one: Mutant) -> Fate:
        """Hold a mutant to the tests, with few words and then with more."""
        path = self.folder / f"{one.module}.py"
        source = path.read_text("utf-8")
        try:
            path.write_text(one.code(source), "utf-8")
            if not self.passes():
                return "found by few"
            return "found by neither" if self.passes(MORE) else "found by more"
        finally:
            path.write_text(source, "utf-8")


def sampled(folder: Path, reached: dict[str, set[int]], seed: int) -> Iterator[Mutant]:
    """Yield all mutants in lines that are reached, in the order that the seed gives."""
    files = (path for room in ROOMS for path in sorted((folder / room).rglob("*.py")))
    names = [(path.relative_to(folder).with_suffix("").as_posix(), path.read_text("utf-8")) for path in files]
    every = [one for name, text in names for one in mutants(name, text) if one.line in reached.get(f"{name}.py", ())]
    print(f"{len(every)} mutants in lines that are reached", flush=True)
    random.Random(seed).shuffle(every)
    yield from every


def main() -> None:
    """Try mutants until the processor time is used up, and print the table."""
    options = argparse.ArgumentParser(prog="python -m mutation.fewer_words", description=__doc__)
    options.add_argument("--minutes", type=float, default=25, help="of the processor")
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    fates: list[Fate] = []
    with tempfile.TemporaryDirectory(prefix="turncheck-mutants-") as folder:
        bench = Bench(Path(folder))
        for one in sampled(bench.folder, bench.reached(), asked.seed):
            if os.times().children_user > asked.minutes * 60:
                break
            fates.append(bench.fate(one))
            source = (bench.folder / f"{one.module}.py").read_text("utf-8")
            print(f"{fates[-1]}: {one.module}:{one.line} {' → '.join(change(source, one.code(source)))}", flush=True)
    counts = Counter(fates)
    few = counts["found by few"]
    print(f"{len(fates)} mutants; with few words {few} are found, with {MORE} {few + counts['found by more']}")


if __name__ == "__main__":
    main()
