"""The turn runtime killed, cut, reordered and starved: docs/crashes.md says what each test covers, and the counts."""

import errno
import multiprocessing
import os
import signal
import subprocess
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from filelock import FileLock, Timeout

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.references.turn import (
    CheckpointMismatchError,
    CorruptLineError,
    Options,
    Session,
    SessionBusyError,
    Told,
    TurnRuntime,
)
from turncheck.adapters.references.turn import runtime as turn_runtime
from turncheck.adapters.references.turn.files import Files, MemoryFiles
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import ModelOutput, ModelStop, ResetOptions, Text, ToolCall, ToolReturn, User

FOLDER = Path("state")
SESSION = FOLDER / "main"
JOURNAL, CHECKPOINT = SESSION / "journal.jsonl", SESSION / "checkpoint.json"
TOOLS = ({"name": "read", "schema": {"type": "object"}},)
TEXT, STOP = ModelOutput(item=Text(text="done.")), ModelStop(reason="end-turn")
TOOL = ModelOutput(item=ToolCall(call_id="c1", tool="read", arguments={"path": "a"}))
OTHER = ModelOutput(item=ToolCall(call_id="c2", tool="read", arguments={"path": "b"}))
STORY = (
    *(User(id="u1", text="one", meta={"idempotencyKey": "k"}), TOOL, OTHER, STOP),
    *(ToolReturn(call_id="c1", output="a"), ToolReturn(call_id="c2", output="b"), TEXT, STOP),
    *(User(id="u2", text="two"), User(id="u3", text="three"), User(id="u4", text="four", delivery="steer"), TEXT, STOP),
    *(TEXT, STOP, TEXT, STOP),
    User(id="u5", text="five", meta={"chatId": None}),
    User(id="u1", text="one", meta={"idempotencyKey": "k"}),
    *(User(id="u6", text="six"), TOOL, STOP),
)
"""Tools, a follow-up, a steer, an invalid event, a repeated key, and a turn that is left in the middle of a tool."""


def opened(files, folder=FOLDER):
    """Return a runtime on *folder*, and the events of its recovery. The folder is made, as the layer cannot list it."""
    runtime = TurnRuntime(files=files)
    if isinstance(files, MemoryFiles):  # nothing lists these: the one session opens with the first message
        runtime.reset(ResetOptions(tools=TOOLS))
        runtime._root = folder
        session = runtime._session(None)
        return runtime, tuple(runtime.log), session
    step = runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(folder)))
    return runtime, step.events, None


def lines(data):
    return [msgspec.json.decode(line) for line in data.splitlines()]


def stops(log):
    return [event for event in log if event["type"] == "run-stop"]


class Facts:
    """What a client saw before the crash."""

    def __init__(self, events):
        self.closed = {event["turnId"]: event["status"] for event in stops(events) if "turnId" in event}
        self.accepted = [event["id"] for event in events if event["type"] == "user-message"]


def check(before, after, facts):
    """A journal (bytes) before and after recovery holds what was seen, whole and once, and all but the last turn is
    closed; return the number of recovered failures that the recovery added."""
    kept, log = before.split(b"\n")[:-1], lines(after)
    assert after.split(b"\n")[: len(kept)] == kept
    seen = project(tuple(map(judge, log)), Policies())
    assert [one.kind for one in seen.anomalies if one.kind != "truncated"] == []
    terminals = [event["turnId"] for event in stops(log) if "turnId" in event]
    assert len(terminals) == len(set(terminals))
    for turn, status in facts.closed.items():
        assert [event["status"] for event in stops(log) if event.get("turnId") == turn] == [status]
    ids = Counter(event.get("id") for event in log if event["type"] == "user-message")
    assert all(ids[name] == 1 for name in facts.accepted)
    return len([event for event in stops(log)[len(stops(lines(b"\n".join([*kept, b""])))) :] if event.get("recovered")])


def goes_on(runtime):
    """After a recovery, waiting messages are served, and the next one too; no call of an earlier turn is answered."""
    runtime.apply(User(id="next", text="next"))
    for _ in range(8):
        runtime.apply(TEXT)
        step = runtime.apply(STOP)
        if any(event["type"] == "tool-result" for event in step.events):
            return False
        if any(event["type"] == "run-stop" and event["turnId"] == "next" for event in step.events):
            return True
    return False


# ---- killed at every write ----


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


CHANGES = ("make_folder", "write", "append", "truncate", "rename", "sync")
for _name in CHANGES:
    setattr(Killing, _name, _counted(_name))

