"""A file is there as it was before or as it is now, and never in half."""

import shutil
from pathlib import Path

import pytest

from turncheck.conformance.verify.whole_file import write_whole


def test_a_file_is_written_and_written_again(tmp_path):
    for content in (b"one", b"two"):
        write_whole(tmp_path / "file", content)
        assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", content)]


def test_an_interruption_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"before")

    def half(path, content):
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", b"afterwards")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("file", b"before")]


def test_a_link_stays_one_and_a_file_keeps_its_mode(tmp_path):
    (tmp_path / "file").touch(0o640)
    (tmp_path / "link").symlink_to("file")
    write_whole(tmp_path / "link", b"through it")
    assert ((tmp_path / "file").read_bytes(), (tmp_path / "link").is_symlink()) == (b"through it", True)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_directly():
    write_whole(Path("/dev/null"), b"gone")
    assert not Path("/dev/null").is_file()


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    shutil.rmtree(tmp_path)
    with pytest.raises(OSError, match="No such file"):
        write_whole(tmp_path / "file", b"")
