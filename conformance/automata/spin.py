"""Spin on a machine's Promela, which tells whether every run that is answered ends."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from turncheck.model.writing import write_file

_SECONDS: Final = 600
"""Limit of each step; measured: the largest machine takes 5 s on a busy core."""
PROGRAMS: Final = ("spin", "gcc")
"""The programs that this needs; each is a Debian package of its name."""


class ProgramMissingError(RuntimeError):
    """Spin, or the C compiler that it needs, is not installed."""


@dataclass(frozen=True)
class Verified:
    """Spin's result: whether a run goes on without end, the states stored, and the rows never taken."""

    endless: bool
    states: int
    untaken: frozenset[str]


def verified(text: str) -> Verified:
    """Verify a Promela text. Raises ProgramMissingError, and RuntimeError where Spin finds a fault of another kind."""
    for program in PROGRAMS:
        if shutil.which(program) is None:
            raise ProgramMissingError(f"{program} is missing: on Debian and Ubuntu, apt-get install {program}")
    with tempfile.TemporaryDirectory(prefix="turncheck-spin-") as folder:
        return _verified(text, Path(folder))


def _verified(text: str, folder: Path) -> Verified:
    write_file(folder / "machine.pml", text.encode())
    _run(folder, "spin", "-a", "machine.pml")
    _run(folder, "gcc", "-w", "-o", "pan", "pan.c")
    said = _run(folder, "./pan", "-a", "-m1000000")
    errors = re.search(r"errors: (\d+)", said)
    states = re.search(r"(\d+) states, stored", said)
    endless = "acceptance cycle" in said
    if errors is None or states is None or endless != (errors[1] != "0") or "search depth too small" in said:
        raise RuntimeError(f"Spin could not decide: {said.strip()}")
    unreached = {int(line) for line in re.findall(r"machine\.pml:(\d+), state", said)}
    commands = [
        (number, line.partition("/* ")[2]) for number, line in enumerate(text.splitlines(), 1) if ":: atomic" in line
    ]
    taken = {row for number, row in commands if number not in unreached}
    return Verified(endless, int(states[1]), frozenset({row for _, row in commands} - taken))


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {(done.stdout + done.stderr).strip()}")
    return done.stdout
