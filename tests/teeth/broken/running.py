"""Break each clause once in a copy of the tree, run the tests named, and write docs/broken.json and docs/broken.md.

``python -m broken [-j N] [CLAUSE…]``: of some clauses, the others stay as they were. Exits 1 where a break is not
noticed. With N processes at once, by default two.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

from broken.breaks import ROOT, Break, breaks
from broken.page import FIGURES, PAGE, page

SECONDS: Final = 300
"""The longest of the tests named takes a tenth of this; a break may make one hang, which is noticed too."""
_FAILED: Final = re.compile(r"^FAILED (\S+?)(?:\[| - |$)", re.MULTILINE)
_ROWS: Final = ("model/machines/request_cycle.py", "model/codegen/")
"""What the hot path is generated from: it is generated anew."""
_GENERATE: Final = (
    "from turncheck.model.codegen.generate import LOOP, generate; LOOP.write_text(generate(), encoding='utf-8')"
)


def naming(tests: Path, file: str, clause: str) -> list[str]:
    """Return the tests of a file that name the clause at their head: those run first. None of a single test."""
    if "::" in file:
        return []
    _, *parts = re.split(r"^def (?=test_)", (tests / file).read_text("utf-8"), flags=re.MULTILINE)
    heads = [part.splitlines()[:4] for part in parts]
    named = re.compile(rf'(?:# |""").*{re.escape(clause)}(?!\w|\.\d)')
    return [f"{file}::{head[0].partition('(')[0]}" for head in heads if any(map(named.search, head))]


class Copy:
    """A copy of the tree's tracked files, in which ``turncheck`` is imported from the copy, by the links in .src.

    It is compiled once, to bytecode that is checked by hash: a file edited twice within a second is never stale. Tests
    that take more than *seconds* notice what they are held to.
    """

    def __init__(self, folder: Path, seconds: int = SECONDS) -> None:
        self.folder, self._seconds = folder, seconds
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, listed.stdout.split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
        path = os.pathsep.join(str(folder / one) for one in (".src", "tests", "tests/teeth"))
        self._environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        rooms = ("adapters", "conformance", "model", "tests")
        self._run([sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", *rooms], SECONDS)

    def tested(self, tests: Sequence[str]) -> tuple[bool, str]:
        """Run tests of the copy up to the first that fails; return whether all pass, and what was printed."""
        options = ("-x", "-n0", "-rf", "--tb=no", "--assert=plain", "-p", "no:cacheprovider")
        command = [sys.executable, "-m", "pytest", *options]
        try:
            done = self._run([*command, *(f"tests/{test}" for test in tests)], self._seconds)
        except subprocess.TimeoutExpired:
            return False, f"FAILED tests/{tests[0]} - it does not end\n"
        return done.returncode == 0, done.stdout + done.stderr

    def noticed(self, one: Break) -> str | None:
        """Return the test that fails with the break, None where none does: one that cannot be run notices nothing."""
        path = self.folder / one.file
        loop = self.folder / "model/core/loop.py"
        was = path.read_text("utf-8"), loop.read_text("utf-8")
        try:
            path.write_text(one.applied(was[0]), "utf-8")
            if one.file.startswith(_ROWS):
                self._run([sys.executable, "-c", _GENERATE], SECONDS)
            own = [test for file in one.tests for test in naming(self.folder / "tests", file, one.clause)]
            passed, printed = self.tested(own) if own else (True, "")
            if passed:
                _, printed = self.tested(one.tests)
        finally:
            path.write_text(was[0], "utf-8")
            loop.write_text(was[1], "utf-8")
        failed = _FAILED.search(printed)
        return failed[1].removeprefix("tests/") if failed else None

    def _run(self, command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
        place: dict[str, Any] = {"cwd": self.folder, "env": self._environment, "timeout": seconds}
        return subprocess.run(command, capture_output=True, text=True, check=False, **place)


def measured(wanted: Sequence[Break], folder: Path, workers: int, keep: Callable[[str, str | None], None]) -> None:
    """Break each clause, and hand each to *keep* with the test that notices it.

    Raises RuntimeError where a test that noticed something fails without a break, too.
    """
    copies: SimpleQueue[Copy] = SimpleQueue()
    for number in range(workers):
        copies.put(Copy(folder / str(number)))

    def noticed(one: Break) -> tuple[str, str | None]:
        copy = copies.get()
        try:
            return one.clause, copy.noticed(one)
        finally:
            copies.put(copy)

    seen: set[str] = set()
    with ThreadPoolExecutor(workers) as pool:
        for clause, found in pool.map(noticed, wanted):
            print(f"{clause}: {found or 'NOT NOTICED'}", flush=True)
            keep(clause, found)
            seen |= set() if found is None else {found}
    passed, printed = copies.get().tested(sorted(seen)) if seen else (True, "")
    if not passed:
        raise RuntimeError(f"a test fails without a break:\n{printed}")


def main(arguments: Sequence[str]) -> int:
    """Break the clauses that are named, or all. Both files are written as it goes: a run that is cut has its part."""
    options = argparse.ArgumentParser(prog="python -m broken", description=__doc__)
    options.add_argument("-j", dest="workers", type=int, default=2, metavar="N")
    options.add_argument("clauses", nargs="*", metavar="CLAUSE")
    asked = options.parse_args(arguments)
    wanted = [one for one in breaks() if not asked.clauses or one.clause in asked.clauses]
    old = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {"noticed": {}, "at": {}}
    noticed: dict[str, str | None] = old["noticed"]
    at: dict[str, str] = old["at"]
    ask = ["git", "log", "-1", "--format=%h %cs"]
    shown = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=True)
    commit = ", ".join(shown.stdout.split())
    machine = f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    order = [one.clause for one in breaks()]

    def keep(clause: str, found: str | None) -> None:
        noticed[clause], at[clause] = found, commit
        tried = {name: noticed[name] for name in order if name in noticed}
        figures = {"machine": machine, "noticed": tried, "at": {name: at[name] for name in tried}}
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
        PAGE.write_text(page(figures), "utf-8")

    with tempfile.TemporaryDirectory(prefix="turncheck-broken-") as folder:
        measured(wanted, Path(folder), asked.workers, keep)
    return 1 if None in noticed.values() else 0
