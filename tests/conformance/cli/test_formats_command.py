"""`turncheck formats`, and formats of the user's own: by name and by entry point."""

import json
import sys
from typing import Any

import pytest

from turncheck.adapters.logs.formats import registry
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.conformance.cli.group import main

READER = """
from turncheck.adapters.logs.formats.declared import Row, declared

ASK = Row({"event": "ask"}, "user-message", {"text": "body"})
SAY = Row({"event": "say"}, "assistant", {"text": "body"})
FORM = declared("acme", "Acme's log", (ASK, SAY))
NONE = 5
"""
LOG = '{"event":"ask","body":"red"}\n{"event":"say","body":"blue"}\n{"event":"ask","body":"red"}\n'


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command line in a folder with a reader, ``acme_reader``, and a log, ``chat.jsonl``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "acme_reader.py").write_text(READER)
    (tmp_path / "chat.jsonl").write_text(LOG)

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        sys.modules.pop("acme_reader", None)
        return (stop.value.code, *capsys.readouterr())

    return run


def test_every_format_is_listed_with_what_it_cannot_say(run: Any) -> None:
    code, out, _ = run("formats")
    assert code == 0
    assert [name for name in FORMATS if f"{name} " not in out] == []
    assert "how a run ended" in out


def test_json_has_one_object_per_format(run: Any) -> None:
    lines = [json.loads(line) for line in run("formats", "--json")[1].splitlines()]
    assert [line["name"] for line in lines] == list(FORMATS)
    assert list(lines[0]["says"]) == [
        *("messages", "delivery", "outputs", "calls", "results", "failures", "stops", "sessions")
    ]


def test_a_reader_of_ones_own_is_judged(run: Any) -> None:
    code, out, _ = run("formats", "python:acme_reader:FORM", "chat.jsonl")
    assert (code, "every promise of a reader is kept" in out) == (0, True)


def test_a_broken_promise_is_exit_code_1(run: Any, tmp_path: Any) -> None:
    (tmp_path / "other.jsonl").write_text('{"type":"user-message","text":"red"}\n')
    code, out, _ = run("formats", "python:acme_reader:FORM", "other.jsonl")
    assert (code, "✗ recognised by what only it has" in out) == (1, True)


@pytest.mark.parametrize("name", ["python:acme_reader:NONE", "python:acme_reader", "python:nowhere:X", "nonsense"])
@pytest.mark.parametrize("command", ["formats", "check"])
def test_a_format_that_cannot_be_had_is_exit_code_2(run: Any, command: str, name: str) -> None:
    code, out, err = run(*([command, name] if command == "formats" else [command, "chat.jsonl", "--format", name]))
    assert code == 2
    assert name.removeprefix("python:").split(":")[0] in out + err


@pytest.mark.parametrize("command", ["check", "project"])
def test_a_log_is_read_by_ones_own_reader(run: Any, command: str) -> None:
    code, out, _ = run(command, "chat.jsonl", "--format", "python:acme_reader:FORM")
    assert code == 0
    assert "cycle" in out


class Point:
    """An entry point."""

    name = "acme"

    def __init__(self, found: object) -> None:
        self._found = found

    def load(self) -> object:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install a distribution whose entry point gives an object."""

    def install(found: object) -> None:
        monkeypatch.setattr(registry, "entry_points", lambda group: [Point(found)] * (group == "turncheck.formats"))
        registry.every_format.cache_clear()

    yield install
    monkeypatch.undo()
    registry.every_format.cache_clear()


def test_a_format_of_another_distribution_is_recognised(run: Any, points: Any) -> None:
    scope: dict[str, Any] = {}
    exec(READER, scope)
    points(scope["FORM"])
    code, out, _ = run("check", "chat.jsonl")
    assert (code, "acme, 4 events" in out) == (0, True)


@pytest.mark.parametrize("found", [5, ImportError("no such module")])
def test_a_broken_entry_point_is_named(run: Any, points: Any, found: object) -> None:
    points(found)
    code, out, _ = run("check", "chat.jsonl")
    assert (code, "the entry point acme of turncheck.formats" in out) == (2, True)