FORK = multiprocessing.get_context("fork")


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


# ---- cut at every byte ----


class Story:
    """The story on files in memory: their content after each stimulus."""

    def __init__(self):
        self.states, self.events, files = [], [], MemoryFiles()
        runtime, _, _ = opened(files)
        for stimulus in STORY:
            self.events += runtime.apply(stimulus).events
            self.states.append(dict(files.files))


@cache
def story():
    return Story()


def recovered_from(files):
    """The journal after recovery from *files*, and a runtime that goes on with it."""
    again = MemoryFiles(files)
    runtime, _, _ = opened(again)
    return again.files.get(JOURNAL, b""), runtime


def cut(data, checkpoint):
    """Recover from a journal that was cut to *data*; return the number of recovered failures."""
    after, runtime = recovered_from({JOURNAL: data, CHECKPOINT: checkpoint})
    added = check(data, after, Facts([]))
    assert added == 1 or data.endswith(b"\n") or not data
    assert goes_on(runtime)
    return added


def test_a_journal_that_is_cut_at_any_byte_of_its_last_two_records_recovers():
    cuts: Counter[int] = Counter()
    lost = 0
    held = {files[JOURNAL]: files.get(CHECKPOINT, b"") for files in story().states}
    checkpoints = [b"", *dict.fromkeys(held.values())]
    for data, checkpoint in held.items():
        ends = [at + 1 for at, byte in enumerate(data) if byte == ord("\n")]
        before = checkpoints[max(checkpoints.index(checkpoint) - 1, 0)]
        for size, settled in product(range([0, 0, 0, *ends][-3], len(data) + 1), {b"", before, checkpoint}):
            if settled and msgspec.json.decode(settled)["offset"] > size:
                refused(data[:size], settled)
                lost += 1
            else:
                cuts[cut(data[:size], settled)] += 1
    print(f"{len(held)} journals, {sum(cuts.values())} cuts; recovered failures: {dict(cuts)}; {lost} were refused")
    assert sum(cuts.values()) + lost == 7550


def refused(data, checkpoint):
    """The journal is shorter than the checkpoint says: no crash does that, and to go on would forget turns."""
    files = MemoryFiles({JOURNAL: data, CHECKPOINT: checkpoint} if data else {CHECKPOINT: checkpoint})
    held = dict(files.files)
    with pytest.raises(CheckpointMismatchError) as error:
        Session(files, SESSION, print)
    assert files.files == held
    return str(error.value)


def settled_story():
    files = story().states[-1]
    return files[JOURNAL], files[CHECKPOINT]


def test_a_journal_shorter_than_its_checkpoint_is_refused_with_what_to_do():
    data, checkpoint = settled_story()
    said = refused(data.splitlines(keepends=True)[0], checkpoint)
    assert "put the journal back from a copy, or delete checkpoint.json" in said


def test_a_journal_that_is_gone_while_its_checkpoint_is_there_is_refused():
    assert "and the journal has 0" in refused(b"", settled_story()[1])


def test_a_checkpoint_of_another_journal_is_refused():
    _, checkpoint = settled_story()
    other = b"\n".join([b'{"type":"native"}'] * 1000) + b"\n"
    assert "are not the" in refused(other, checkpoint)


def test_a_checkpoint_that_cannot_be_read_is_refused():
    assert "it is no checkpoint" in refused(settled_story()[0], b"{")


def test_a_runtime_says_that_its_session_cannot_be_opened(tmp_path):
    data, checkpoint = settled_story()
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "journal.jsonl").write_bytes(data[:9])
    (tmp_path / "main" / "checkpoint.json").write_bytes(checkpoint)
    with pytest.raises(TargetError, match=r"cannot be opened: .* does not fit"):
        TurnRuntime().reset(ResetOptions(state_dir=str(tmp_path)))


def test_a_state_folder_that_is_none_is_an_error(tmp_path):
    (tmp_path / "state").write_text("")
    with pytest.raises(TargetError, match=r"sessions in .* cannot be read: Not a directory"):
        TurnRuntime().reset(ResetOptions(state_dir=str(tmp_path / "state")))


def test_a_session_whose_checkpoint_is_gone_goes_on_with_its_journal():
    assert cut(settled_story()[0], b"") in {0, 1}


