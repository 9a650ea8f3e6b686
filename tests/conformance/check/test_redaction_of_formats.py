"""Logs of every format, redacted: the verdict stays, and no text does."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest

from turncheck.adapters.logs.formats.declared import Row, declared
from turncheck.adapters.logs.formats.mapping import Format
from turncheck.adapters.logs.formats.registry import FORMATS, UnsupportedFormatError
from turncheck.adapters.logs.reading import MAX_LINE, read_values
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.redaction import redact
from turncheck.conformance.check.redaction_of_formats import kept_of, redacted

TESTS: Final = Path(__file__).parents[2]
LOGS: Final = sorted([*(TESTS / "recordings/logs").glob("*/*.*"), *(TESTS / "data/logs").glob("*/*.*")])
SAID: Final = ("Hello there", "It says alpha", "Going left", "notes.txt", "no credit", "what is in")
"""Pieces of what users, models and tools say in the logs."""


def outcome(data: bytes, name: str | None = None) -> tuple[Any, ...]:
    ran = check("log", BytesIO(data), format_name=name)
    return ran.format, ran.verdict, ran.cycles, [finding.law for finding in ran.findings]


def shown(data: bytes, name: str | None = None) -> bytes:
    return "".join(f"{line}\n" for line in redact(BytesIO(data), MAX_LINE, format_name=name)).encode()


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_redacted_log_has_the_same_verdict(path: Path) -> None:
    data = path.read_bytes()
    assert outcome(shown(data)) == outcome(data)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_that_was_said_survives(path: Path) -> None:
    text = shown(path.read_bytes()).decode()
    assert [said for said in SAID if said in text] == []


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "turncheck"])
def test_every_format_says_what_it_keeps(name: str) -> None:
    kept = kept_of(FORMATS[name])
    assert kept is not None
    assert kept.ids | kept.tools | kept.numbers <= kept.fields


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "turncheck"])
@pytest.mark.parametrize(
    "value",
    [
        {"hunter2": "hunter2"},
        {"type": "hunter2", "content": [{"hunter2": ["hunter2"]}]},
        {"message": {"content": "[Request interrupted by user] hunter2", "role": "hunter2"}},
        {"name": "a tool called hunter2", "id": "hunter2", "call_id": "hunter2", "toolCallId": "hunter2"},
        "hunter2",
        ["hunter2"],
    ],
)
def test_no_secret_survives_in_any_field(name: str, value: Any) -> None:
    kept = kept_of(FORMATS[name])
    assert kept is not None
    assert "hunter2" not in "".join(redacted(kept, [value]))


def test_the_same_id_gets_the_same_name_and_another_one_another() -> None:
    kept = kept_of(FORMATS["ag-ui"])
    assert kept is not None
    lines = [json.loads(line) for line in redacted(kept, [{"toolCallId": name} for name in ("a", "b", "a")])]
    assert [line["toolCallId"] for line in lines] == ["id1", "id2", "id1"]


def test_an_unreadable_line_stays_unreadable() -> None:
    kept = kept_of(FORMATS["ag-ui"])
    assert kept is not None
    assert list(redacted(kept, [None])) == ["unreadable"]


ASK: Final = Row({"event": "ask"}, "user-message", {"text": "body"})
TOOL: Final = Row({"event": "tool", "phase": 1}, "tool-call", {"call_id": "call.id", "tool": "call.name"})
ACME: Final = declared("acme", "Acme", (ASK, TOOL))


def test_a_table_of_rows_says_what_is_kept() -> None:
    values = [{"event": "ask", "body": "hunter2"}, {"event": "tool", "phase": 1, "call": {"id": "x", "name": "read"}}]
    kept = kept_of(ACME)
    assert kept is not None
    first, second = map(json.loads, redacted(kept, values))
    assert first == {"event": "ask", "body": "text1, 7 characters"}
    assert second == {"event": "tool", "phase": 1, "call": {"id": "id2", "name": "read"}}


def test_a_mapper_of_ones_own_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Format(name="own", title="Own", recognises=lambda _: True, mapper=FORMATS["pi"].mapper)
    monkeypatch.setattr("turncheck.conformance.check.redaction.read_values", lambda *_, **__: (own, iter(())))
    with pytest.raises(UnsupportedFormatError, match="what a redacted log of the format own must keep"):
        list(redact(BytesIO(b"{}"), MAX_LINE))


def test_the_reader_of_values_names_the_format() -> None:
    assert read_values(BytesIO(b'{"type":"RUN_STARTED"}'))[0] is FORMATS["ag-ui"]
