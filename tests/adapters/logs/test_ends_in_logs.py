"""Ends that a log tells several times: they are one in blocks, in values and in a monitor, as ``verify`` reads them."""

import json
from io import BytesIO
from typing import Any

import pytest

from turncheck.adapters.logs.formats.told_ends import LOOKED_BACK
from turncheck.adapters.logs.reading import read_log
from turncheck.conformance.check.judge import check
from turncheck.conformance.check.monitor import Monitor
from turncheck.conformance.check.projecting import projected
from turncheck.conformance.observe.told_ends import ToldEnds

USER = {"type": "user-message", "text": "red"}
NEXT = {"type": "user-message", "text": "blue", "delivery": "followUp"}
NATIVE = {"type": "native"}
FAR = [
    {"type": "user-message", "text": "x" * 1000, "sessionId": "b"},
    {"type": "model-request", "sessionId": "b"},
] * 100


def stop(reason: str, via: Any = None) -> dict[str, Any]:
    return {"type": "run-stop", "reason": reason} | ({} if via is None else {"via": via})


EVENT, EXCEPTION, CLOSE = stop("error"), stop("error", "exception"), stop("completed", "close")
ONE = {
    "event, exception": [USER, EVENT, EXCEPTION],
    "exception, event": [USER, EXCEPTION, EVENT],
    "all three": [USER, EVENT, NATIVE, EXCEPTION, CLOSE],
    "far apart, with another session's events between": [USER, EVENT, *FAR, EXCEPTION],
    "far apart, the event last": [USER, EXCEPTION, *FAR, EVENT],
}
TWO = {
    "two events": [USER, EVENT, EVENT],
    "two exceptions": [USER, EXCEPTION, EXCEPTION],
    "two reasons": [USER, EVENT, stop("completed", "exception")],
    "something between": [USER, EVENT, {"type": "model-request"}, EXCEPTION],
    "a close and then an event": [USER, CLOSE, stop("completed")],
}


def in_lines(log: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in log)


def laws(log: bytes) -> list[str]:
    return [finding.law for finding in check("log", BytesIO(log)).findings if finding.law != "truncated"]


def monitored(log: list[dict[str, Any]], *, lines: bool) -> list[str]:
    monitor = Monitor()
    values = [json.dumps(event) if lines else event for event in log]
    return [finding.law for value in values for finding in monitor.feed(value)]


@pytest.mark.parametrize("log", [*ONE.values()], ids=[*ONE])
def test_one_end_that_is_told_several_times_is_one(log):
    assert laws(in_lines(log)) == laws(json.dumps(log).encode()) == []


@pytest.mark.parametrize("log", [*TWO.values()], ids=[*TWO])
def test_two_ends_are_two(log):
    assert laws(in_lines(log)) == laws(json.dumps(log).encode()) == ["outside-run"]


@pytest.mark.parametrize("lines", [True, False])
def test_a_monitor_reads_them_the_same_way(lines):
    one = [ONE[name] for name in ONE if not name.startswith("far")]
    assert [monitored(log, lines=lines) for log in one] == [[]] * len(one)
    assert [monitored(log, lines=lines) for log in TWO.values()] == [["outside-run"]] * len(TWO)


def test_a_monitor_that_is_restored_between_two_tellings_reads_one_end():
    before, after = Monitor(), Monitor()
    for event in (USER, EVENT):
        before.feed(event)
    after.restore(before.save())
    assert after.feed(EXCEPTION) == []


def test_the_second_telling_does_not_end_the_run_of_the_follow_up_that_waits():
    log = [USER, NEXT, stop("completed"), CLOSE, {"type": "agent-output", "kind": "assistant", "text": "hi"}, EVENT]
    (session,) = projected(BytesIO(in_lines(log)))
    assert [(cycle.root, cycle.reason) for cycle in session.cycles] == [(0, "completed"), (1, "error")]


def test_a_line_that_cannot_be_read_parts_two_ends():
    log = in_lines([USER, EVENT]) + b"{\n" + in_lines([EXCEPTION])
    assert laws(log) == ["malformed", "outside-run"]


@pytest.mark.parametrize("log", [*ONE.values(), *TWO.values()], ids=[*ONE, *TWO])
def test_a_log_of_one_session_is_read_as_verify_reads_it(log):
    mine = [event for event in log if "sessionId" not in event]
    ends = ToldEnds()
    told = [ends.once(event)["type"] == "run-stop" for event in mine]
    read = [type(event).__name__ for chunk in read_log(BytesIO(in_lines(mine))).chunks for event in chunk.batch.events]
    assert [name == "RunStop" for name in read] == told


@pytest.mark.parametrize("via", [5, [], {}, "rumour", ""])
def test_a_via_of_another_value_makes_no_event_malformed(via):
    assert laws(in_lines([USER, stop("completed", via)])) == []


@pytest.mark.parametrize(("between", "found"), [(LOOKED_BACK - 1, []), (LOOKED_BACK, ["outside-run"])])
def test_the_first_end_with_a_channel_is_looked_for_among_so_many_events(between, found):
    others = [{"type": "model-request", "sessionId": "b"}] * between
    assert laws(in_lines([{**USER, "sessionId": "b"}, USER, EVENT, *others, EXCEPTION])) == found


@pytest.mark.parametrize("size", [1, 7, 50, 300])
def test_blocks_of_any_size_are_read_alike(monkeypatch, size):
    monkeypatch.setattr("turncheck.adapters.logs.framing.BLOCK", size)
    for log in (*ONE.values(), *TWO.values()):
        assert (laws(in_lines(log)) == []) == (log in ONE.values())
