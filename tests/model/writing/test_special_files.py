"""Devices, FIFOs and standard output are written in place; sockets are refused."""

import errno
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from folders import refused

from turncheck.model.writing import write_file

LIMIT = 60.0  # seconds; never waited for


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
