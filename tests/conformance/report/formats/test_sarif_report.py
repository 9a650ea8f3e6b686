"""SARIF: rules, results, where they point, and what is no result."""

import json
import os
from pathlib import Path

import pytest
from jsonschema import Draft4Validator

from turncheck.conformance.check.judge import check
from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.report.formats.sarif import render, render_logs

SCHEMA = Path(__file__).parents[3] / "data" / "sarif-2.1.0-rtm.5.json"
SARIF = Draft4Validator(json.loads(SCHEMA.read_text()))
STOP = b'{"type": "run-stop", "reason": "completed"}'
USER = b'{"type": "user-message", "text": "\xc3\xa9"}'


def run(text):
    whole = json.loads(text)
    SARIF.validate(whole)
    return whole["runs"][0]


def rendered(*given):
    return run(render(*given))


@pytest.fixture
def of(law, result):
    """The run of one law: ``of(verdict, ...)``."""
    return lambda *arguments, **options: rendered(result(law(*arguments, **options)), {})


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """The run of one recorded log: ``judged(bytes)``."""
    monkeypatch.chdir(tmp_path)

    def made(log, name="a log.jsonl"):
        Path(name).write_bytes(log)
        with Path(name).open("rb") as stream:
            return run(render_logs([check(name, stream)]))

    return made


