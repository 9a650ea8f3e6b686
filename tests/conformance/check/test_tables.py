"""Tables of findings and sessions: whole or not at all, and read by DuckDB as the page says."""

import errno
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
import pytest

from turncheck.conformance.check import tables as module
from turncheck.conformance.check.results import LogFinding, LogResult, SessionResult
from turncheck.conformance.check.tables import TableError, sessions_beside, tables

PAGE: Final = Path(__file__).parents[3] / "docs" / "log-format.md"
USER: Final = '{"type":"user-message","text":"red"}\n'
STOP: Final = '{"type":"run-stop","reason":"completed"}\n'
RESULT: Final = LogResult(
    "a.jsonl",
    "turncheck",
    3,
    1,
    (LogFinding("outside-run", ("RC-7.4", "X-3"), 2, 3, "it stands outside", "s"),),
    "fail",
    sessions=(SessionResult("s", None, 1, 1, False),),  # noqa: FBT003
)


def of(session: str, line: str) -> str:
    return line.replace("{", f'{{"sessionId":"{session}",', 1)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_text(of("s", USER) + of("t", STOP) + of("s", STOP) + of("t", STOP) + of("u", USER))
    (folder / "b.jsonl").write_text(USER + STOP)
    (folder / "c.jsonl").write_text("")
    return folder


def asked(folder: Path, *questions: str) -> list[list[Any]]:
    """DuckDB's answers, each row a list; it runs in a process of its own, whose end is noisy."""
    program = "import duckdb, json, sys; print(json.dumps([duckdb.sql(one).fetchall() for one in sys.argv[1:]]))"
    ran = subprocess.run([sys.executable, "-c", program, *questions], cwd=folder, capture_output=True, check=True)
    answers: list[list[Any]] = json.loads(ran.stdout)
    return answers


def queries() -> list[str]:
    (block,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return [query for query in block.split(";") if query.strip()]


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.usefixtures("logs")
def test_duckdb_reads_the_tables_as_the_page_says(tmp_path: Path, invoke: Any, jobs: str) -> None:
    assert invoke(tmp_path, "check", "logs", "--out", "findings.parquet", "-j", jobs).code == 2
    why = "select log, why from 'findings.sessions.parquet' where why is not null"
    assert asked(tmp_path, *queries(), why) == [
        [["outside-run", 2, 1], ["truncated", 1, 1]],
        [["logs/a.jsonl", "t", 0], ["logs/a.jsonl", "u", 0]],
        [["logs/c.jsonl", "the log is empty: there is nothing to judge"]],
    ]


@pytest.mark.usefixtures("logs")
def test_json_lines_have_the_same_rows(tmp_path: Path, invoke: Any) -> None:
    invoke(tmp_path, "check", "logs", "--out", "rows.jsonl")
    invoke(tmp_path, "check", "logs", "--out", "rows.parquet")
    for name in ("rows", "rows.sessions"):
        lines = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        rows = pq.read_table(tmp_path / f"{name}.parquet").to_pylist()
        assert rows == lines
        assert rows


@pytest.mark.usefixtures("logs")
def test_what_is_printed_does_not_change(tmp_path: Path, invoke: Any) -> None:
    plain, with_table = (invoke(tmp_path, "check", "logs", "--json", *more) for more in ((), ("--out", "a.jsonl")))
    assert (with_table.code, with_table.out) == (plain.code, plain.out)


@pytest.mark.usefixtures("logs")
def test_a_manifest_keeps_the_sessions_of_a_log(tmp_path: Path, invoke: Any) -> None:
    first, again = (
        (invoke(tmp_path, "check", "logs", "--out", name, "--manifest", "m"), (tmp_path / name).read_bytes())[1]
        for name in ("a.jsonl", "b.jsonl")
    )
    assert first == again
    assert (tmp_path / "a.sessions.jsonl").read_bytes() == (tmp_path / "b.sessions.jsonl").read_bytes()


def test_an_interrupt_keeps_what_came_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with pytest.raises(KeyboardInterrupt), tables(path) as keep:  # noqa: PT012 - as a user would
        keep(RESULT)
        raise KeyboardInterrupt
    (finding,), (session,) = (pq.read_table(one).to_pylist() for one in (path, sessions_beside(path)))
    assert (finding["law"], finding["clauses"]) == ("outside-run", ["RC-7.4", "X-3"])
    assert (session["session"], session["cycles"]) == ("s", 1)


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_any_other_exception_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text("before")
    with pytest.raises(RuntimeError), tables(path) as keep:  # noqa: PT012 - as a user would
        keep(RESULT)
        raise RuntimeError
    assert ([one.name for one in tmp_path.iterdir()], path.read_text()) == ([path.name], "before")


def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the disk be full at the first row."""

    class Full:
        def __init__(self, *_: Any) -> None:
            pass

        def write(self, _: Any) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        close: Callable[..., None] = write

    for name in ("_Parquet", "_JsonLines"):
        monkeypatch.setattr(module, name, Full)


@pytest.mark.usefixtures("logs")
@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl"])
def test_a_full_disk_is_named_and_nothing_is_half_written(
    tmp_path: Path, invoke: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    full(monkeypatch)
    (tmp_path / name).write_text("before")
    ran = invoke(tmp_path, "check", "logs", "--out", name)
    assert (ran.code, f"the table {name} cannot be written: No space left on device" in ran.err) == (2, True)
    assert ((tmp_path / name).read_text(), [*tmp_path.glob(".turncheck-*"), *tmp_path.glob("*.sessions.*")]) == (
        "before",
        [],
    )


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(TableError, match=r"cannot be written: a folder is needed"),
        tables(tmp_path / "file" / "a.jsonl"),
    ):
        pass


@pytest.mark.parametrize("arguments", [("--out", "a.csv"), ("--follow", "--out", "a.jsonl"), ("--columns", ",x")])
def test_an_option_that_does_not_fit_is_named(
    tmp_path: Path, invoke: Any, logs: Path, arguments: tuple[str, ...]
) -> None:
    ran = invoke(tmp_path, "check", str(logs / "a.jsonl"), *arguments)
    assert (ran.code, ran.out) == (2, "")
