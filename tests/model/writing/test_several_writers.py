"""Writers that die, and several at once: one of them is there whole."""

import os
import random
import signal
import subprocess
import sys
import threading

import pytest
from folders import OLD, names, temporaries

from turncheck.model import writing
from turncheck.model.writing import locked, write_file

LIMIT = 60.0  # seconds; never waited for
KILLS = 200

FORKING = """
import os, sys
from turncheck.model.writing import write_file
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if not child:
        print(os.getpid(), flush=True)
        number = 0
        while True:
            number += 1
            write_file(sys.argv[1], f"{number % 10}" * 50_000)
    sys.stdin.readline()
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


def test_a_writer_that_is_killed_leaves_a_whole_file_and_at_most_one_temporary(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"0" * 50_000)
    chance = random.Random(1)
    script = tmp_path / "loop.py"
    script.write_text(FORKING)
    with subprocess.Popen(
        [sys.executable, script, path, str(KILLS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        for _ in range(KILLS):
            pid = int(parent.stdout.readline())
            threading.Event().wait(chance.random() * 0.01)  # the test needs a random moment: this is no precaution
            os.kill(pid, signal.SIGKILL)
            print("next", file=parent.stdin, flush=True)
            assert parent.stdout.readline() == "dead\n"
            found = path.read_bytes()
            assert found == found[:1] * 50_000
            assert len(temporaries(tmp_path)) <= 1
    write_file(path, b"new")
    assert temporaries(tmp_path) == []


def test_a_temporary_whose_writer_lives_is_left_alone(file):
    beside, descriptor = writing._temporary(file.parent)
    try:
        write_file(file, b"new")
        assert temporaries(file.parent) == [beside.name]
    finally:
        os.close(descriptor)


def test_a_file_that_only_looks_like_a_temporary_is_left_alone(file):
    other = file.with_name(".turncheck-notes.tmp")
    other.write_bytes(OLD)
    write_file(file, b"new")
    assert other.exists()


def test_several_writers_at_once_leave_the_whole_file_of_one(tmp_path):
    path = tmp_path / "a"
    code = (
        "import sys; from turncheck.model.writing import write_file\n"
        "for _ in range(50): write_file(sys.argv[1], sys.argv[2] * 50_000)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in "abc"]
    assert [one.wait(LIMIT) for one in running] == [0, 0, 0]
    found = path.read_bytes()
    assert found == found[:1] * 50_000
    assert names(tmp_path) == ["a"]


def test_nothing_that_is_added_under_the_lock_is_lost(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    code = (
        "import sys; from pathlib import Path; from turncheck.model.writing import locked, write_file\n"
        "path = Path(sys.argv[1])\n"
        "for _ in range(30):\n"
        "    with locked(path): write_file(path, str(int(path.read_text()) + 1))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(3)]
    assert [one.wait(LIMIT) for one in running] == [0, 0, 0]
    assert path.read_text() == "90"


def test_a_lock_that_stays_taken_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_PATIENCE", 0.02)
    with locked(tmp_path / "a"), pytest.raises(TimeoutError), locked(tmp_path / "a"):
        pass
