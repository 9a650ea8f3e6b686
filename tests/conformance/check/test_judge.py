"""The findings of `check` in a recorded log: each anomaly with its line, and a verdict."""

import json
from io import BytesIO
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.logs.formats.recognition import UnrecognisedError
from turncheck.adapters.logs.framing import BLOCK
from turncheck.conformance.check.judge import check, excused_calls
from turncheck.conformance.check.results import LISTED, LogResult, Tally, more_lines
from turncheck.conformance.generation.logs import Case, cases
from turncheck.conformance.laws.log import LOG_LAWS
from turncheck.model.core.decode import Batch, judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import LogProjector, project

SETTINGS = settings(max_examples=60, deadline=None, database=None, derandomize=True)

USER: Final = {"type": "user-message", "text": "red"}
FOLLOW_UP: Final = {**USER, "delivery": "followUp"}
TEXT: Final = {"type": "agent-output", "kind": "assistant", "text": "red"}
STOP: Final = {"type": "run-stop", "reason": "completed"}
CUT: Final = {"type": "run-stop", "reason": "interrupted"}


def call(name: str) -> dict[str, Any]:
    return {"type": "agent-output", "kind": "tool-call", "callId": name, "tool": "read"}


def result(name: str) -> dict[str, Any]:
    return {"type": "tool-result", "callId": name}


def of(session: str, event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "sessionId": session}


