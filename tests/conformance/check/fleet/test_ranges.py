"""One large log shared among processes: wherever it is cut, the result is that of one process, byte for byte."""

import json
import os
import pickle
import signal
from collections.abc import Iterator
from io import BufferedReader, FileIO
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.logs.framing import BLOCK
from turncheck.adapters.logs.ranges import Range, cut, size_and_state
from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.conformance.check import results
from turncheck.conformance.check.fleet import fragment, one, pool, sharing
from turncheck.conformance.check.fleet.fragment import Summary, summarised
from turncheck.conformance.check.fleet.one import How, judged
from turncheck.conformance.check.fleet.process import Process
from turncheck.conformance.generation.logs import Case, cases

SETTINGS: Final = settings(max_examples=150, deadline=None, database=None, derandomize=True)
LIMIT: Final = 300
HOW: Final = How(None, LIMIT, by_session=True)
USER: Final = b'{"type":"user-message","text":"red"}\n'
STEER: Final = b'{"type":"user-message","text":"red","delivery":"st\\u0065er"}\n'
SPELLED: Final = STEER.replace(b"\\u0065", b"e")
CALL: Final = b'{"type":"agent-output","kind":"tool-call","callId":"c","tool":"read"}\n'
RESULT: Final = b'{"type":"tool-result","callId":"c"}\n'
STOP: Final = b'{"type":"run-stop","reason":"completed"}\n'
TOLD: Final = b'{"type":"run-stop","reason":"completed","via":"exception"}\n'
PAUSE: Final = b'{"type":"run-pause","calls":["c"]}\n'
RESUME: Final = b'{"type":"run-resume"}\n'
LONG: Final = b"x" * (LIMIT + 1) + b"\n"
ODD: Final = (b"\n", b" \r\n", b"rubbish\n", b'{"type":"odd"}\n', b'{"text":"\xff"}\n', LONG, RESUME)
SESSION: Final = b'{"sessionId":"s","agentId":"a",'

lines: Final = st.lists(
    st.sampled_from(
        [
            USER,
            USER,
            STEER,
            SPELLED,
            CALL,
            RESULT,
            STOP,
            STOP,
            PAUSE,
            *ODD,
            *(line.replace(b"{", SESSION, 1) for line in (USER, CALL, RESULT, STOP, PAUSE)),
        ]
    ),
    max_size=30,
).map(b"".join)


def written(path: Path, log: bytes) -> str:
    path.write_bytes(log)
    return str(path)


def sequential(path: str, how: How = HOW) -> bytes:
    return msgspec.json.encode(judged(path, how))


def merged(path: str, cuts: list[int], pick: Any = lambda most: 0) -> bytes:
    """Cut the log at any bytes, and merge neighbours: *pick* says which of so many pairs is next."""
    found = size_and_state(path)
    assert found is not None
    borders = [0, *cuts, None]
    parts = [
        cast(Summary, pickle.loads(pickle.dumps(summarised(Range(path, number, a or 0, b, found[1]), LIMIT))))
        for number, (a, b) in enumerate(pairwise(borders))
    ]
    while len(parts) > 1:
        at = pick(len(parts) - 2)
        parts[at].extend(parts.pop(at + 1))
    return msgspec.json.encode(parts[0].result(path, strict=False, by_session=True))


@given(st.data(), lines)
@SETTINGS
def test_any_cut_and_any_tree_of_merges_give_the_bytes_of_one_process(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, log: bytes
) -> None:
    path = written(tmp_path_factory.getbasetemp() / "any.jsonl", USER + log)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(USER) + len(log)), max_size=5)))
    assert merged(path, cuts, lambda most: data.draw(st.integers(0, most))) == sequential(path)


@given(cases(), st.integers(0, 4000), st.integers(0, 4000))
@settings(SETTINGS, max_examples=60)
def test_generated_logs_are_judged_alike(
    tmp_path_factory: pytest.TempPathFactory, case: Case, one: int, two: int
) -> None:
    log = USER + b"".join(json.dumps(event).encode() + b"\n" for event in case.log)
    path = written(tmp_path_factory.getbasetemp() / "case.jsonl", log)
    assert merged(path, sorted((one, two))) == sequential(path)


