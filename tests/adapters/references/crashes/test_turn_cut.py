"""The journal of the turn runtime cut at each byte, torn, or without its checkpoint."""

from collections import Counter
from itertools import product

import msgspec
import pytest
from crashing import CHECKPOINT, JOURNAL, SESSION, Facts, check, goes_on, lines, recovered_from, story

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.references.turn import (
    CheckpointMismatchError,
    CorruptLineError,
    Session,
    TurnRuntime,
)
from turncheck.adapters.references.turn import runtime as turn_runtime
from turncheck.adapters.references.turn.files import MemoryFiles
from turncheck.model.core.stimuli import ResetOptions


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


class ThrowsATornLineAway(Session):
    """A torn last line is dropped without a word (TM-D4)."""

    def _crashed(self):
        if self._journal.torn:
            self._journal.append([])
        return super()._crashed()


def test_a_session_that_throws_a_torn_line_away_is_found_at_a_cut(monkeypatch):
    monkeypatch.setattr(turn_runtime, "Session", ThrowsATornLineAway)
    with pytest.raises(AssertionError):
        cut(story().states[0][JOURNAL][:9], b"")
