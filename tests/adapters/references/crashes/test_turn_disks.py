"""The turn runtime on a disk that is full, read-only or broken."""

import errno
import os
import subprocess

import pytest
from crashing import (
    CHANGES,
    JOURNAL,
    STOP,
    STORY,
    TEXT,
    Facts,
    check,
    goes_on,
    opened,
    recovered_from,
)
from disks import recording

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.references.turn.files import Files, MemoryFiles
from turncheck.model.core.stimuli import User


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
