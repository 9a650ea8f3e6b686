"""The turn runtime killed at each change of a file, and beside another process."""

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from crashing import CHANGES, FORK, STOP, STORY, TEXT, Facts, check, goes_on, lines, opened
from filelock import FileLock, Timeout

from turncheck.adapters.references.turn import (
    Options,
    Session,
    SessionBusyError,
    Told,
)
from turncheck.adapters.references.turn.files import Files


class Killing(Files):
    """Files that kill their process at the *number*-th change, before it (``half`` False) or in the middle of it."""

    def __init__(self, number, *, half):
        self.left, self.half = number, half

    def _count(self, path, data=b""):
        self.left -= 1
        if self.left == 0:
            if self.half and data:
                Files.append(self, path, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)


def _counted(name):
    def change(self, path, *arguments):
        self._count(path, *(one for one in arguments if isinstance(one, bytes)))
        return getattr(Files, name)(self, path, *arguments)

    return change


for _name in CHANGES:
    setattr(Killing, _name, _counted(_name))


def _story_until_killed(folder, number, half, seen):
    def see(event):
        with Path(seen).open("ab") as file:
            file.write(msgspec.json.encode(event) + b"\n")

    runtime, _, _ = opened(Killing(number, half=half), folder)
    runtime.observe = lambda: see(runtime.log[-1])
    runtime.run(STORY)
    os._exit(0)  # the story is over: there are no more changes


def killed(folder, number, *, half):
    """Play the story in a process that is killed; return whether it was killed, and the events shown until then."""
    folder.mkdir()
    seen = folder.with_suffix(".seen")
    seen.touch()
    child = FORK.Process(target=_story_until_killed, args=(folder, number, half, seen))
    child.start()
    child.join()
    assert child.exitcode in {0, -signal.SIGKILL}
    return child.exitcode != 0, Facts(lines(seen.read_bytes()))


@pytest.mark.parametrize("half", [False, True], ids=["before", "amid"])
def test_killed_at_every_change_of_a_file_it_recovers(tmp_path, half):
    """Nothing but the files is left of the process (TM-3.5, TM-7.1)."""
    recovered: Counter[int] = Counter()
    number = 0
    while True:
        number += 1
        folder = tmp_path / str(number)
        was_killed, facts = killed(folder, number, half=half)
        if not was_killed:
            break
        journal = folder / "main" / "journal.jsonl"
        before = Files().read(journal)
        runtime, _, _ = opened(Files(), folder)
        recovered[check(before, Files().read(journal), facts)] += 1
        assert goes_on(runtime)
        runtime.close()
    print(f"killed {'amid' if half else 'before'} each of {number - 1} changes; recovered failures: {dict(recovered)}")
    assert number - 1 == 67
    assert set(recovered) == {0, 1}


def _serve(folder, ready, until):
    runtime, _, _ = opened(Files(), folder)
    for stimulus in STORY[:4]:
        runtime.apply(stimulus)
    ready.set()
    until.wait()


@pytest.fixture
def other(tmp_path):
    """Another process in the middle of a turn of the session in *tmp_path*."""
    ready, until = FORK.Event(), FORK.Event()
    child = FORK.Process(target=_serve, args=(tmp_path, ready, until))
    child.start()
    ready.wait()
    yield child
    child.kill()
    child.join()


def test_a_second_process_is_told_that_another_serves_the_session(tmp_path, other):
    with pytest.raises(SessionBusyError, match="another process serves the session"):
        Session(Files(), tmp_path / "main", print)


def test_a_turn_holds_its_lock_until_it_is_recorded(tmp_path):
    """TM-2.2, TM-2.7."""
    lock = FileLock(tmp_path / "main" / "turn.lock")
    runtime, _, _ = opened(Files(), tmp_path)
    runtime.apply(STORY[0])
    with pytest.raises(Timeout):
        lock.acquire(timeout=0)
    runtime.apply(TEXT)
    runtime.apply(STOP)
    lock.acquire(timeout=0)
    lock.release()
    runtime.close()


def test_a_killed_process_lets_the_session_go_and_its_turn_is_recovered(tmp_path, other):
    """TM-7.1, TM-D5, TM-D6."""
    other.kill()
    other.join()
    runtime, events, _ = opened(Files(), tmp_path)
    assert [event["type"] for event in events] == ["tool-result", "tool-result", "run-stop"]
    assert events[-1]["recovered"]
    runtime.close()


def test_a_turn_that_does_not_get_its_lock_fails_as_a_timeout(tmp_path):
    seen: list[dict[str, Any]] = []
    session = Session(Files(), tmp_path / "s", seen.append, Options(lock_seconds=0))
    identity = dict.fromkeys(("turnId", "sessionId", "chatId", "traceId", "correlationId"), "x")
    with FileLock(tmp_path / "s" / "turn.lock"):
        session.tell("inbound", Told(id="u1", text="one", identity=identity))
    assert [event.get("detail") for event in seen] == [None, "timeout"]
    session.close()
