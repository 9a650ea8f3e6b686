"""Streams with the recorded complaints of the protocol's validators, and the differences that the docs explain."""

import json
from pathlib import Path
from typing import Any

import pytest
from ag_ui.freeze import FROZEN
from ag_ui.peers import EXPLAINED, missed, ours, validate
from ag_ui.streams import Stream

PAGE = Path(__file__).parents[3] / "docs" / "registry" / "formats.md"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in FROZEN.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[f"{at}-{row['complaints'][0][0]}" for at, row in enumerate(ROWS)])
def test_a_recorded_complaint_is_found_at_its_line_or_explained(row: dict[str, Any]) -> None:
    complaints = [(rule, at, why) for rule, at, why in row["complaints"]]
    for peer in ("verifyEvents", "AGUI"):
        assert missed(row["stream"], [one for one in complaints if one[0].startswith(peer)]) is None


def test_the_frozen_streams_reach_both_validators_widely() -> None:
    rules = {rule for row in ROWS for rule, _, _ in row["complaints"]}
    rejections = [row for row in ROWS if "verifyEvents" in {rule for rule, _, _ in row["complaints"]}]
    assert len(rules) >= 25
    assert len(rejections) >= 25


START = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
DONE = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
CALL = {"toolCallId": "c"}
BEGUN = {"type": "TOOL_CALL_START", **CALL, "toolCallName": "read"}
ENDED = {"type": "TOOL_CALL_END", **CALL}
RESULT = {"type": "TOOL_CALL_RESULT", **CALL, "messageId": "x", "content": "red"}
CHUNK = {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "a"}
PAUSED: dict[str, Any] = {**DONE, "outcome": {"type": "interrupt", "interrupts": []}}
REST = {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"}
RAW = {"type": "RAW", "event": 1}
PATCH = {"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/n"}]}
DIFFERENCES: dict[str, tuple[str, Stream]] = {
    "an error comes first": ("AGUI001", [{"type": "RUN_ERROR", "message": "red"}]),
    "a chunk with its id behind RAW": ("AGUI104", [START, CHUNK, RAW, CHUNK, DONE]),
    "a chunk without an id behind RAW": ("AGUI504", [START, CHUNK, RAW, REST, DONE]),
    "arguments that are no JSON": (
        "AGUI204",
        [START, BEGUN, {"type": "TOOL_CALL_ARGS", **CALL, "delta": "{"}, ENDED, RESULT, DONE],
    ),
    "a result in a resumed run": ("AGUI207", [START, BEGUN, ENDED, PAUSED, START, RESULT, DONE]),
    "a result before the first output": ("AGUI207", [START, RESULT, DONE]),
    "a patch that does not apply": ("AGUI302", [START, {"type": "STATE_SNAPSHOT", "snapshot": {}}, PATCH, DONE]),
    "an unknown type": ("AGUI503", [START, {"type": "LATER"}, DONE]),
    "a result in parts": ("AGUI504", [START, BEGUN, ENDED, {**RESULT, "content": []}, DONE]),
}


@pytest.mark.parametrize(("rule", "stream"), DIFFERENCES.values(), ids=list(DIFFERENCES))
def test_an_explained_difference_is_one(rule: str, stream: Stream) -> None:
    complaints = validate(stream)
    assert rule in {found for found, _, _ in complaints}
    assert missed(stream, complaints) is None
    assert [law for law, _ in ours(stream)] == []


def test_a_type_of_a_later_version_after_a_terminal_is_no_finding() -> None:
    late: Stream = [START, DONE, {"type": "LATER"}]
    rejected = ("verifyEvents", 2, "The run has already finished")
    assert (missed(late, [rejected]), ours(late)) == (None, [])


@pytest.mark.parametrize("rule", EXPLAINED)
def test_the_page_explains_each_rule_that_may_differ(rule: str) -> None:
    table = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert any(f"`{rule}`" in line.split("|")[1] for line in table)


def test_a_complaint_without_a_finding_counts_as_missed() -> None:
    complaint = ("AGUI007", 1, "red")
    assert missed([START, DONE], [complaint]) == complaint
