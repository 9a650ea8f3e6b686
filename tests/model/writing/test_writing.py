"""Files are written whole, durably, with the mode and owner that they had."""

import os
import stat
from pathlib import Path

import pytest
from folders import OLD, names

from turncheck.model.writing import write_file


@pytest.mark.parametrize("data", [b"", b"\x00\r\n", "größer\n", "x" * 3_000_000])
def test_the_content_is_what_was_given(file, data):
    write_file(file, data)
    assert file.read_bytes() == (data.encode() if isinstance(data, str) else data)


def test_missing_folders_are_made(tmp_path):
    write_file(tmp_path / "a" / "b" / "c.txt", "c")
    assert (tmp_path / "a" / "b" / "c.txt").read_text() == "c"


def test_no_temporary_file_is_left(file):
    write_file(file, b"new")
    assert names(file.parent) == [file.name]


def test_a_file_that_is_there_keeps_its_mode(file):
    file.chmod(0o640)
    write_file(file, b"new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a file away")
def test_a_file_that_is_there_keeps_its_owner(file):
    os.chown(file, 12345, 23456)
    write_file(file, b"new")
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 23456)


def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "new", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_reader_keeps_the_old_file_that_it_has_open(file):
    with file.open("rb") as reader:
        write_file(file, b"new")
        assert reader.read() == OLD


def test_a_name_of_the_longest_length_is_written(tmp_path):
    write_file(tmp_path / ("n" * 255), b"new")
    assert (tmp_path / ("n" * 255)).read_bytes() == b"new"


def test_the_bytes_are_durable_before_the_name_and_the_name_before_the_end(file, monkeypatch):
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def synced(descriptor):
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def renamed(path, to):
        done.append("rename")
        return replace(path, to)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    write_file(file, b"new")
    assert done == ["file", "rename", "folder"]
