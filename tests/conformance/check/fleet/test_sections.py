"""One large log of another format shared among processes: cut between runs, it is judged as by one process."""

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from benchmarks import streams

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.ranges import Range, cut_between_runs, size_and_state
from turncheck.conformance.check import results
from turncheck.conformance.check.fleet import one, sharing
from turncheck.conformance.check.fleet.one import How, judged
from turncheck.conformance.check.fleet.section import Section, joined

LIMIT: Final = 20_000
HOW: Final = How(None, LIMIT, by_session=True)
RECORDED: Final = Path(__file__).parents[3] / "recordings" / "logs"
DONE: Final = b"[DONE]"
ODD: Final = (b"", b" ", b"rubbish", b'{"type":"odd"}', b"x" * (LIMIT + 1))
CUT: Final = [name for name, form in FORMATS.items() if form.rest is not None]


def packed(*events: object) -> list[bytes]:
    return [json.dumps(event, separators=(",", ":")).encode() for event in events]


def run(name: str, number: int) -> list[bytes]:
    """The lines of a run."""
    match name:
        case "codex-exec":
            recorded = ("text", "tools", "model-failure-amid-text")[number % 3]
            return (RECORDED / "codex-exec-0.169.0" / f"{recorded}.jsonl").read_bytes().splitlines()
        case "ai-sdk":
            return [*packed({"type": "start"}, *streams.ai_sdk(number), {"type": "finish"}), DONE]
        case _:
            return packed(*streams.STREAMS[name](number))


def log(lines: Sequence[bytes], *, sent: bool) -> bytes:
    return b"".join(b"data: " + line + b"\n\n" if sent and line.strip() else line + b"\n" for line in lines)


def sections(path: Path, name: str, cuts: Sequence[int], *, sent: bool) -> list[Section]:
    found = size_and_state(str(path))
    assert found is not None
    parts = [Range(str(path), number, at, None, found[1]) for number, at in enumerate([0, *cuts])]
    between = cut_between_runs(parts, FORMATS[name], LIMIT, sent=sent)
    every = [one.done(part, HOW) for part in between]
    assert all(isinstance(section, Section) for section in every)
    return every  # type: ignore[return-value]


def merged(path: Path, name: str, cuts: Sequence[int], *, sent: bool) -> bytes | None:
    """The result of the parts between which a log is cut near *cuts*; None where it has to be judged in one piece."""
    whole, *rest = sections(path, name, cuts, sent=sent)
    for section in rest:
        if not whole.rests:
            return None
        whole.extend(section)
    return None if whole.told else msgspec.json.encode(whole.result(str(path), strict=False, by_session=True))