class Pieces(BytesIO):
    """A stream that yields a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self.size = size

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(self.size if size is None or size < 0 else min(size, self.size))


def lines(*events: Any) -> bytes:
    return b"".join((event if isinstance(event, bytes) else json.dumps(event).encode()) + b"\n" for event in events)


def checked(*events: Any, **options: Any) -> LogResult:
    return check("log", BytesIO(lines(*events)), **options)


def found(judged: LogResult) -> list[tuple[str, int, int]]:
    return [(finding.law, finding.at, finding.line) for finding in judged.findings]


# Findings


def test_a_sound_log_passes() -> None:
    assert checked(USER, TEXT, STOP) == LogResult("log", "turncheck", 3, 1, (), "pass")


@pytest.mark.parametrize(
    ("events", "finding"),
    [
        ([USER, b"rubbish", STOP], ("malformed", 1, 2)),
        ([USER, {"type": "heartbeat"}, STOP], ("unknown-type", 1, 2)),
        ([USER, STOP, STOP], ("outside-run", 2, 3)),
        ([USER, result("a"), STOP], ("unknown-call", 1, 2)),
        ([USER, call("a"), result("a"), result("a"), STOP], ("duplicate-result", 3, 4)),
        ([USER, call("a"), result("a"), call("a"), STOP], ("duplicate-call", 3, 4)),
        ([USER, call("a"), TEXT, STOP], ("unanswered-call", 1, 2)),
        ([USER, STOP, USER, TEXT], ("truncated", 2, 3)),
    ],
)
def test_every_anomaly_is_a_finding_with_its_line_and_clauses(events: list[Any], finding: tuple[str, int, int]) -> None:
    judged = checked(*events)
    assert found(judged) == [finding]
    assert judged.findings[0].clauses == LOG_LAWS[finding[0]].clauses


def test_a_line_number_counts_blank_lines_and_a_position_does_not() -> None:
    assert found(checked(b"", USER, b" \r", b"", b"rubbish", STOP)) == [("malformed", 1, 5)]


def test_a_finding_says_what_is_wrong() -> None:
    (finding,) = checked(USER, {"type": "run-stop", "reason": "cancelled"}, STOP).findings
    assert finding.message == (
        "the line is no event of the log: run-stop: reason is none of completed, interrupted, error"
    )


def test_a_finding_names_the_unknown_type_and_not_all_of_a_long_one() -> None:
    short, long = checked(USER, {"type": "heartbeat"}, {"type": "x" * 10_000}, STOP).findings
    assert short.message.endswith(": heartbeat")
    assert len(long.message) < 200


FILLER: Final = [{**TEXT, "text": "x" * 1000}] * (3 * BLOCK // 1000)


def test_an_unanswered_call_is_found_many_blocks_back() -> None:
    assert found(checked(USER, b"", call("a"), *FILLER, STOP)) == [("unanswered-call", 1, 3)]


def test_the_root_of_a_truncated_run_is_found_many_blocks_back() -> None:
    assert found(checked(b"", USER, *FILLER)) == [("truncated", 0, 2)]


def test_the_root_of_a_truncated_run_may_have_waited_many_blocks() -> None:
    assert found(checked(USER, b"", FOLLOW_UP, FOLLOW_UP, *FILLER, STOP, *FILLER, STOP, *FILLER)) == [
        ("truncated", 2, 4)
    ]


def test_lines_are_right_with_several_sessions() -> None:
    open_calls = [of(name, event) for name in "abc" for event in (USER, call("x"), call("y"))]
    stops = [of(name, STOP) for name in "cab"]
    judged = checked(*open_calls, of("a", result("y")), *FILLER, *stops)
    first = len(open_calls) + 2
    outside = [("outside-run", first + number - 1, first + number) for number in range(len(FILLER))]
    unanswered = [("unanswered-call", at, at + 1) for at in (7, 8, 1, 4, 5)]
    assert found(judged) == [*outside, *unanswered]


@pytest.mark.parametrize("size", [1, 10, 100, BLOCK])
def test_findings_come_in_the_order_of_the_lines_that_reveal_them(size: int) -> None:
    log = lines(
        of("a", USER), of("a", call("x")), of("b", USER), of("b", TEXT), b"rubbish", of("a", STOP), of("b", result("y"))
    )
    judged = check("log", Pieces(log, size))
    assert [(finding.law, finding.at) for finding in judged.findings] == [
        ("malformed", 4),
        ("unanswered-call", 1),
        ("unknown-call", 6),
        ("truncated", 2),
    ]


@SETTINGS
@given(
    st.lists(st.tuples(st.sampled_from([USER, call("x"), call("y"), result("x"), STOP, CUT]), st.sampled_from("ab")))
)
def test_only_open_calls_of_runs_that_completed_are_excused(given: list[tuple[dict[str, Any], str]]) -> None:
    events = tuple(judge(of(session, event)) for event, session in given)
    progress = LogProjector().feed(Batch(events, range(len(events))))
    completed = {at for _, cycle in progress.cycles if cycle.reason == "completed" for at in cycle.items}
    opened = {anomaly.at for _, anomaly in progress.anomalies if anomaly.kind == "unanswered-call"}
    assert excused_calls(progress) == completed & opened


@SETTINGS
@given(
    st.lists(cases(policies=Policies()), min_size=1, max_size=3), st.randoms(use_true_random=False), st.integers(1, 400)
)
def test_findings_are_the_anomalies_however_the_bytes_come(parts: list[Case], chance: Any, size: int) -> None:
    queues = [
        [of(str(number), event) if isinstance(event, dict) else event for event in part.log]
        for number, part in enumerate(parts)
    ]
    turns = [number for number, queue in enumerate(queues) for _ in queue]
    chance.shuffle(turns)
    log = [queues[number].pop(0) for number in turns]
    judged = check("log", Pieces(lines(*log), size))
    assert judged.findings == checked(*log).findings
    sessions = [judge(event).session_id for event in log]
    expected = []
    for name in set(sessions):
        ats = [at for at, session in enumerate(sessions) if session == name]
        projection = project([judge(log[at]) for at in ats])
        expected += [(anomaly.kind, ats[anomaly.at], ats[anomaly.at] + 1) for anomaly in projection.anomalies]
    assert sorted(found(judged)) == sorted(expected)


def test_what_is_remembered_of_lines_does_not_grow_with_the_log() -> None:
    from turncheck.adapters.logs.reading import read_log
    from turncheck.conformance.check.judge import _Judge

    log = lines(*[USER, call("a"), FOLLOW_UP, TEXT, result("a"), STOP, STOP] * 500)
    read = read_log(Pieces(log, 300))
    judged = _Judge(read, Policies(), Tally())
    for chunk in read.chunks:
        judged.take(chunk)
        assert len(judged._places._parts) <= 65


def test_progress_is_told_block_by_block() -> None:
    told: list[int] = []
    checked(USER, *FILLER, STOP, progress=told.append)
    assert told == sorted(told)
    assert (len(told) > 2, told[-1]) == (True, len(FILLER) + 2)


# Verdicts


def test_a_log_that_ends_in_a_run_is_inconclusive() -> None:
    assert checked(USER).verdict == "inconclusive"


def test_in_strict_mode_it_fails() -> None:
    assert checked(USER, strict=True).verdict == "fail"


def test_with_anything_else_it_fails() -> None:
    assert checked(TEXT, USER).verdict == "fail"


def test_strict_changes_nothing_else() -> None:
    assert checked(USER, STOP, strict=True) == checked(USER, STOP)


def test_a_stream_file_is_whole_and_fails_without_a_terminal() -> None:
    judged = checked({"type": "RUN_STARTED", "threadId": "t", "runId": "r"})
    assert (judged.format, judged.verdict, [finding.law for finding in judged.findings]) == (
        "ag-ui",
        "fail",
        ["truncated"],
    )


@pytest.mark.parametrize("data", [b"", b"\n \r\n\t\n", b"\xef\xbb\xbf", b": only a comment\n\n", b"event: x\n\n"])
def test_an_empty_log_has_nothing_to_judge(data: bytes) -> None:
    judged = check("log", BytesIO(data))
    assert (judged.events, judged.verdict, judged.why) == (0, "error", "the log is empty: there is nothing to judge")


@pytest.mark.parametrize("name", [None, "turncheck", "ag-ui"])
def test_rubbish_is_no_log(name: str | None) -> None:
    with pytest.raises(UnrecognisedError, match="there is no JSON object at its beginning"):
        check("log", BytesIO(b"# Notes\n\nsome prose\n"), format_name=name)


def test_a_format_that_is_named_and_fits_nothing_is_not_judged() -> None:
    with pytest.raises(UnrecognisedError, match="none is of the format ag-ui; it looks like turncheck"):
        checked(USER, STOP, format_name="ag-ui")


NATIVE: Final = {"type": "native", "event": "heartbeat"}


@pytest.mark.parametrize("strict", [False, True])
def test_a_log_without_a_run_is_inconclusive_and_says_so(*, strict: bool) -> None:
    judged = checked(NATIVE, NATIVE, strict=strict)
    assert (judged.events, judged.cycles) == (2, 0)
    assert (judged.verdict, judged.why) == ("inconclusive", "no event opens a run: there is nothing to judge")


def test_a_run_makes_the_events_around_it_no_matter() -> None:
    assert checked(NATIVE, USER, STOP, NATIVE).verdict == "pass"


@pytest.mark.parametrize(
    ("events", "code"), [([USER, STOP], 0), ([USER], 0), ([USER, STOP, STOP], 1), ([NATIVE], 2), ([], 2)]
)
def test_a_verdict_has_the_promised_exit_code(events: list[Any], code: int) -> None:
    assert checked(*events).exit_code == code


# Calls that are the client's own


def ag_ui(*calls: str, end: str = "RUN_FINISHED") -> list[dict[str, Any]]:
    begin = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    made = [
        event
        for name in calls
        for event in (
            {"type": "TOOL_CALL_START", "toolCallId": name, "toolCallName": "read"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": name, "delta": "{}"},
            {"type": "TOOL_CALL_END", "toolCallId": name},
        )
    ]
    last = {"type": end, "message": "x"} if end == "RUN_ERROR" else {"type": end, "threadId": "t", "runId": "r"}
    return [begin, *made, last]


def test_a_clients_call_may_be_unanswered_where_the_run_ended_well() -> None:
    assert checked(*ag_ui("a", "b")).findings == ()


def test_it_may_not_where_the_run_failed() -> None:
    assert found(checked(*ag_ui("a", "b", end="RUN_ERROR"))) == [("unanswered-call", 1, 2), ("unanswered-call", 4, 5)]


def test_of_two_runs_in_one_file_each_is_judged_by_its_own_end() -> None:
    judged = checked(*ag_ui("a"), *ag_ui("a", end="RUN_ERROR"), *ag_ui("a"))
    assert [finding.law for finding in judged.findings] == ["unanswered-call"]
    assert judged.findings[0].line == 7


def test_our_own_log_has_no_calls_of_a_client() -> None:
    assert found(checked(USER, call("a"), STOP)) == [("unanswered-call", 1, 2)]


# More findings than are listed

MANY: Final = 12_345
MALFORMED: Final = b'{"type":"run-stop"}\n'


@pytest.fixture(scope="module")
def flood() -> LogResult:
    """The result of a log of malformed events."""
    return check("log", BytesIO(MALFORMED * MANY))


def test_the_first_thousand_findings_of_a_law_are_listed(flood: LogResult) -> None:
    assert [finding.line for finding in flood.findings] == [*range(1, LISTED + 1)]


def test_the_others_are_counted(flood: LogResult) -> None:
    assert flood.more == {"malformed": MANY - LISTED}
    assert [*more_lines(flood)] == ["… and 11,345 more of malformed"]


def test_the_verdict_counts_them_all(flood: LogResult) -> None:
    assert (flood.verdict, flood.events) == ("fail", MANY)


def test_a_law_is_listed_however_many_findings_another_one_has() -> None:
    log = MALFORMED * MANY + json.dumps(USER).encode() + b"\n"
    result = check("log", BytesIO(log))
    assert [finding.law for finding in result.findings[-2:]] == ["malformed", "truncated"]


def test_each_finding_is_told_though_it_is_not_listed() -> None:
    told: list[int] = []
    check("log", BytesIO(MALFORMED * MANY), found=lambda finding: told.append(finding.line))
    assert told == [*range(1, MANY + 1)]


def test_as_many_findings_as_are_listed_are_all() -> None:
    result = check("log", BytesIO(MALFORMED * LISTED))
    assert (len(result.findings), result.more) == (LISTED, {})


PAUSE: Final = {"type": "run-pause", "calls": ["c"]}
RESUME: Final = {"type": "run-resume"}


@pytest.mark.parametrize("strict", [False, True])
def test_a_log_that_ends_paused_is_inconclusive_with_exit_code_0(*, strict: bool) -> None:
    log = "\n".join(json.dumps(event) for event in (USER, PAUSE))
    result = check("log", BytesIO(log.encode()), strict=strict)
    assert (result.verdict, result.exit_code) == ("inconclusive", 0)


@pytest.mark.parametrize("log", [[USER, PAUSE, RESUME], [USER, PAUSE, STOP, USER], [PAUSE, USER]])
def test_a_run_that_is_not_paused_at_the_end_fails_a_strict_check(log: list[Any]) -> None:
    lines = "\n".join(map(json.dumps, log))
    assert check("log", BytesIO(lines.encode()), strict=True).verdict == "fail"


def test_each_agent_of_a_session_is_judged_by_itself() -> None:
    call = {"type": "agent-output", "kind": "tool-call", "callId": "c1", "tool": "read"}
    result, stop = {"type": "tool-result", "callId": "c1"}, {"type": "run-stop", "reason": "completed"}
    user = {"type": "user-message", "text": "red"}
    child = [{**event, "agentId": "a"} for event in (user, call, stop)]
    log = [user, call, *child, result, stop]
    found = check("log", BytesIO("\n".join(map(json.dumps, log)).encode())).findings
    assert [(one.law, one.at) for one in found] == [("unanswered-call", 3)]
