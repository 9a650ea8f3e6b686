"""A second run with a manifest: what is judged again, what is not, and what becomes of a file that is no manifest."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.conformance.check.fleet.manifest import ManifestError, manifest
from turncheck.conformance.check.fleet.one import How, judged

SOUND: Final = b'{"type":"user-message","text":"red"}\n{"type":"run-stop","reason":"completed"}\n'
STOP: Final = b'{"type":"run-stop","reason":"completed"}\n'
HOW: Final = How(None, MAX_LINE)
LIMIT: Final = 60.0  # seconds; never waited for


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with a sound log and a broken one."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(SOUND)
    (folder / "b.jsonl").write_bytes(SOUND + STOP)
    return folder


@pytest.fixture
def checked(invoke: Any, tmp_path: Path, logs: Path) -> Any:
    """Check the folder with a manifest; exit code, standard output, and how many logs were judged before."""

    def checked(*arguments: str) -> tuple[int, str, str]:
        ran = invoke(tmp_path, "check", "logs", "--manifest", "runs.sqlite", *arguments)
        assert "Traceback" not in ran.err
        return ran.code, ran.out, ran.err.partition(" logs were")[0].strip()

    return checked


@pytest.mark.parametrize("options", [(), ("--json",), ("--all",), ("--json", "--all"), ("-j", "2")])
def test_a_second_run_says_the_same_and_judges_nothing(checked: Any, options: tuple[str, ...]) -> None:
    first = checked(*options)
    assert first[2] == "0 of 2"
    assert checked(*options) == (*first[:2], "2 of 2")


def test_without_a_manifest_the_output_is_the_same(checked: Any, invoke: Any, tmp_path: Path) -> None:
    assert checked("--json")[1] == invoke(tmp_path, "check", "logs", "--json").out


def test_a_log_that_changed_is_judged_again(checked: Any, logs: Path) -> None:
    checked()
    (logs / "a.jsonl").write_bytes(SOUND + STOP + STOP)
    code, out, known = checked()
    assert (code, known, "a.jsonl  turncheck, 4 events, 1 cycles: fail" in out) == (1, "1 of 2", True)


def test_a_log_of_the_same_size_that_is_newer_is_judged_again(checked: Any, logs: Path) -> None:
    checked()
    os.utime(logs / "a.jsonl", ns=(1, 1))
    assert checked()[2] == "1 of 2"


def test_a_new_log_is_judged(checked: Any, logs: Path) -> None:
    checked()
    (logs / "c.jsonl").write_bytes(SOUND)
    assert checked()[2] == "2 of 3"


@pytest.mark.parametrize("options", [("--strict",), ("--max-line", "1000"), ("--format", "turncheck")])
def test_logs_that_are_judged_otherwise_are_judged_again(checked: Any, options: tuple[str, ...]) -> None:
    checked()
    assert checked(*options)[2] == "0 of 2"
    assert checked()[2] == "2 of 2"


def test_a_log_that_cannot_be_judged_is_tried_again(checked: Any, logs: Path) -> None:
    (logs / "c.jsonl").write_bytes(b"")
    assert checked()[0] == 2
    assert checked()[::2] == (2, "2 of 3")


def test_findings_that_were_only_counted_are_told_by_judging_again(checked: Any, logs: Path) -> None:
    (logs / "b.jsonl").write_bytes(SOUND + STOP * 1500)
    checked()
    code, out, known = checked("--all")
    assert (code, out.count("outside-run"), known) == (1, 1500, "1 of 2")


def test_a_reader_of_the_users_own_is_asked_again(
    checked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_reader.py").write_text("from turncheck.adapters.logs.formats.own import OWN\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    checked("--format", "python:own_reader:OWN")
    assert checked("--format", "python:own_reader:OWN")[2] == "0 of 2"


def test_the_results_can_be_queried(checked: Any, tmp_path: Path) -> None:
    checked()
    base = sqlite3.connect(tmp_path / "runs.sqlite")
    query = "select log, verdict, law, line from logs left join findings using (place, how) order by log"
    assert base.execute(query).fetchall() == [
        ("logs/a.jsonl", "pass", None, None),
        ("logs/b.jsonl", "fail", "outside-run", 3),
    ]
    base.close()


def test_another_version_judges_anew(logs: Path, tmp_path: Path) -> None:
    place = str(logs / "a.jsonl")
    with manifest(tmp_path / "m", HOW, "1") as known:
        assert known.known(place) is None
        known.keep(place, judged(place, HOW))
        assert known.known(place) == judged(place, HOW)
    with manifest(tmp_path / "m", HOW, "2") as known:
        assert known.known(place) is None


def test_a_log_that_changes_while_it_is_judged_is_judged_again(logs: Path, tmp_path: Path) -> None:
    place = str(logs / "a.jsonl")
    with manifest(tmp_path / "m", HOW, "1") as known:
        assert known.known(place) is None
        result = judged(place, HOW)
        (logs / "a.jsonl").write_bytes(SOUND + STOP)
        known.keep(place, result)
        assert known.known(place) is None


def test_what_was_judged_before_a_kill_is_not_judged_again(logs: Path, tmp_path: Path, checked: Any) -> None:
    os.mkfifo(logs.parent / "waits.jsonl")  # the run stands still here
    command = [sys.executable, "-m", "turncheck.conformance", "check", "logs", "waits.jsonl", "--json"]
    with subprocess.Popen([*command, "--manifest", "runs.sqlite"], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        end = time.monotonic() + LIMIT
        while b"b.jsonl" not in process.stdout.readline() and time.monotonic() < end:
            pass
        process.send_signal(signal.SIGKILL)
    assert checked()[2] == "2 of 2"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"no database at all, but a text that somebody needs", "file is not a database"),
        (b"", ""),
    ],
)
def test_a_file_that_is_no_manifest_is_left_alone(checked: Any, tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "runs.sqlite").write_bytes(content)
    code, _, said = checked()
    assert (code, why in said) == (2 if why else 1, True)
    assert not why or (tmp_path / "runs.sqlite").read_bytes() == content


def test_a_database_of_another_program_is_left_alone(checked: Any, tmp_path: Path) -> None:
    base = sqlite3.connect(tmp_path / "runs.sqlite")
    base.execute("create table logs (precious text)")
    base.close()
    before = (tmp_path / "runs.sqlite").read_bytes()
    code, out, said = checked()
    assert (code, out) == (2, "")
    assert "a database of another program; name a new file" in said
    assert (tmp_path / "runs.sqlite").read_bytes() == before


def test_a_link_is_not_written_through(checked: Any, tmp_path: Path) -> None:
    (tmp_path / "runs.sqlite").symlink_to(tmp_path / "elsewhere")
    code, _, said = checked()
    assert (code, "it is a link" in said, (tmp_path / "elsewhere").exists()) == (2, True, False)


def test_a_folder_that_is_not_there_is_named(invoke: Any, tmp_path: Path, logs: Path) -> None:
    ran = invoke(tmp_path, "check", "logs", "--manifest", "nowhere/runs.sqlite")
    assert (ran.code, "manifest nowhere/runs.sqlite: unable to open database file" in ran.err) == (2, True)


def test_a_new_manifest_on_a_full_disk_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, _: object) -> None:
        path.touch()
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("turncheck.conformance.check.fleet.manifest._claim", full)
    with pytest.raises(ManifestError, match="disk is full"), manifest(tmp_path / "m", HOW, "1"):
        pass
    assert [*tmp_path.iterdir()] == []


def test_a_manifest_that_another_program_holds_is_named(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turncheck.conformance.check.fleet.manifest._WAIT", 0.1)
    place = str(logs / "a.jsonl")
    with manifest(tmp_path / "m", HOW, "1"):
        pass
    other = sqlite3.connect(tmp_path / "m", isolation_level=None)
    other.execute("begin immediate")
    with (  # noqa: PT012 - whenever it notices
        pytest.raises(ManifestError, match="database is locked"),
        manifest(tmp_path / "m", HOW, "1") as known,
    ):
        known.known(place)
        known.keep(place, judged(place, HOW))
    other.close()
