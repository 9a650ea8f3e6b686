"""What `check` finds in folders, and what it names because it cannot judge it: nothing is skipped in silence."""

import json
import os
import socket
from contextlib import contextmanager

import pytest

from turncheck.conformance.cli.commands import check
from turncheck.conformance.cli.options.inputs import Input, expanded

SOUND = b'{"type":"user-message","text":"red"}\n{"type":"run-stop","reason":"completed"}\n'
NOBODY = 65534


@pytest.fixture
def logs(tmp_path):
    """A folder with one sound log."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "sound.jsonl").write_bytes(SOUND)
    return folder


@pytest.fixture
def checked(invoke, tmp_path, logs):
    """Check the folder; the exit code, and what was said of each log: ``pass``, or why it is an error."""

    def checked(*arguments):
        ran = invoke(tmp_path, "check", *(arguments or ["logs"]), "--json")
        assert "Traceback" not in ran.err
        said = [json.loads(line) for line in ran.out.splitlines()]
        return ran.code, {one["log"]: one.get("why") or one["verdict"] for one in said}

    return checked


@contextmanager
def nobody():
    """Without root's leave to read everything."""
    if os.getuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_cannot_be_read_is_found_with_its_fault(logs, monkeypatch):
    monkeypatch.chdir(logs)  # where nobody could not go
    logs.chmod(0o755)
    (logs / "closed").mkdir(0o000)
    with nobody():
        found = [*expanded((".",))]
    (logs / "closed").chmod(0o700)
    assert found == [Input("closed", "the folder cannot be read: Permission denied"), Input("sound.jsonl")]


def test_what_has_a_fault_is_an_error_beside_what_is_judged(checked, logs, monkeypatch):
    monkeypatch.setattr(check, "expanded", lambda _: [Input("closed", "Permission denied"), Input("logs/sound.jsonl")])
    assert checked() == (2, {"closed": "Permission denied", "logs/sound.jsonl": "pass"})


@pytest.mark.parametrize("name", ["gone.jsonl", "gone"])
def test_a_link_that_leads_nowhere_is_named(checked, logs, name):
    (logs / name).symlink_to("nowhere")
    assert checked() == (2, {f"logs/{name}": "the link leads nowhere", "logs/sound.jsonl": "pass"})


def test_a_link_that_leads_to_itself_is_named(checked, logs):
    (logs / "loop.jsonl").symlink_to("loop.jsonl")
    assert checked() == (2, {"logs/loop.jsonl": "Too many levels of symbolic links", "logs/sound.jsonl": "pass"})


def test_a_link_that_leads_back_to_a_folder_above_is_named(checked, logs):
    (logs / "back").symlink_to(".")
    assert checked() == (2, {"logs/back": "the link leads back to a folder above it", "logs/sound.jsonl": "pass"})


def test_a_link_to_a_folder_is_followed(checked, logs, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.jsonl").write_bytes(SOUND)
    (logs / "there").symlink_to("../elsewhere")
    assert checked() == (0, {"logs/sound.jsonl": "pass", "logs/there/a.jsonl": "pass"})


def test_a_folder_that_two_ways_lead_to_is_judged_once(checked, logs):
    (logs / "a").mkdir()
    (logs / "a" / "deep.jsonl").write_bytes(SOUND)
    (logs / "b").symlink_to("a")
    code, said = checked()
    assert (code, [*said.values()]) == (0, ["pass", "pass"])


def test_a_fifo_that_is_called_like_a_log_is_named_and_not_waited_for(checked, logs):
    os.mkfifo(logs / "fifo.jsonl")
    assert checked() == (2, {"logs/fifo.jsonl": "it is no file", "logs/sound.jsonl": "pass"})


def test_a_socket_that_is_called_like_a_log_is_named(checked, logs, monkeypatch):
    monkeypatch.chdir(logs.parent)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("logs/s.jsonl")
        assert checked() == (2, {"logs/s.jsonl": "it is no file", "logs/sound.jsonl": "pass"})


def test_what_is_not_called_like_a_log_is_no_fault(checked, logs):
    os.mkfifo(logs / "fifo")
    assert checked() == (0, {"logs/sound.jsonl": "pass"})


def test_a_folder_of_faults_alone_is_an_error(checked, logs):
    (logs / "sound.jsonl").unlink()
    (logs / "gone.jsonl").symlink_to("nowhere")
    assert checked() == (2, {"logs/gone.jsonl": "the link leads nowhere"})


def test_a_name_that_is_too_long_is_an_error(checked):
    assert checked("n" * 300, "logs") == (2, {"n" * 300: "File name too long", "logs/sound.jsonl": "pass"})


@pytest.mark.parametrize("command", ["project", "redact", "replay"])
@pytest.mark.parametrize("name", ["logs", "gone", "n" * 300])
def test_other_commands_name_what_they_cannot_read(invoke, tmp_path, logs, command, name):
    (tmp_path / "gone").symlink_to("nowhere")
    ran = invoke(tmp_path, command, name)
    assert (ran.code, ran.out, "Error: " in ran.err, name in ran.err) == (2, "", True, True)


def test_a_fault_is_told_in_text_and_in_a_report(invoke, tmp_path, logs):
    (logs / "gone.jsonl").symlink_to("nowhere")
    ran = invoke(tmp_path, "check", "logs", "--report", "sarif=out.sarif")
    assert "the link leads nowhere" in ran.out
    assert "logs/gone.jsonl cannot be judged: the link leads nowhere" in (tmp_path / "out.sarif").read_text()
