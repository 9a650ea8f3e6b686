"""A file that cannot be written is as it was, and the error says why."""

import errno
import os
import resource
import subprocess

import pytest
from folders import OLD, names, refused, temporaries

from turncheck.model.writing import make_folder, write_file, written


def test_a_file_with_an_error_on_the_way_is_as_it_was(file, monkeypatch):
    """No disk that a test can have gives EIO."""

    def broken(_descriptor):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    assert refused(file).errno == errno.EIO
    monkeypatch.undo()
    assert (file.read_bytes(), temporaries(file.parent)) == (OLD, [])


def test_a_write_that_is_interrupted_leaves_the_file_as_it_was(file, monkeypatch):
    def interrupt(_descriptor, _data):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(file, b"new")
    assert (file.read_bytes(), temporaries(file.parent)) == (OLD, [])


def test_a_file_over_the_size_limit_is_as_it_was(file):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        assert refused(file, b"n" * 1001).errno == errno.EFBIG
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (file.read_bytes(), temporaries(file.parent)) == (OLD, [])


@pytest.fixture
def mounted(tmp_path):
    """A disk of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=False).returncode:
        pytest.skip("no leave to mount a disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_file_on_a_full_disk_is_as_it_was(mounted):
    (mounted / "a.json").write_bytes(OLD)
    assert refused(mounted / "a.json", b"n" * 100_000).errno == errno.ENOSPC
    assert ((mounted / "a.json").read_bytes(), temporaries(mounted)) == (OLD, [])


def test_a_new_file_on_a_full_disk_is_not_there(mounted):
    assert refused(mounted / "new", b"n" * 100_000).errno == errno.ENOSPC
    assert names(mounted) == []


def test_what_a_writer_raises_is_told_though_the_rest_cannot_be_written(mounted):
    (mounted / "rest").write_bytes(b"n" * 61_000)
    with pytest.raises(LookupError), written(mounted / "new") as file:  # noqa: PT012 - as a user would
        file.write(b"n" * 6_000)
        raise LookupError
    with pytest.raises(OSError, match="No space left"), written(mounted / "new") as file:
        file.write(b"n" * 6_000)
    assert names(mounted) == ["rest"]


def test_a_file_on_a_disk_that_is_read_only_is_as_it_was(mounted):
    (mounted / "a.json").write_bytes(OLD)
    subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
    assert refused(mounted / "a.json").errno in {errno.EROFS, errno.EACCES}
    assert refused(mounted / "new").errno == errno.EROFS
    assert (mounted / "a.json").read_bytes() == OLD


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everything")
def test_a_file_that_is_read_only_is_as_it_was(file):
    file.chmod(0o444)
    assert refused(file).errno == errno.EACCES
    assert file.read_bytes() == OLD


def test_a_name_that_is_too_long_is_refused(tmp_path):
    assert refused(tmp_path / ("n" * 256)).errno == errno.ENAMETOOLONG
    assert names(tmp_path) == []


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    assert refused(tmp_path).strerror == "it is a folder, and a file is needed"


@pytest.mark.parametrize("path", ["a.json/b", "a.json/b/c"])
def test_a_file_in_the_place_of_a_folder_is_refused(file, path):
    assert refused(file.parent / path).strerror == f"a folder is needed where {file} is a file"


def test_a_file_in_the_place_of_the_folder_itself_is_refused(file):
    with pytest.raises(NotADirectoryError) as refusal:
        make_folder(file)
    assert refusal.value.strerror == f"a folder is needed where {file} is a file"


def test_a_link_is_refused_and_what_it_leads_to_is_as_it_was(file):
    link = file.with_name("link")
    link.symlink_to(file)
    assert "it is a symbolic link, which is not followed" in refused(link).strerror
    assert (link.is_symlink(), file.read_bytes()) == (True, OLD)


def test_a_link_that_leads_nowhere_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert refused(tmp_path / "link").errno == errno.ELOOP
    assert not (tmp_path / "nowhere").exists()


def test_a_link_above_the_file_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_file(tmp_path / "link" / "a", b"new")
    assert (tmp_path / "real" / "a").read_bytes() == b"new"