def test_a_torn_last_line_is_a_turn_that_failed_and_no_error():
    """TM-D4, TM-D5."""
    after, _ = recovered_from({JOURNAL: b'{"type":"user-mess'})
    assert [(event["type"], event.get("recovered")) for event in lines(after)] == [
        ("user-message", None),
        ("run-stop", True),
    ]


def test_a_torn_line_elsewhere_is_reported_with_its_number_and_nothing_is_thrown_away():
    """TM-D4."""
    data = story().states[-1][JOURNAL].splitlines(keepends=True)
    files = MemoryFiles({JOURNAL: b"".join([*data[:2], data[2][:5] + b"\n", *data[3:]])})
    held = dict(files.files)
    with pytest.raises(CorruptLineError) as error:
        Session(files, SESSION, print)
    assert error.value.line == 3
    assert files.files == held


# ---- lost and reordered ----


class Recording(MemoryFiles):
    """Files that write down every change, and every event that was seen, in order."""

    def __init__(self, files=None):
        super().__init__(files)
        self.changes = []


def _recorded(name):
    def change(self, path, *arguments):
        self.changes.append((name, path, *arguments))
        return getattr(MemoryFiles, name)(self, path, *arguments)

    return change


for _name in CHANGES:
    setattr(Recording, _name, _recorded(_name))


LOOSE = 4
"""Parts that are not durable, of which every choice is tried; this runtime never has more."""
FATES = ("lost", "whole", "half", "blank")
"""What a crash makes of a part; the last two of bytes only: some are there, or their length is and they are not."""