def sequential(path: Path) -> bytes:
    return msgspec.json.encode(judged(str(path), HOW))


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("name", CUT)
def test_wherever_a_log_is_cut_the_result_is_that_of_one_process(tmp_path: Path, name: str, *, sent: bool) -> None:
    path = tmp_path / "a"
    lines = [b"", *(line for number in range(1, 5) for line in run(name, number))]
    del lines[-1]  # the last run is cut
    data = log(lines, sent=sent)
    path.write_bytes(data)
    expected = sequential(path)
    ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
    assert {merged(path, name, [at], sent=sent) for at in ends[4:-1:9]} == {expected}
    assert len(sections(path, name, [1, ends[-2] // 3, ends[-2] // 2], sent=sent)) > 2


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("name", CUT)
def test_broken_logs_are_judged_alike_or_in_one_piece(tmp_path: Path, name: str, *, sent: bool) -> None:
    path = tmp_path / "a"
    rng = random.Random(name)
    together = 0
    for edits in range(1, 8):
        lines = [line for number in range(1, 7) for line in run(name, number)]
        for _ in range(edits):
            at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            match rng.randrange(4):
                case 0:
                    del lines[at]
                case 1:
                    lines.insert(other, lines[at])
                case 2:
                    lines.insert(other, rng.choice(ODD))
                case _:
                    lines[at], lines[other] = lines[other], lines[at]
        data = log(lines, sent=sent)
        path.write_bytes(data)
        expected = sequential(path)
        for _ in range(4):
            found = merged(path, name, sorted(rng.sample(range(1, len(data)), 3)), sent=sent)
            assert found in {None, expected}
            together += found is None
    assert together < 20  # of 28


START: Final = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
FINISH: Final = {**START, "type": "RUN_FINISHED"}
CALL: Final = {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "read"}
END: Final = {"type": "TOOL_CALL_END", "toolCallId": "c"}
RESULT: Final = {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c", "content": "red"}
INTERRUPT: Final = {"type": "interrupt", "interrupts": [{"id": "i", "reason": "tool_call"}]}
AGENT: Final = ({"type": "agent_start"}, {"type": "turn_start"})
ASKED: Final = {"role": "user", "content": "hi"}
FAILED: Final = {"type": "agent_end", "messages": [], "willRetry": True}


@pytest.mark.parametrize(
    ("name", "before", "behind"),
    [
        ("ag-ui", packed(START, CALL, END, {**FINISH, "outcome": INTERRUPT}), packed(START, RESULT, FINISH)),
        ("ag-ui", packed(START, CALL, END, FINISH), packed(START, RESULT, FINISH)),
        ("ag-ui", packed(START, FINISH, {**CALL, "toolCallId": "d"}, FINISH), packed(START, FINISH)),
        ("pi", packed(*AGENT, {"type": "message_start", "message": ASKED}, FAILED), packed(*AGENT)),
        ("ai-sdk", packed({"type": "start"}, {"type": "finish"}), packed({"type": "start"}, {"type": "finish"})),
    ],
    ids=["paused", "answered by the client", "an item that nothing ended", "tried again", "a stream without its end"],
)
def test_what_goes_on_across_a_cut_is_judged_in_one_piece(
    tmp_path: Path, name: str, before: list[bytes], behind: list[bytes]
) -> None:
    path = tmp_path / "a"
    path.write_bytes(log([*before, *behind], sent=False))
    place = len(log(before, sent=False))
    state = str(size_and_state(str(path))[1])  # type: ignore[index]
    parts = [Range(str(path), 0, 0, place, state, name), Range(str(path), 1, place, None, state, name)]
    first, last = (one.done(part, HOW) for part in parts)
    assert isinstance(first, Section)
    assert not first.rests
    again: list[Range] = []

    def judged_again(part: Range) -> one.Found:
        again.append(part)
        return one.done(part, HOW)

    whole = joined(parts, iter((first, last)), judged_again)
    assert isinstance(whole, Section)
    assert [(part.begin, part.end) for part in again] == [(0, None)]
    assert msgspec.json.encode(whole.result(str(path), strict=False, by_session=True)) == sequential(path)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of a few kilobytes are large."""
    for name, value in {"LEAST": 2000, "_SMALLEST": 1000, "_LARGEST": 1000}.items():
        monkeypatch.setattr(sharing, name, value)


def here(tasks: Any) -> Iterator[Any]:
    return (one.done(task, HOW) for task in tasks)


@pytest.mark.usefixtures("small")
def test_parts_between_which_something_goes_on_are_judged_again(tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    whole.write_bytes(log([line for number in range(9) for line in run("ag-ui", number)], sent=False))
    waiting = packed(START, CALL, END, FINISH)
    answered = packed(START, CALL, END, RESULT, FINISH)
    lines = [line for number in range(60) for line in (waiting if number % 20 == 7 else answered)]
    torn.write_bytes(log(lines, sent=False))
    assert all(len(sharing.ranges_of(str(path), HOW, 2)) > 2 for path in (whole, torn))
    found = [*sharing.shared([str(torn), str(whole), str(torn)], HOW, 2, here)]
    assert [*map(msgspec.json.encode, found)] == [sequential(path) for path in (torn, whole, torn)]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("gone", [0, 2])
def test_a_part_that_cannot_be_read_makes_the_log_an_error(tmp_path: Path, gone: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(log([line for number in range(9) for line in run("ag-ui", number)], sent=False))

    def run_some(tasks: Any) -> Iterator[Any]:
        for number, task in enumerate(tasks):
            yield one.unjudged(task.path, HOW, "gone") if number == gone else one.done(task, HOW)

    assert [result.why for result in sharing.shared([str(path)], HOW, 2, run_some)] == ["gone"]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("form", ["messages", "claude-code", "openai-chat"])
def test_a_format_whose_lines_depend_on_all_before_them_is_not_cut(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a"
    lines = {
        "messages": packed({"role": "user", "content": "hi"}, {"role": "assistant", "content": "red"}) * 99,
        "claude-code": packed({"type": "user", "uuid": "u", "sessionId": "s", "message": ASKED}) * 99,
        "openai-chat": [line for number in range(9) for line in run("openai-chat", number)],
    }
    path.write_bytes(log(lines[form], sent=False))
    assert judged(str(path), HOW).format == form
    assert sharing.ranges_of(str(path), HOW, 2) == []


def test_findings_of_parts_that_are_not_listed_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "LISTED", 3)
    path = tmp_path / "a"
    lines = [line for number in range(4) for line in (*run("ag-ui", number), *[b"rubbish"] * 2)]
    lines = [line for line in lines if b"TOOL_CALL_RESULT" not in line]
    path.write_bytes(log(lines, sent=False))
    expected = sequential(path)
    assert json.loads(expected)["more"]["malformed"] == 5
    size = path.stat().st_size
    assert {merged(path, "ag-ui", [at, at + 900], sent=False) for at in range(100, size // 2, 999)} <= {None, expected}
