"""What ends a command early: exit code 2 and a sentence, never 1 and a traceback."""

import os
import subprocess
import sys
import warnings

import pytest

from turncheck.conformance.cli import failures
from turncheck.conformance.cli.commands import laws

LIMIT = 60
"""Seconds: far more than a command without a target takes."""


@pytest.fixture
def shell(tmp_path):
    """Run a shell's line in an empty folder; ``turncheck`` in it is the command line."""

    def ran(line, **environment):
        turncheck = f'turncheck() {{ "{sys.executable}" -m turncheck.conformance "$@"; }}'
        done = subprocess.run(
            ["bash", "-c", f"{turncheck}\n{line}"],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done

    return ran


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("turncheck laws > /dev/full", "Error: standard output: No space left on device\n"),
        ("turncheck laws --json > /dev/full", "Error: standard output: No space left on device\n"),
        (
            'echo \'{"type":"user-message"}\' > a && turncheck redact a > /dev/full',
            "Error: standard output: No space left on device\n",
        ),
        ("turncheck --help > /dev/full", "Error: No space left on device\n"),
        ("turncheck laws >&-", "Error: standard output is closed: send it to a file, or to /dev/null\n"),
        ("turncheck laws no-such-law 2>&-", ""),
        ("turncheck laws no-such-law 2> /dev/full", ""),
        ("turncheck replay no-such-file 2>&- >&-", ""),
        (
            'mkdir gone && cd gone && rmdir "$PWD" && turncheck verify reference',
            "Error: the working directory is not there any more: change to another one\n",
        ),
        ("turncheck project $'\\xff'", "Error: ⟨U+DCFF⟩: No such file or directory\n"),
    ],
)
def test_what_the_machine_lacks_is_an_error_of_one_line(shell, line, told):
    done = shell(line)
    assert (done.returncode, done.stderr) == (2, told)


def test_a_reader_who_has_seen_enough_is_no_error(shell):
    done = shell("turncheck laws | true; exit ${PIPESTATUS[0]}")
    assert done.returncode in {0, failures.BROKEN_PIPE}
    assert done.stderr == ""


def test_a_closed_standard_input_is_an_empty_one(shell):
    done = shell("turncheck check - <&-")
    assert (done.returncode, "the log is empty" in done.stdout) == (2, True)


def test_a_closed_standard_error_changes_no_verdict(shell):
    assert shell("turncheck laws total 2>&-").returncode == 0


def test_a_locale_without_our_marks_shows_their_numbers(shell):
    done = shell("turncheck explain total", PYTHONIOENCODING="latin-1")
    assert (done.returncode, "\\u2717" in done.stdout) == (0, True)


@pytest.mark.parametrize("long", [["check"], ["check", "--follow"], ["project"], ["redact"], ["replay"]])
def test_a_name_that_is_too_long_is_an_error(long, tmp_path, invoke):
    ran = invoke(tmp_path, *long, "x" * 5000)
    assert (ran.code, "File name too long" in ran.out + ran.err or "is none" in ran.err) == (2, True)


def test_a_name_that_is_too_long_spares_the_other_logs(tmp_path, invoke):
    (tmp_path / "log.jsonl").write_text('{"type": "user-message", "text": "hi"}\n')
    assert "log.jsonl  turncheck, 1 events" in invoke(tmp_path, "check", "x" * 5000, "log.jsonl").out


@pytest.mark.parametrize("command", ["check", "replay", "verify", "init"])
def test_a_nul_in_an_argument_is_an_error(command, tmp_path, invoke):
    ran = invoke(tmp_path, command, "a\0b")
    assert (ran.code, ran.out) == (2, "")
    assert "an argument has a NUL character in it" in ran.err


def test_a_file_name_that_is_no_utf8_is_json(tmp_path, invoke):
    ran = invoke(tmp_path, "replay", "\udcff", "--json")
    assert (ran.code, "⟨U+DCFF⟩ cannot be read" in ran.err) == (2, True)


@pytest.fixture
def broken(monkeypatch):
    """Let ``turncheck laws`` raise an error: ``broken(error)``."""

    def made(error):
        def raised(*_, **__):
            raise error

        monkeypatch.setattr(laws, "echo", raised)

    return made


@pytest.mark.parametrize("error", [RecursionError("too deep"), KeyError("\x1b[2J"), AssertionError(), TypeError("x")])
def test_a_bug_says_that_it_is_one_and_what_to_send(error, broken, tmp_path, invoke):
    broken(error)
    ran = invoke(tmp_path, "laws", "total")
    assert (ran.code, "Traceback" in ran.err, "\x1b" in ran.err) == (2, False, False)
    head, *rest = ran.err.splitlines()
    assert head.startswith(f"Error: this is a bug in turncheck: {type(error).__name__}")
    assert [line.split()[0] for line in rest] == ["at", "version", "command", "Please"]
    assert f"{__file__}:" in ran.err
    assert "command  turncheck laws total" in ran.err


def test_with_debug_a_bug_shows_its_traceback(broken, tmp_path, invoke):
    broken(KeyError("\x1b[2J"))
    ran = invoke(tmp_path, "--debug", "laws", "total")
    assert (ran.code, "Traceback (most recent call last)" in ran.err, "\x1b" in ran.err) == (2, True, False)


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (MemoryError(), 2, "Error: there is not enough memory\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (PermissionError(13, "Permission denied", "\x1b.txt"), 2, "Error: ⟨U+001B⟩.txt: Permission denied\n"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_what_is_no_bug_is_not_called_one(error, code, told, broken, tmp_path, invoke):
    broken(error)
    ran = invoke(tmp_path, "laws", "total")
    assert (ran.code, ran.err) == (code, told)


def test_a_counterexample_file_with_a_lone_surrogate_is_json(tmp_path, invoke):
    (tmp_path / "found.json").write_text('{"kind": "log", "target": "\\ud800"}')
    err = invoke(tmp_path, "replay", "found.json").err
    assert "found.json is no counterexample file: JSON with a lone surrogate, \\ud800 at byte 27" in err


@pytest.mark.filterwarnings("default")
def test_a_warning_of_a_library_is_text(monkeypatch, tmp_path, invoke):
    monkeypatch.setattr(laws, "echo", lambda *_: warnings.warn("\x1b[2J", UserWarning, stacklevel=2))
    assert invoke(tmp_path, "laws", "total").err.splitlines()[0] == "UserWarning: ⟨U+001B⟩[2J"
