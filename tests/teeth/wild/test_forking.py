"""Starts by a fork: what is imported anew, what is handed over, and how a fork ends."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from wild.forking import SEEDS, Forks

PROGRAM = """
import os, sys
import early, late
print(early.PROCESS, os.getpid(), late.TEXT, hash("a"), os.environ.get("GIVEN"), flush=True)
sys.stdin.read()
sys.exit(7)
"""


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forks")
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    (folder / "early.py").write_text("import os\nPROCESS = os.getpid()\n", "utf-8")
    (folder / "late.py").write_text("TEXT = 'unchanged'\n", "utf-8")
    command = [sys.executable, str(folder / "program.py")]
    with closing(Forks(command, {"PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}, folder)) as opened:
        yield folder, opened


def started(forks, seed=0):
    """A client's process, and what its fork says: what *early* and it itself run in, and what else it sees."""
    folder, opened = forks
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "GIVEN": "handed-over"}
    command = opened.command(str(folder / "late.py"))
    process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().split()


def test_what_comes_before_the_file_is_imported_once_and_the_file_at_each_start(forks):
    folder, _ = forks
    first, said = started(forks)
    first.communicate()
    (folder / "late.py").write_text("TEXT = 'mutated'\n", "utf-8")
    second, again = started(forks)
    second.communicate()
    assert said[0] == again[0] != said[1] != again[1]
    assert (said[2], again[2]) == ("unchanged", "mutated")


def test_a_fork_has_the_environment_of_its_client_and_ends_it_with_its_own_exit_code(forks):
    process, said = started(forks)
    process.communicate()
    assert (said[4], process.returncode) == ("handed-over", 7)


def test_a_fork_has_the_hash_seed_that_its_client_asks_for(forks):
    hashes = []
    for seed in (*SEEDS, *SEEDS):
        process, said = started(forks, seed)
        process.communicate()
        hashes.append(said[3])
    assert hashes[:2] == hashes[2:]
    assert hashes[0] != hashes[1]


def test_a_client_that_is_killed_leaves_no_fork(forks):
    process, said = started(forks)
    process.kill()
    process.communicate()
    started(forks)[0].communicate()  # ends are seen to before starts
    assert not Path("/proc", said[1]).exists()


def test_a_file_that_is_never_imported_is_an_error(forks, tmp_path):
    _, opened = forks
    with pytest.raises(RuntimeError, match="does not import"):
        opened.command(str(tmp_path / "other.py"))