def test_each_byte_of_a_log_is_a_place_to_cut(tmp_path: Path) -> None:
    log = b"\n" + USER + CALL + b"\n" + PAUSE + USER + RESULT + STOP + CALL + LONG + STOP + STOP[:-1]
    path = written(tmp_path / "a.jsonl", log)
    expected = sequential(path)
    assert [at for at in range(len(log) + 1) if merged(path, [at]) != expected] == []


@pytest.mark.parametrize(
    "log",
    [
        USER * 2 + PAUSE + STOP,
        USER * 2 + PAUSE + b" " * LIMIT + b"\n" + STOP,
        USER + PAUSE + RESUME,
        STOP + STEER + STOP + STOP + STEER,
        STOP + SPELLED,
    ],
)
def test_pauses_and_steers_are_known_behind_each_cut(tmp_path: Path, log: bytes) -> None:
    path = written(tmp_path / "a.jsonl", USER + log)
    expected = sequential(path)
    borders = [at + 1 for at, byte in enumerate(USER + log) if byte == ord("\n")]
    for cuts in combinations_with_replacement([0, *borders], 2):
        assert merged(path, list(cuts), lambda most: most) == expected


def test_more_findings_than_are_listed_are_counted_in_ranges_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (results, fragment):
        monkeypatch.setattr(module, "LISTED", 3)
    monkeypatch.setattr(fragment, "_MOST", 5)
    path = written(tmp_path / "a.jsonl", USER + CALL + STOP * 9 + b"rubbish\n" * 9 + STOP * 9)
    expected = sequential(path)
    assert json.loads(expected)["more"] == {"outside-run": 14, "malformed": 6}
    assert {merged(path, [at, 500]) for at in range(40, 400, 20)} == {expected}