class Disk:
    """A disk that keeps only POSIX's promises: bytes last after their file's sync, names after their folder's.

    ``start`` is durable. Each change becomes parts, of bytes or of a name, that are loose until a sync makes them last.
    """

    def __init__(self, start):
        self.names = {path: number for number, path in enumerate(start)}
        self.inodes = dict(enumerate(start.values()))
        self.first = dict(self.names)
        self.parts = []  # (kind, where, inode, data)
        self.durable = set()

    def change(self, kind, path, *arguments):
        match kind:
            case "write" | "append":
                if path not in self.names:
                    self.names[path] = len(self.inodes)
                    self.inodes[self.names[path]] = b""
                    self.parts.append(("name", path, self.names[path], b""))
                self.parts.append((kind, path, self.names[path], arguments[0]))
            case "truncate":
                self.parts.append((kind, path, self.names[path], arguments[0]))
            case "rename":
                self.names[arguments[0]] = self.names.pop(path)
                self.parts.append(("rename", arguments[0], self.names[arguments[0]], path))
            case "sync":
                inode = self.names.get(path)
                self.durable |= {
                    number
                    for number, (part, where, of, _) in enumerate(self.parts)
                    if (of == inode if part in {"write", "append", "truncate"} else where.parent == path)
                }

    def states(self):
        """Every choice of what became of the parts that are not durable; of more than LOOSE, that one of them or all
        are lost."""
        loose = [number for number in range(len(self.parts)) if number not in self.durable]
        if len(loose) <= LOOSE:
            for fates in product(*(self._fates(number) for number in loose)):
                yield self._state(dict(zip(loose, fates, strict=True)))
        else:
            for lost in ([], loose, *([number] for number in loose)):
                yield self._state(dict.fromkeys(lost, "lost"))

    def _fates(self, number):
        return FATES if self.parts[number][0] in {"write", "append"} else FATES[:2]

    def _state(self, fates):
        names, inodes = dict(self.first), dict(self.inodes)
        for number, (kind, where, inode, more) in enumerate(self.parts):
            fate = fates.get(number, "whole")
            if fate == "lost":
                continue
            data = more[: len(more) // 2] if fate == "half" else bytes(len(more)) if fate == "blank" else more
            match kind:
                case "name":
                    names[where] = inode
                case "rename":
                    names[where] = inode
                    names.pop(more, None)
                case "write":
                    inodes[inode] = data
                case "append":
                    inodes[inode] += data
                case "truncate":
                    inodes[inode] = inodes[inode][:data]
        return {path: inodes[inode] for path, inode in names.items()}


def crash_states(start, changes, shown=()):
    """Each state that a crash can leave, with the events that had been seen; the same of both comes once.

    *shown* are the events, each with how many changes had been made.
    """
    disk, known = Disk(start), set()
    for number in range(len(changes) + 1):
        seen = [event for made, event in shown if made <= number]
        for files in disk.states():
            key = (frozenset(files.items()), len(seen))
            if key not in known:
                known.add(key)
                yield files, Facts(seen)
        if number < len(changes):
            disk.change(*changes[number])


def recorded(files, word):
    """The changes of a session on *files*, and its events, each with how many had been made when it was seen."""
    runtime, events, _ = opened(files)
    shown = [(len(files.changes), event) for event in events]
    runtime.observe = lambda: shown.append((len(files.changes), runtime.log[-1]))
    for stimulus in word:
        runtime.apply(stimulus)
    return files.changes, shown


@cache
def recording():
    """The story's changes and events."""
    return recorded(Recording(), STORY)


def recoveries(changes, shown):
    """Return the numbers of recovered failures, for each state that a crash can leave."""
    for files, facts in crash_states({}, changes, shown):
        after, runtime = recovered_from(files)
        yield check(files.get(JOURNAL, b""), after, facts)
        assert goes_on(runtime)


def test_whatever_was_lost_or_reordered_before_a_sync_it_recovers():
    """What was seen closed is in every state (TM-3.4), once (TM-3.1)."""
    counts = Counter(recoveries(*recording()))
    print(f"{len(recording()[0])} changes, {sum(counts.values())} states; recovered failures: {dict(counts)}")
    assert sum(counts.values()) == 118
    assert set(counts) == {0, 1}


def closed(data):
    """A journal up to its last terminal: what a recovery has settled."""
    log = data.splitlines(keepends=True)
    last = max((place for place, line in enumerate(log) if b'"run-stop"' in line), default=-1)
    return b"".join(log[: last + 1])


def twice(layer):
    """Each state after a crash during the recovery from a crash: the journal that the undisturbed recovery leaves up to
    its terminal, and the one that the second recovery leaves."""
    for files, _ in crash_states({}, *recording()):
        once = layer(files)
        changes, shown = recorded(once, ())
        settled = closed(once.files.get(JOURNAL, b""))
        for again, _ in crash_states(files, changes, shown):
            yield settled, recovered_from(again)[0]


def test_a_crash_during_recovery_then_recovery_again_gives_the_same():
    """TM-D5."""
    states = 0
    for settled, after in twice(Recording):
        assert after.startswith(settled)
        states += 1
    print(f"{states} states after a crash during recovery")
    assert states == 1160


def test_recovery_of_a_recovered_session_changes_nothing():
    """TM-D5."""
    files = MemoryFiles(story().states[-1])
    opened(files)
    held = dict(files.files)
    _, events, _ = opened(files)
    assert (events, files.files) == ((), held)


class NeverSyncs(Recording):
    """A wrong layer: nothing is made durable."""

    def sync(self, path):
        pass


class SyncsNoFolder(Recording):
    """A wrong layer: bytes are made durable, but names are not."""

    def sync(self, path):
        if path in self.files:
            super().sync(path)


class SyncsNothingAside(Recording):
    """A wrong layer: a file takes another's place before its bytes are durable."""

    def sync(self, path):
        if path.suffix != ".new":
            super().sync(path)


@pytest.mark.parametrize("layer", [NeverSyncs, SyncsNoFolder])
def test_what_is_not_made_durable_is_found_to_be_lost(layer):
    changes = recorded(layer(), STORY[:8])
    with pytest.raises(AssertionError):
        list(recoveries(*changes))


def test_a_recovery_that_is_not_durable_before_it_takes_the_journals_place_is_found():
    with pytest.raises(TargetError, match="does not fit"):  # what a checkpoint settles has not become durable
        list(twice(SyncsNothingAside))


# ---- wrong sessions ----


class ShowsBeforeItWrites(Session):
    """An event is seen before it is durable (TM-3.4)."""

    def _write(self, events):
        for event in events:
            self._see(event)
        super()._write(events)


class ForgetsOpenCalls(Session):
    """A restart leaves the calls of the open turn unanswered (TM-D6)."""

    def _crashed(self):
        self._memory.calls.clear()
        return super()._crashed()


class ForgetsTheOpenTurn(Session):
    """A restart ignores a turn that has no terminal (TM-7.1)."""

    def _crashed(self):
        self._memory.root = -1
        return super()._crashed()


class ThrowsATornLineAway(Session):
    """A torn last line is dropped without a word (TM-D4)."""

    def _crashed(self):
        if self._journal.torn:
            self._journal.append([])
        return super()._crashed()


@pytest.mark.parametrize("wrong", [ShowsBeforeItWrites, ForgetsOpenCalls, ForgetsTheOpenTurn])
def test_a_wrong_session_is_found_in_the_states_that_a_crash_leaves(monkeypatch, wrong):
    monkeypatch.setattr(turn_runtime, "Session", wrong)
    changes = recorded(Recording(), STORY)
    with pytest.raises(AssertionError):
        list(recoveries(*changes))


def test_a_session_that_throws_a_torn_line_away_is_found_at_a_cut(monkeypatch):
    monkeypatch.setattr(turn_runtime, "Session", ThrowsATornLineAway)
    with pytest.raises(AssertionError):
        cut(story().states[0][JOURNAL][:9], b"")


def test_a_record_is_durable_before_the_checkpoint_and_the_checkpoint_before_the_turn_is_seen_closed():
    """TM-2.7, TM-3.4."""
    changes, shown = recorded(Recording(), (STORY[0], TEXT, STOP))
    aside = CHECKPOINT.with_name("checkpoint.json.new")
    assert [change[:2] for change in changes[-6:]] == [
        ("append", JOURNAL),
        ("sync", JOURNAL),
        ("write", aside),
        ("sync", aside),
        ("rename", aside),
        ("sync", SESSION),
    ]
    assert shown[-1][1]["type"] == "run-stop"


# ---- two processes ----


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


# ---- a disk that says no ----


class Failing(MemoryFiles):
    """Files that fail at the *number*-th change, once or for good; a failing write leaves half of its bytes."""

    def __init__(self, number, error, *, for_good):
        super().__init__()
        self.left, self.error, self.for_good = number, error, for_good

    def _count(self, name, path, *arguments):
        self.left -= 1
        if self.left == 0 or (self.for_good and self.left < 0):
            if name in {"append", "write"} and self.error == errno.ENOSPC and self.left == 0:
                getattr(MemoryFiles, name)(self, path, arguments[0][: len(arguments[0]) // 2])
            raise OSError(self.error, os.strerror(self.error), str(path))


def _failing(name):
    def change(self, path, *arguments):
        self._count(name, path, *arguments)
        return getattr(MemoryFiles, name)(self, path, *arguments)

    return change


for _name in CHANGES:
    setattr(Failing, _name, _failing(_name))


def until_it_falls(files):
    """Return the events shown until the disk refuses, and those of a message after that."""
    try:
        runtime, _, _ = opened(files)
    except TargetError as error:
        return [], str(error)
    seen = []
    for stimulus in STORY:
        step = runtime.apply(stimulus)
        seen += step.events
        if seen and seen[-1]["type"] == "fault":
            break
    assert step.awaiting == ()
    refused = runtime.apply(User(id="more", text="more")).refused
    assert refused.why == "rejected"
    assert refused.message == seen[-1]["message"]
    return seen, refused.message


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EIO], ids=["full", "read-only", "broken"])
def test_a_disk_that_says_no_at_any_change_is_told_and_nothing_is_half_committed(error, for_good):
    """TM-5.3."""
    for number in range(1, len(recording()[0]) + 1):
        files = Failing(number, error, for_good=for_good)
        seen, message = until_it_falls(files)
        assert os.strerror(error) in message
        after, healthy = recovered_from(files.files)
        assert check(files.files.get(JOURNAL, b""), after, Facts(seen)) <= 1
        assert goes_on(healthy)


@pytest.fixture
def tmpfs(tmp_path):
    """A file system of 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"mounting is not allowed here: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_disk_that_fills_up_is_told_and_what_was_recorded_stays(tmpfs):
    runtime, _, _ = opened(Files(), tmpfs)
    seen = []
    for number in range(100):
        for stimulus in (User(id=f"u{number}", text="x" * 4000), TEXT, STOP):
            seen += runtime.apply(stimulus).events
        if seen[-1]["type"] == "fault":
            break
    assert "No space left on device" in seen[-1]["message"]
    runtime.close()
    subprocess.run(["mount", "-o", "remount,size=1m", tmpfs], check=True)
    journal = tmpfs / "main" / "journal.jsonl"
    before = journal.read_bytes()
    runtime, _, _ = opened(Files(), tmpfs)
    check(before, journal.read_bytes(), Facts(seen))
    assert goes_on(runtime)
    runtime.close()


def test_a_folder_that_is_read_only_is_told_at_the_start(tmpfs):
    (tmpfs / "main").mkdir()
    subprocess.run(["mount", "-o", "remount,ro", tmpfs], check=True)
    with pytest.raises(TargetError, match="Read-only file system"):
        opened(Files(), tmpfs)
