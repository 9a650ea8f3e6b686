"""No terminal and no CI service obeys foreign text that a command prints: every command, every place."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from hostile_text import COMMANDS, ESCAPES, TEXT, harm

from turncheck.conformance.cli.group import COMMANDS as CLI

EXAMPLES = Path(__file__).parents[3] / "docs" / "matrix" / "counterexamples"
PROJECTOR = f"""
import sys
print({TEXT!r}, file=sys.stderr, flush=True)
def project(events):
    raise ValueError({TEXT!r})
"""
SERVER = f"""
import json, sys
print({TEXT!r}, file=sys.stderr, flush=True)
hello = {{"ok": True, "protocol": 1, "implementation": {{"name": {TEXT!r}, "version": {TEXT!r}, "language": {TEXT!r}}},
    "profile": {{"roles": ["runtime"], "capabilities": [], "machine": {TEXT!r}}}}}
event = {{"type": {TEXT!r}, "text": {TEXT!r}, {TEXT!r}: 1, "sessionId": {TEXT!r}}}
awaited = {{"kind": "model", "requestId": {TEXT!r}, "sessionId": {TEXT!r}}}
for line in sys.stdin:
    message = json.loads(line)
    step = {{"events": [event], "awaiting": [awaited], "refused": {{"why": "rejected", "message": {TEXT!r}}}}}
    match message["cmd"]:
        case "hello":
            print(json.dumps(hello), flush=True)
        case "stop":
            break
        case "run":
            print(json.dumps({{"seq": message["seq"], "ok": True, "steps": [step] * len(message["word"])}}), flush=True)
        case _:
            print(json.dumps({{"seq": message["seq"], "ok": True, **step}}), flush=True)
"""
NAMES = [ESCAPES.replace("\x00", ""), *COMMANDS, "\udcff"]
"""Arguments that a shell, an action's input or a CI matrix may pass on."""


@pytest.fixture
def hostile(tmp_path):
    """A folder of hostile files: a log, a projector, a runtime and a counterexample."""
    (tmp_path / "hostile.py").write_text(PROJECTOR)
    (tmp_path / "server.py").write_text(SERVER)
    log = [
        {"type": TEXT, "sessionId": TEXT},
        {"type": "user-message", "id": TEXT, "text": TEXT, "sessionId": TEXT},
        {"type": "run-stop", "reason": TEXT, "sessionId": TEXT},
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in log))
    (tmp_path / "::error::owned.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in log))
    (tmp_path / "unreadable.jsonl").write_text(f"{TEXT}\n")
    found = json.loads(next(iter(sorted(EXAMPLES.glob("*.json")))).read_text())
    found |= {"target": TEXT, "message": TEXT, "expected": [TEXT], "observed": {TEXT: TEXT}}
    for step in found["steps"]:
        step["events"] = [{"type": TEXT, TEXT: TEXT}]
    (tmp_path / "found.json").write_text(json.dumps(found))
    return tmp_path


RUNTIME = "cmd:" + shlex.join([sys.executable, "server.py"])
RUNS = {
    "check": ["check", "log.jsonl", "::error::owned.jsonl"],
    "check, one that cannot be judged": ["check", "unreadable.jsonl"],
    "project": ["project", "log.jsonl"],
    "project --strict": ["project", "log.jsonl", "--strict"],
    "project, unreadable": ["project", "unreadable.jsonl"],
    "verify a projector": ["verify", "python:hostile:project", "--laws", "total", "--examples", "1"],
    "verify a runtime": ["verify", RUNTIME, "--examples", "1"],
    "verify, markdown": ["verify", RUNTIME, "--examples", "1", "--report", "markdown"],
    "verify, junit": ["verify", RUNTIME, "--examples", "1", "--report", "junit"],
    "verify --suite": ["verify", RUNTIME, "--suite", "n-complete"],
    "smoke a projector": ["smoke", "python:hostile:project"],
    "smoke a runtime": ["smoke", RUNTIME],
    "drive": ["drive", RUNTIME],
    "learn": ["learn", RUNTIME, "--stimuli", "2"],
    "matrix": ["matrix", RUNTIME, "cmd:false", "--examples", "1"],
    "replay": ["replay", "found.json"],
    "replay --run": ["replay", "found.json", "--target", RUNTIME],
}


@pytest.mark.parametrize("run", RUNS)
def test_what_an_implementation_or_a_log_says_is_not_obeyed(run, hostile, invoke):
    ran = invoke(hostile, *RUNS[run], stdin=b"user hi\nlog\nawaiting\ncycles\n")
    assert ran.out + ran.err
    assert harm(ran.out) + harm(ran.err) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", sorted({*CLI, "", "--report"} - {"mutants"}))
def test_a_hostile_argument_is_not_obeyed(command, name, tmp_path, invoke):
    given = ["verify", "reference", "--report", name] if command == "--report" else [*filter(None, [command]), name]
    given += {"init": ["--lang", "python"], "export": ["dot"], "targets": ["--make"], "diagrams": []}.get(command, [])
    ran = invoke(tmp_path, *given)
    assert ran.out + ran.err
    assert harm(ran.out) + harm(ran.err) == []


def test_json_is_exact(hostile, invoke):
    """JSON itself escapes control characters; bidi controls stay in it as data."""
    out = invoke(hostile, "project", "log.jsonl", "--json").out
    assert json.loads(out)["sessionId"] == TEXT
    assert "\u202e" in out
