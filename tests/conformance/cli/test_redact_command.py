"""`turncheck redact`: no content survives, and everything that the model of turns reads does."""

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.logs.formats.registry import UnsupportedFormatError
from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.redaction import redact
from turncheck.conformance.cli.failures import BROKEN_PIPE
from turncheck.conformance.generation.logs import cases
from turncheck.model.core.decode import judge, judge_line
from turncheck.model.core.projection import project

LOGS = Path(__file__).parents[2] / "recordings" / "logs"
SECRET = "hunter2"
FIELDS = (
    "type", "kind", "reason", "delivery", "source", "text", "content", "id", "callId", "responseId", "requestId",
    "sessionId", "detail", "isError", "synthetic", "arguments", "output", "input", "message", "seq",
    "timestamp", SECRET,
)  # fmt: skip
TYPES = ("user-message", "agent-output", "tool-result", "run-stop", "model-request", "fault", "native")
LIMIT = 60.0  # seconds; never waited for

examples = settings(max_examples=20, deadline=None, derandomize=True, database=None)


def written(events):
    """A log's bytes; null stands for an unreadable line."""
    return b"".join((b"{" if event is None else json.dumps(event).encode()) + b"\n" for event in events)


def redacted(data, max_line=MAX_LINE):
    return "".join(f"{line}\n" for line in redact(BytesIO(data), max_line, format_name="turncheck")).encode()


def line(**fields):
    """Return the redacted fields of one line."""
    return json.loads(redacted(written([fields])))


def judged(data):
    result = check("-", BytesIO(data))
    return result.verdict, result.events, result.cycles, [(finding.law, finding.at) for finding in result.findings]


# ---- what was said ----


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("type_", TYPES)
def test_no_text_survives_in_any_field(type_, field):
    assert SECRET not in json.dumps(line(**{"type": type_, field: f"a {SECRET}"}))


@pytest.mark.parametrize("field", [*FIELDS, "tool"])
@pytest.mark.parametrize("value", [[SECRET], {SECRET: SECRET}, [[{SECRET: [SECRET]}]], {"a": {SECRET: 1}}])
def test_no_text_survives_in_a_payload_or_its_keys(field, value):
    assert SECRET not in json.dumps(line(**{"type": "user-message", field: value}))


@pytest.mark.parametrize("value", [SECRET, [SECRET], {SECRET: 1}])
def test_no_text_survives_in_a_line_that_is_no_event(value):
    assert SECRET.encode() not in redacted(written([{"type": "native"}, value]))


def test_an_unreadable_line_does_not_survive():
    assert redacted(f"{{{SECRET}\n".encode()) == b"unreadable\n"


def test_an_unknown_word_is_replaced_by_its_length():
    assert line(type="agent-output", kind="sound") == {"type": "agent-output", "kind": "5 characters"}


def test_a_name_of_a_field_that_the_format_does_not_have_is_replaced():
    assert line(type="native", hunter="x") == {"type": "native", "key2": "1 characters"}


def test_a_number_of_a_payload_is_replaced():
    assert line(type="tool-result", output={"pin": 1234, "rate": 0.5}) == {
        "type": "tool-result",
        "output": {"key1": 0, "key2": 0},
    }


@given(st.text(min_size=1), st.sampled_from(FIELDS))
@examples
def test_a_text_becomes_one_of_few_words(text, field):
    (value,) = line(**{field: f"«{text}»"}).values()
    assert value in {"m1", "c1", "r1", "s1", f"{len(text) + 2} characters"}


# ---- what is kept ----


@pytest.mark.parametrize(
    "event",
    [
        {"type": "agent-output", "kind": "tool-call", "tool": "deploy"},
        {"type": "user-message", "delivery": "followUp", "source": "adapter"},
        {"type": "run-stop", "reason": "interrupted"},
        {"type": "tool-result", "isError": True, "synthetic": False},
        {"type": "native", "seq": 5, "timestamp": 1.5},
        {"type": "user-message", "text": None, "content": []},
    ],
)
def test_what_a_view_depends_on_and_what_tells_nothing_is_kept(event):
    assert line(**event) == event


