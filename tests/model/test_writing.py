"""Files are written whole or not at all, whatever the disk, the target and other writers do."""

import ast
import errno
import os
import random
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from turncheck.model import writing
from turncheck.model.writing import locked, make_folder, write_file, written

LIMIT = 60.0  # seconds; never waited for
KILLS = 200
OLD = b"old\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(OLD)
    return path


def names(folder):
    return [path.name for path in folder.iterdir()]


def temporaries(folder):
    return [name for name in names(folder) if name.startswith(".turncheck-")]


# ---- files that are written ----


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


# ---- files that cannot be written ----


def refused(path, data=b"new"):
    with pytest.raises(OSError, match=re.escape(str(path))) as refusal:
        write_file(path, data)
    assert refusal.value.filename == str(path)
    return refusal.value


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


# ---- files that are not regular ----


def test_a_device_is_written_in_place():
    write_file("/dev/null", b"new")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_device_that_is_full_is_told():
    assert refused("/dev/full").errno == errno.ENOSPC


def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("s")
        assert refused("s").strerror == "it is a socket, and a file is needed"


def test_a_fifo_that_is_read_gets_all(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    got: list[bytes] = []
    thread = threading.Thread(target=lambda: got.extend(iter(lambda: os.read(reader, 65536), b"")))
    first = os.open(path, os.O_WRONLY)  # so that the reader finds no end before the writer comes
    thread.start()
    write_file(path, b"n" * 300_000)
    os.close(first)
    thread.join(LIMIT)
    os.close(reader)
    assert b"".join(got) == b"n" * 300_000


def test_a_fifo_that_nobody_reads_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert refused(tmp_path / "fifo").strerror == "nobody reads this FIFO"


PRINTING = """
import sys
from turncheck.model.writing import write_file
print(1)
write_file(sys.argv[1], "2\\n")
print(3)
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_that_is_a_pipe_is_written_in_its_order(name):
    ran = subprocess.run([sys.executable, "-c", PRINTING, name], stdout=subprocess.PIPE, check=True, timeout=LIMIT)
    assert ran.stdout == b"1\n2\n3\n"


def test_standard_output_that_is_a_file_is_written_in_its_order(file):
    with file.open("wb") as out:
        subprocess.run([sys.executable, "-c", PRINTING, "/dev/stdout"], stdout=out, check=True, timeout=LIMIT)
    assert file.read_bytes() == b"1\n2\n3\n"


# ---- writers that die, and several at once ----

FORKING = """
import os, sys
from turncheck.model.writing import write_file
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if not child:
        print(os.getpid(), flush=True)
        number = 0
        while True:
            number += 1
            write_file(sys.argv[1], f"{number % 10}" * 50_000)
    sys.stdin.readline()
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


def test_a_writer_that_is_killed_leaves_a_whole_file_and_at_most_one_temporary(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"0" * 50_000)
    chance = random.Random(1)
    script = tmp_path / "loop.py"
    script.write_text(FORKING)
    with subprocess.Popen(
        [sys.executable, script, path, str(KILLS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        for _ in range(KILLS):
            pid = int(parent.stdout.readline())
            threading.Event().wait(chance.random() * 0.01)  # the test needs a random moment: this is no precaution
            os.kill(pid, signal.SIGKILL)
            print("next", file=parent.stdin, flush=True)
            assert parent.stdout.readline() == "dead\n"
            found = path.read_bytes()
            assert found == found[:1] * 50_000
            assert len(temporaries(tmp_path)) <= 1
    write_file(path, b"new")
    assert temporaries(tmp_path) == []


def test_a_temporary_whose_writer_lives_is_left_alone(file):
    beside, descriptor = writing._temporary(file.parent)
    try:
        write_file(file, b"new")
        assert temporaries(file.parent) == [beside.name]
    finally:
        os.close(descriptor)


def test_a_file_that_only_looks_like_a_temporary_is_left_alone(file):
    other = file.with_name(".turncheck-notes.tmp")
    other.write_bytes(OLD)
    write_file(file, b"new")
    assert other.exists()


def test_several_writers_at_once_leave_the_whole_file_of_one(tmp_path):
    path = tmp_path / "a"
    code = (
        "import sys; from turncheck.model.writing import write_file\n"
        "for _ in range(50): write_file(sys.argv[1], sys.argv[2] * 50_000)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in "abc"]
    assert [one.wait(LIMIT) for one in running] == [0, 0, 0]
    found = path.read_bytes()
    assert found == found[:1] * 50_000
    assert names(tmp_path) == ["a"]


def test_nothing_that_is_added_under_the_lock_is_lost(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    code = (
        "import sys; from pathlib import Path; from turncheck.model.writing import locked, write_file\n"
        "path = Path(sys.argv[1])\n"
        "for _ in range(30):\n"
        "    with locked(path): write_file(path, str(int(path.read_text()) + 1))"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, path]) for _ in range(3)]
    assert [one.wait(LIMIT) for one in running] == [0, 0, 0]
    assert path.read_text() == "90"


def test_a_lock_that_stays_taken_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "_PATIENCE", 0.02)
    with locked(tmp_path / "a"), pytest.raises(TimeoutError), locked(tmp_path / "a"):
        pass


# ---- the one place ----

HOUSE = Path(writing.__file__).parents[1]
WRITERS = {
    "model/writing.py": "it is the one place",
    "adapters/references/turn/files.py": "the files of a reference runtime: what a crash leaves of them is its subject",
    "adapters/references/interaction/journal.py": "a reference's journal: each stimulus is appended",
    "conformance/cli/failures.py": "a closed standard stream, opened as the empty device",
    "adapters/targets/environments.py": "a lock file, and a folder that its marker makes whole",
}
METHODS = {"write_text", "write_bytes", "touch", "copy2", "copyfile", "copyfileobj", "NamedTemporaryFile", "mkstemp"}


def modules():
    """Yield the product's modules, without those that run in other environments."""
    for room in ("model", "adapters", "conformance"):
        for path in (HOUSE / room).rglob("*.py"):
            if not {"runtimes", "templates"} & {*path.parts}:
                yield path


def writes(call):
    """Return whether a call writes a file by itself."""
    text, name = ast.unparse(call), ast.unparse(call.func)
    modes = [one.value for one in ast.walk(call) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return (
        name.rpartition(".")[2] in METHODS
        or (name.rpartition(".")[2] == "open" and any(re.fullmatch(r"[rbt]*[wax+][wax+rbt]*", one) for one in modes))
        or (name == "os.open" and not re.search("devnull|O_RDONLY", text))
    )


@pytest.mark.parametrize(
    "call",
    [
        "path.write_text('')",
        "Path(a).open('wb')",
        "open(a, mode='x')",
        "os.open(a, os.O_WRONLY)",
        "shutil.copyfile(a, b)",
    ],
)
def test_a_call_that_writes_is_known(call):
    assert writes(ast.parse(call, mode="eval").body)


def test_files_are_written_in_one_place():
    calls = ((path, node) for path in modules() for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    found = {str(path.relative_to(HOUSE)) for path, node in calls if isinstance(node, ast.Call) and writes(node)}
    assert found == {*WRITERS}
