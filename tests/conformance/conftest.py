"""Workers find the projectors of the tests too; the command line runs in this process."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple

import pytest

from turncheck.conformance.cli.group import main

TESTS = Path(__file__).parents[1]


class Ran(NamedTuple):
    code: object
    out: str
    err: str


@pytest.fixture(autouse=True)
def projectors_importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(TESTS))


def _invoke(folder, *arguments, stdin=b""):
    out, err = StringIO(), StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(folder)
        patch.setenv("PYTHONPATH", str(TESTS))
        patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
    return Ran(stop.value.code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def invoke():
    """Run the command line in a folder, with given bytes on standard input: ``invoke(folder, *arguments)``."""
    return _invoke