@pytest.mark.parametrize("seq", [10**400, -(10**400)])
def test_a_number_that_no_float_holds_is_kept(seq):
    assert line(type="native", seq=seq) == {"type": "native", "seq": seq}


def test_a_text_is_replaced_by_its_length():
    assert line(type="user-message", text="red")["text"] == "3 characters"


def test_ids_of_one_field_keep_apart_what_they_kept_apart():
    names = ["x", "y", "x", "", "m1", "m2"]
    data = redacted(written([{"type": "user-message", "id": name} for name in names]))
    assert [json.loads(item)["id"] for item in data.splitlines()] == ["m1", "m2", "m1", "m3", "m4", "m5"]


def test_a_response_keeps_the_name_of_its_request():
    data = redacted(written([{"type": "model-request", "requestId": "x"}, {"type": "native", "responseId": "x"}]))
    assert [list(json.loads(item).values())[1] for item in data.splitlines()] == ["r1", "r1"]


def test_many_ids_stay_apart():
    data = redacted(written([{"type": "tool-result", "callId": f"x{number}"} for number in range(20_000)]))
    assert len(set(data.splitlines())) == 20_000


@pytest.mark.parametrize("time", ["2026-01-31T10:20:30Z", "2026-01-31 10:20:30.123456+01:00", "2026-01-31"])
def test_a_time_that_is_text_is_kept(time):
    assert line(type="native", timestamp=time)["timestamp"] == time


@pytest.mark.parametrize("time", [f"2026-01-31T10:20:30Z {SECRET}", f"{SECRET} 2026-01-31", "٢٠٢٦-01-31"])
def test_a_text_that_only_holds_a_time_is_replaced(time):
    assert line(type="native", timestamp=time)["timestamp"] == f"{len(time)} characters"


@pytest.mark.parametrize("tool", ["deploy", "mcp__files__read", "files.read", "ns:a/b-c", "t" * 64])
def test_the_name_of_a_tool_is_kept(tool):
    assert line(type="agent-output", kind="tool-call", tool=tool)["tool"] == tool


@pytest.mark.parametrize("tool", [f"the password is {SECRET}", "t" * 65, "a\nb", "", "naïve"])
def test_what_no_tool_is_called_is_replaced(tool):
    assert line(type="agent-output", kind="tool-call", tool=tool)["tool"] == f"{len(tool)} characters"


@pytest.mark.parametrize("fields", [{"type": "user-message"}, {"type": "tool-result"}, {"kind": "assistant"}, {}])
def test_a_tool_is_kept_in_a_call_alone(fields):
    assert line(**fields, tool=SECRET)["tool"] == f"{len(SECRET)} characters"


# ---- what is not known ----


def test_what_is_not_known_is_counted_with_its_first_place_and_without_its_content(invoke, tmp_path):
    log = written([{"type": "native"}, None, {"type": SECRET}, 5, {"type": "native", SECRET: 1, "b": 2}, None])
    ran = invoke(tmp_path, "redact", "-", stdin=log)
    assert (ran.code, SECRET in ran.out + ran.err) == (0, False)
    assert ran.err.splitlines() == [
        "-: 2 unreadable lines, each replaced by a mark; the first at position 1",
        "-: 1 lines that are no event, replaced by their shape; the first at position 3",
        "-: 1 events of a type that the format does not have, whose name is replaced; the first at position 2",
        "-: 2 fields that the format does not have, whose names and values are replaced; the first at position 4",
    ]


@pytest.mark.parametrize(
    "log", [b"rubbish\n", b'{"role":"user","content":"hi"}\n', b'{"type":"message"}\nrubbish\n', b"5\n"]
)
def test_a_log_without_any_known_event_exits_2(invoke, tmp_path, log):
    ran = invoke(tmp_path, "redact", "-", "--format", "turncheck", stdin=log)
    assert (ran.code, "no line is an event of turncheck's own format" in ran.err) == (2, True)


def test_an_empty_log_is_redacted(invoke, tmp_path):
    assert invoke(tmp_path, "redact", "-", stdin=b"") == (0, "", "")


