"""Changes of the turn runtime that a crash loses or reorders, also during its recovery; wrong sessions are found."""

# mypy: disable-error-code="misc"

from collections import Counter

import pytest
from crashing import CHECKPOINT, JOURNAL, SESSION, STOP, STORY, TEXT, opened, recovered_from, story
from disks import Recording, crash_states, recorded, recording, recoveries

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.references.turn import Session
from turncheck.adapters.references.turn import runtime as turn_runtime
from turncheck.adapters.references.turn.files import MemoryFiles


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


@pytest.mark.parametrize("wrong", [ShowsBeforeItWrites, ForgetsOpenCalls, ForgetsTheOpenTurn])
def test_a_wrong_session_is_found_in_the_states_that_a_crash_leaves(monkeypatch, wrong):
    monkeypatch.setattr(turn_runtime, "Session", wrong)
    changes = recorded(Recording(), STORY)
    with pytest.raises(AssertionError):
        list(recoveries(*changes))


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