def place(found):
    physical = found["locations"][0]["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]


# ---- of a target that breaks ----


def test_a_crash_is_the_first_result_of_a_rule_of_its_own(crashed):
    found = rendered(*crashed)
    assert [one["ruleId"] for one in found["results"]] == ["target-breaks", "order"]
    rules = [rule["id"] for rule in found["tool"]["driver"]["rules"]]
    assert [rules[one["ruleIndex"]] for one in found["results"]] == ["target-breaks", "order"]


def test_a_crash_points_at_its_file_and_shows_its_word(crashed):
    first = rendered(*crashed)["results"][0]
    assert place(first) == ("found/x.target-breaks.json", {"startLine": 1})
    assert first["message"]["text"].splitlines()[:2] == ["it died", '  → user          id="u1"  text="hello"']


def test_laws_that_a_crash_left_undecided_are_named_once(crashed):
    (invocation,) = rendered(*crashed)["invocations"]
    assert invocation["executionSuccessful"] is False
    notes = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert notes == ["the run is incomplete: the target broke"]


# ---- of a verification ----


def test_each_law_is_a_rule(broken):
    assert [rule["id"] for rule in rendered(*broken)["tool"]["driver"]["rules"]] == ["total", "follow-up-fifo"]


def test_a_rule_says_its_law_and_its_clauses(of):
    rule = of("pass")["tool"]["driver"]["rules"][0]
    assert (rule["shortDescription"]["text"], rule["properties"]["tags"]) == (
        LAWS["one-root"].says,
        list(LAWS["one-root"].clauses),
    )


def test_a_rule_helps_with_the_text_of_its_clauses(of):
    assert "RC-7.1: The projection starts idle." in of("pass")["tool"]["driver"]["rules"][0]["help"]["text"]


def test_a_broken_law_is_a_result_of_its_rule(broken):
    (found,) = rendered(*broken)["results"]
    assert (found["ruleId"], found["ruleIndex"], found["level"]) == ("follow-up-fifo", 1, "error")


def test_a_broken_law_points_at_its_counterexample_file(broken):
    assert place(rendered(*broken)["results"][0]) == ("found/x.json", {"startLine": 1})


def test_a_broken_law_without_a_file_points_nowhere(of):
    assert "locations" not in of("fail")["results"][0]


@pytest.mark.parametrize("verdict", ["pass", "inconclusive", "skipped", "error"])
def test_what_is_not_broken_is_no_result(of, verdict):
    assert of(verdict)["results"] == []


@pytest.mark.parametrize(
    ("verdict", "levels"), [("pass", []), ("skipped", []), ("inconclusive", ["note"]), ("error", ["error"])]
)
def test_what_could_not_be_judged_is_a_notification(of, verdict, levels):
    assert [note["level"] for note in of(verdict)["invocations"][0]["toolExecutionNotifications"]] == levels


@pytest.mark.parametrize(("verdict", "whole"), [("fail", True), ("inconclusive", True), ("error", False)])
def test_a_broken_target_is_no_successful_execution(of, verdict, whole):
    assert of(verdict)["invocations"][0]["executionSuccessful"] == whole


def test_a_cut_run_is_no_successful_execution(law, result):
    assert rendered(result(law("pass"), cut="out of time"), {})["invocations"][0] == {
        "executionSuccessful": False,
        "toolExecutionNotifications": [{"level": "warning", "message": {"text": "the run was cut short: out of time"}}],
    }


def test_what_the_baseline_excuses_is_suppressed(of):
    assert of("fail", state="known")["results"][0]["suppressions"] == [
        {"kind": "external", "justification": "why (baseline: it is old, #7)"}
    ]


def test_a_stale_entry_is_a_result(of):
    assert [found["ruleId"] for found in of("pass", state="stale")["results"]] == ["one-root"]


def test_an_absolute_path_is_a_file_uri(of):
    assert place(of("fail", file="/a b/c.json")["results"][0])[0] == "file:///a%20b/c.json"


# ---- of recorded logs ----


def test_a_finding_points_at_its_line_and_its_bytes(judged):
    found = judged(USER + b"\n" + STOP + b"\n\n" + STOP + b"\n")["results"][0]
    begin = len(USER) + len(STOP) + 3
    assert place(found) == ("a%20log.jsonl", {"startLine": 4, "byteOffset": begin, "byteLength": len(STOP)})


def test_a_finding_is_a_result_of_its_law(judged):
    assert [found["ruleId"] for found in judged(USER + b"\n" + STOP + b"\n" + STOP)["results"]] == ["outside-run"]


def test_only_the_laws_that_a_log_breaks_are_rules(judged):
    assert [rule["id"] for rule in judged(USER + b"\n" + STOP + b"\n" + STOP)["tool"]["driver"]["rules"]] == [
        "outside-run"
    ]


def test_a_log_that_merely_ends_in_a_run_is_noted(judged):
    assert [(found["ruleId"], found["level"]) for found in judged(USER)["results"]] == [("truncated", "note")]


@pytest.mark.parametrize(
    ("log", "why"),
    [(b"", "the log is empty"), (b'{"type":"native"}\n', "no event opens a run")],
    ids=["empty", "native"],
)
def test_a_log_that_cannot_be_judged_is_a_notification(judged, log, why):
    found = judged(log)["invocations"][0]
    assert (found["executionSuccessful"], found["toolExecutionNotifications"][0]["message"]["text"]) == (
        False,
        f"a log.jsonl cannot be judged: {why}: there is nothing to judge",
    )


def test_a_finding_of_standard_input_points_nowhere(tmp_path, invoke):
    ran = invoke(tmp_path, "check", "-", "--report", "sarif", stdin=STOP)
    assert "locations" not in run(ran.out)["results"][0]


def test_a_log_that_is_gone_has_lines_and_no_bytes(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(STOP)
    with path.open("rb") as stream:
        result = check(str(path), stream)
    path.unlink()
    assert place(run(render_logs([result]))["results"][0])[1] == {"startLine": 1}


def test_a_pipe_is_not_read_again(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(STOP)
    with path.open("rb") as stream:
        result = check(str(path), stream)
    path.unlink()
    os.mkfifo(path)
    assert place(run(render_logs([result]))["results"][0])[1] == {"startLine": 1}


def test_findings_that_are_not_listed_are_a_notification(judged):
    (note,) = judged(b'{"type":"user-message","text":"red"}\n' + b"x\n" * 1003)["invocations"][0][
        "toolExecutionNotifications"
    ]
    assert note == {"level": "warning", "message": {"text": "a log.jsonl: … and 3 more of malformed"}}