# ---- the same verdict ----


@given(cases())
@examples
def test_the_projection_stays_the_same(case):
    after = [judge_line(item) for item in redacted(written(case.log)).splitlines()]
    assert project(after, case.policies) == project([judge(event) for event in case.log], case.policies)


@given(cases())
@examples
def test_the_verdict_and_its_findings_stay_the_same(case):
    data = written(case.log)
    assert judged(redacted(data)) == judged(data)


USER = b'{"type":"user-message","text":"red"}'
STOP = b'{"type":"run-stop","reason":"completed"}'
BOM = b"\xef\xbb\xbf"
NESTED = b'{"type":"tool-result","callId":"a","output":' + b"[" * 600 + b"]" * 600 + b"}"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n \n",
        USER + b"\n" + STOP,
        USER + b"\r\n\r\n" + STOP + b"\r\n",
        BOM + USER + b"\n" + STOP,
        BOM + b"\n" + USER + b"\n" + STOP,
        USER + b"\n" + BOM + STOP,
        USER + b"\nnull\n5\n[]\n[{}]\n" + STOP,
        USER + b"\n\xff\n{\nNaN\n" + STOP,
        USER + b'\n{"type":"native","seq":1e999,"timestamp":-1e999}\n' + STOP,
        USER + b'\n{"type":"native","seq":' + b"9" * 5000 + b"}\n" + STOP,
        USER + b'\n{"type":"run-stop","reason":"\\ud800"}\n' + STOP,
        USER + b'\n{"type":"native","type":"heartbeat"}\n' + STOP,
        USER + b"\n" + NESTED + b"\n" + STOP,
        b"[" + USER + b"," + STOP + b"]",
        b"[\n" + USER + b",\n5,\n" + STOP + b"\n]",
        json.dumps(json.loads(USER), indent=2).encode() + STOP,
        b"data: " + USER + b"\n\ndata: " + STOP + b"\n\n",
    ],
)
def test_a_log_of_any_shape_keeps_its_verdict(data):
    before, after = judged(data), judged(redacted(data))
    assert (after[:3], [law for law, _ in after[3]]) == (before[:3], [law for law, _ in before[3]])


def test_a_line_over_the_limit_becomes_unreadable():
    assert redacted(USER + b"\n" + STOP, max_line=len(USER)).splitlines()[1] == b"unreadable"


# ---- the command ----


def test_the_redacted_log_goes_to_standard_output(invoke, tmp_path):
    ran = invoke(tmp_path, "redact", "-", stdin=USER + b"\n" + STOP)
    assert ran == (
        0,
        '{"type": "user-message", "text": "3 characters"}\n{"type": "run-stop", "reason": "completed"}\n',
        "",
    )


@pytest.mark.parametrize(("folder", "name"), [("pydantic-ai", "ag-ui"), ("ai-sdk", "ai-sdk"), ("pi-0.87.1", "pi")])
def test_a_log_in_another_format_is_redacted(invoke, tmp_path, folder, name):
    log = next(path for path in sorted(LOGS.glob("*/*")) if path.parent.name.startswith(folder))
    ran = invoke(tmp_path, "redact", log)
    redacted = tmp_path / "redacted.jsonl"
    redacted.write_text(ran.out)
    assert (ran.code, ran.err) == (0, "")
    assert f"  {name}, " in invoke(tmp_path, "check", redacted).out


def test_a_format_that_is_not_read_is_refused():
    with pytest.raises(UnsupportedFormatError, match="version 4"):
        [*redact(BytesIO(b'{"kind":"header","v":4,"storageVersion":1}'), MAX_LINE)]


def test_a_missing_file_exits_2(invoke, tmp_path):
    assert invoke(tmp_path, "redact", "nowhere.jsonl").code == 2


def test_a_broken_pipe_is_quiet(tmp_path):
    big = tmp_path / "big.jsonl"
    big.write_bytes(b"rubbish\n" * 50_000)
    command = [sys.executable, "-m", "turncheck.conformance", "redact", str(big), "--format", "turncheck"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"unreadable\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(LIMIT) == BROKEN_PIPE