# Sharing


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of a few hundred bytes are large."""
    for name, value in {"LEAST": 200, "_SMALLEST": 100, "_LARGEST": 100}.items():
        monkeypatch.setattr(sharing, name, value)


LOG: Final = (USER + CALL + USER + RESULT + STOP + CALL + STOP * 3) * 6 + USER


def here(tasks: Any) -> Iterator[Any]:
    return (one.done(task, HOW) for task in tasks)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_large_log_is_cut_for_any_number_of_processes(tmp_path: Path, jobs: int) -> None:
    path = written(tmp_path / "a.jsonl", LOG)
    small = written(tmp_path / "b.jsonl", USER + STOP)
    assert len(sharing.ranges_of(path, HOW, jobs)) > 10
    every = [*sharing.shared([small, path, small], HOW, jobs, lambda tasks: pool.judged(tasks, HOW, jobs))]
    assert list(map(msgspec.json.encode, every)) == [sequential(small), sequential(path), sequential(small)]


@pytest.mark.usefixtures("small")
def test_ranges_of_workers_that_are_killed_are_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Range] = []

    class Doomed(Process):
        """Killed with every second range that it is given for the first time."""

        def give(self, work: Any) -> None:
            if work not in given:
                given.append(work)
                if len(given) % 2:
                    os.kill(self.pid, signal.SIGKILL)
            super().give(work)

    monkeypatch.setattr(pool, "Process", Doomed)
    monkeypatch.setattr(sharing, "_LARGEST", 800)
    monkeypatch.setattr(sharing, "_SMALLEST", 800)
    path = written(tmp_path / "a.jsonl", LOG)
    lost: list[str] = []
    (result,) = sharing.shared([path], HOW, 2, lambda tasks: pool.judged(tasks, HOW, 2, lost=lost.append))
    assert msgspec.json.encode(result) == sequential(path)
    assert len(lost) == (len(given) + 1) // 2
    assert f"SIGKILL while it judged {path}, from byte 0 on" in lost[0]


@pytest.mark.usefixtures("small")
def test_a_byte_order_mark_is_no_part_of_the_first_range(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", b"\xef\xbb\xbf" + LOG)
    (result,) = sharing.shared([path], HOW, 2, here)
    assert msgspec.json.encode(result) == sequential(path)


@pytest.mark.usefixtures("small")
def test_a_log_whose_ends_are_told_several_times_is_judged_in_one_piece(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", LOG + STOP + TOLD)
    assert sharing.ranges_of(path, HOW, 2)
    (result,) = sharing.shared([path], HOW, 2, here)
    assert msgspec.json.encode(result) == sequential(path)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("name", "log"),
    [
        ("of another format", b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n' * 20),
        ("of no format", b"rubbish\n" * 50),
        ("server-sent", b"".join(b"data: " + line + b"\n\n" for line in [USER, STOP] * 20)),
        ("an array", b"[" + b",".join([USER, STOP] * 20) + b"]"),
    ],
)
def test_other_logs_are_judged_by_one_process(tmp_path: Path, name: str, log: bytes) -> None:
    assert sharing.ranges_of(written(tmp_path / name, log), HOW, 2) == []


@pytest.mark.parametrize("head", [b"", b'{"x":1}\n' * 20], ids=["one endless line", "objects of no format before it"])
def test_of_a_log_of_no_format_the_beginning_alone_is_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    path = Path(written(tmp_path / "a.jsonl", head))
    size = 200 << 20
    os.truncate(path, size)  # sparse: it takes no place
    read: list[int] = []

    class Counted(BufferedReader):
        def read1(self, most: int = -1, /) -> bytes:
            piece = super().read1(most)
            read.append(len(piece))
            return piece

    def opened(path: str) -> Counted:
        return Counted(FileIO(path))

    monkeypatch.setattr(sharing, "opened", opened)
    how = How(None, MAX_LINE)
    assert sharing.ranges_of(str(path), how, 2) == []
    assert sum(read) <= sharing._LOOKED + BLOCK
    read.clear()
    assert one.judged(str(path), how, opened=opened).verdict == "error"
    assert sum(read) == size


@pytest.mark.usefixtures("small")
def test_where_findings_are_told_at_once_a_log_is_judged_from_its_beginning(tmp_path: Path) -> None:
    assert sharing.ranges_of(written(tmp_path / "a", LOG), How(None, LIMIT, tells=True), 2) == []


@pytest.mark.usefixtures("small")
def test_a_log_that_is_replaced_meanwhile_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", LOG)

    def run(tasks: Any) -> Iterator[Any]:
        for number, task in enumerate(tasks):
            if number == 3:
                os.replace(written(tmp_path / "b.jsonl", LOG), path)  # noqa: PTH105
            yield one.done(task, HOW)

    (result,) = sharing.shared([path], HOW, 2, run)
    assert (result.verdict, result.exit_code) == ("error", 2)
    assert "replaced by another file" in str(result.why)


@pytest.mark.usefixtures("small")
def test_a_log_that_is_gone_meanwhile_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", LOG)

    def run(tasks: Any) -> Iterator[Any]:
        for task in tasks:
            Path(path).unlink(missing_ok=True)
            yield one.done(task, HOW)

    assert [result.why for result in sharing.shared([path], HOW, 2, run)] == ["No such file or directory"]


@pytest.mark.usefixtures("small")
def test_a_log_that_grows_meanwhile_is_read_to_its_end(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", LOG)

    def run(tasks: Any) -> Iterator[Any]:
        for number, task in enumerate(tasks):
            if number == 3:
                written(tmp_path / "more", b"")
                with Path(path).open("ab") as file:
                    file.write(STOP * 2)
            yield one.done(task, HOW)

    (result,) = sharing.shared([path], HOW, 2, run)
    assert msgspec.json.encode(result) == sequential(path)


def test_ranges_cover_a_log_without_a_small_rest() -> None:
    assert [(part.begin, part.end) for part in cut("a", 104, "", 0, 50)] == [(0, 50), (50, None)]
