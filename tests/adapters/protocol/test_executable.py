"""Why a program cannot be started, by the causes that the system does not tell apart."""

import os
import re

import pytest

from turncheck.adapters.protocol.errors import StartError
from turncheck.adapters.protocol.processes.process import Child


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with what cannot be started; it is the working directory, and all of PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "folder").mkdir()
    for name, text, mode in (
        ("plain", "#!/bin/sh\n", 0o644),
        ("headless", "no program\n", 0o755),
        ("orphan", "#!/no/such/interpreter -x\n", 0o755),
        ("empty", "", 0o755),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    return tmp_path


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("no-such-program", "no program 'no-such-program' is on PATH: install it, or write the path of its file"),
        ("node", "no program 'node' is on PATH: install Node.js, 20 or later (https://nodejs.org)"),
        ("./no-such-file", "there is no file no-such-file"),
        ("./folder", "folder is a directory, and no program"),
        ("./plain", "plain is not executable: `chmod +x` makes it so"),
        ("./headless", "headless is no program of this system, and its first line does not name one"),
        ("./empty", "empty is no program of this system"),
        ("./orphan", "orphan wants to be run by '/no/such/interpreter', which does not exist"),
        ("orphan", "orphan wants to be run by '/no/such/interpreter', which does not exist"),
    ],
)
def test_the_cause_is_told(program, why, files):
    with pytest.raises(StartError, match=re.escape(why)):
        Child([program], os.environ)


def test_a_working_directory_that_is_gone_is_told(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    try:
        with pytest.raises(StartError, match="the working directory is not there any more"):
            Child(["./program"], os.environ)
    finally:
        os.chdir(tmp_path)
