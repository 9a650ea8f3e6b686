"""The soak finds what grows, and is content with what only moves."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from .measures import GROWING, Sample, grown, look

STEADY = Sample(seconds=0, runs=0, megabytes=60.0, descriptors=9, processes=0, threads=1, files=3)


@pytest.mark.parametrize("name", GROWING)
def test_what_grows_slowly_is_found(name):
    first = getattr(STEADY, name)
    assert grown([replace(STEADY, **{name: first + count / 8}) for count in range(100)]) != []


def test_what_moves_and_comes_back_is_no_growth():
    assert grown([replace(STEADY, megabytes=60.0 + count % 3, descriptors=9 + count % 2) for count in range(99)]) == []


def test_what_grows_while_it_warms_up_is_no_growth():
    assert grown([replace(STEADY, megabytes=60.0 + min(count, 20), files=min(count, 20)) for count in range(100)]) == []


def test_a_descriptor_a_process_a_thread_and_a_file_are_each_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before, over = look(0, 0, []), threading.Event()
    thread = threading.Thread(target=over.wait)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE), Path(tmp_path, "file").open("w"):
        thread.start()
        after = look(0, 0, [])
        over.set()
        thread.join()
    changed = [getattr(after, name) - getattr(before, name) for name in GROWING[1:]]
    assert changed == [2, 1, 1, 1]  # of descriptors, the pipe to the process and the file
