"""Logs in Parquet: what is found in a session's rows is what is found in its lines alone."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from turncheck.adapters.logs.parquet import NotATableError, read_table
from turncheck.adapters.logs.places import UnreadableError
from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.conformance.check.fleet.one import How, judged
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.results import LogResult
from turncheck.model import extras
from turncheck.model.extras import MissingExtraError

LOGS: Final = Path(__file__).parents[2] / "recordings" / "logs"
USER: Final = b'{"type":"user-message","text":"red"}'
CALL: Final = b'{"type":"agent-output","kind":"tool-call","callId":"c","tool":"read"}'
STOP: Final = b'{"type":"run-stop","reason":"completed"}'
RECORDED: Final = [path for path in sorted(LOGS.glob("*/*.jsonl")) if path.stem.startswith(("abort", "tool-slow"))]


def table(path: Path, **columns: list[Any]) -> str:
    pq.write_table(pa.table(columns), path, row_group_size=7)
    return str(path)


def rows(log: bytes) -> list[bytes]:
    return [line for line in log.split(b"\n") if line.strip()]


def found(result: LogResult, session: str | None = None) -> list[tuple[str, int]]:
    return [(one.law, one.at) for one in result.findings if one.session == session]


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_recording_is_judged_as_its_lines_are(tmp_path: Path, path: Path) -> None:
    log = path.read_bytes()
    alone = check("log", BytesIO(log))
    result = judged(table(tmp_path / "a.parquet", line=rows(log)), How(None, MAX_LINE))
    assert (result.format, result.cycles, result.verdict) == (alone.format, alone.cycles, alone.verdict)
    assert sorted(found(result)) == sorted(found(alone))


def test_sessions_are_logs_of_their_own_and_positions_are_rows(tmp_path: Path) -> None:
    logs = {str(path): rows(path.read_bytes()) for path in sorted((LOGS / "pydantic-ai-2.68.0").glob("*.jsonl"))[:5]}
    assert logs
    lines: list[str] = []
    names: list[str] = []
    places: dict[tuple[str, int], int] = {}
    waiting = {name: list(enumerate(log)) for name, log in logs.items()}
    while any(waiting.values()):  # one row of each in turn
        for name, rest in waiting.items():
            if rest:
                at, line = rest.pop(0)
                places[name, at] = len(lines)
                lines.append(line.decode())
                names.append(name)
    result = judged(table(tmp_path / "a.parquet", line=lines, session=names), How(None, MAX_LINE, by_session=True))
    for name, log in logs.items():
        alone = check("log", BytesIO(b"\n".join(log)))
        assert sorted(found(result, name)) == sorted((law, places[name, at]) for law, at in found(alone))
        assert [one.cycles for one in result.sessions if one.session == name] == [alone.cycles]
    assert [one.line for one in result.findings] == [one.at + 1 for one in result.findings]


def test_a_session_may_be_a_number_and_a_sub_agent_stays_one(tmp_path: Path) -> None:
    agent = USER.replace(b"{", b'{"agentId":"helper",')
    path = table(tmp_path / "a.parquet", line=[USER, agent, STOP, STOP], session=[7, 7, 7, 8])
    result = judged(path, How(None, MAX_LINE, by_session=True))
    assert [(one.session, one.agent, one.cycles, one.open) for one in result.sessions] == [
        ("7", None, 1, False),
        ("7", "helper", 0, True),
        ("8", None, 0, False),
    ]


def test_other_columns_can_be_named(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", payload=[USER, STOP, STOP], thread=["a", "a", "b"], line=[1, 2, 3])
    result = judged(path, How(None, MAX_LINE, columns=("payload", "thread")))
    assert [(one.session, one.law, one.at) for one in result.findings] == [("b", "outside-run", 2)]


def test_a_row_without_a_line_and_one_over_the_limit_are_malformed(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", line=[USER, None, b" " * 100 + STOP, STOP])
    messages = [one.message for one in judged(path, How(None, 99)).findings]
    assert [message.partition(": ")[2] for message in messages] == [
        "unreadable line",
        "line over the limit (--max-line)",
    ]


@pytest.mark.parametrize(
    ("write", "why"),
    [
        (lambda path: table(path, text=[USER]), "it has no column 'line' of lines, but text: name it with --columns"),
        (lambda path: path.write_bytes(b"PAR1 and no more"), "it is no Parquet that can be read: "),
        (lambda path: path.write_bytes(b""), "it is no Parquet that can be read: "),
        (lambda path: None, "No such file or directory"),
        (lambda path: table(path, line=pa.array([], pa.string())), "the log is empty"),
        (lambda path: table(path, line=["rubbish"] * 9), "there is no JSON object at its beginning"),
    ],
    ids=["column", "cut", "empty file", "missing", "no rows", "no format"],
)
def test_what_cannot_be_judged_says_why(tmp_path: Path, write: Any, why: str) -> None:
    write(tmp_path / "a.parquet")
    result = judged(str(tmp_path / "a.parquet"), How(None, MAX_LINE))
    assert (result.verdict, why in str(result.why)) == ("error", True), result.why


def test_a_table_at_a_url_is_read(tmp_path: Path) -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe("/logs/a.parquet", Path(table(tmp_path / "a.parquet", line=[USER, STOP, STOP])).read_bytes())
    assert [one.law for one in judged("memory://logs/a.parquet", How(None, MAX_LINE)).findings] == ["outside-run"]
    memory.pipe("/logs/b.parquet", b"PAR1")
    assert str(judged("memory://logs/b.parquet", How(None, MAX_LINE)).why).startswith("ArrowInvalid: ")
    with pytest.raises(UnreadableError, match="nothing at this URL"), read_table("memory://no.parquet", max_line=9):
        pass


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "_is_there", lambda module: module != "pyarrow")
    with pytest.raises(MissingExtraError, match=r"a log in Parquet needs the extra 'fleet'"):
        judged(table(tmp_path / "a.parquet", line=[USER]), How(None, MAX_LINE))


def test_lines_may_be_text_with_half_a_character(tmp_path: Path) -> None:
    path = table(tmp_path / "a.parquet", line=[json.dumps({"type": "user-message", "text": "\ud800"}), STOP.decode()])
    assert judged(path, How(None, MAX_LINE)).verdict == "pass"


def test_a_table_that_is_none_raises_a_named_error(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"no")
    with pytest.raises(NotATableError), read_table(str(tmp_path / "a.parquet"), max_line=9):
        pass
