"""Wait where a Python process comes to import WILD_FILE, and go on in a fork for each client at WILD_SOCKET.

WILD_FIRST are modules that are imported before all others. The process that waits ends when its stdin does, and its
forks with it.
"""

import contextlib
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_FILE, _SOCKET = os.environ["WILD_FILE"], os.environ["WILD_SOCKET"]


class _Waiting(PathFinder):
    """Find modules as ever, and wait when the file is found."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        found = super().find_spec(fullname, path, target)
        if found is not None and found.origin == _FILE:
            sys.meta_path.remove(cls)
            _wait()
        return found


def _wait():
    """Return in a fork, whose standard streams and environment are those of a client."""
    selector = selectors.DefaultSelector()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(_SOCKET)
        listening.listen()
        selector.register(0, selectors.EVENT_READ, "owner")
        selector.register(listening, selectors.EVENT_READ, "client")
        os.write(1, b"!")
        clients: dict[int, tuple[int, socket.socket, int]] = {}  # by the descriptor of either end
        while True:
            # Ends come before starts: of a runtime that was killed nothing may run on when it is started again.
            for key, _ in sorted(selector.select(), key=lambda one: one[0].data == "client"):
                if key.data == "owner":
                    for pid, _, _ in clients.values():
                        os.kill(pid, signal.SIGKILL)
                    os._exit(0)
                if key.data == "client":
                    client, streams, environment = _accepted(listening)
                    if environment is None:
                        continue
                    pid = os.fork()
                    if not pid:
                        break
                    for stream in streams:
                        os.close(stream)
                    number = os.pidfd_open(pid)
                    clients[number] = clients[client.fileno()] = pid, client, number
                    selector.register(number, selectors.EVENT_READ, "end")
                    selector.register(client, selectors.EVENT_READ, "end")
                elif key.fd in clients:  # the fork has ended, or its client is gone
                    _end(selector, clients, key.fd)
            else:
                continue
            break
        for _, other, number in {*clients.values()}:
            os.close(number)
            other.close()
        selector.close()
        client.close()
    for stream, given in enumerate(streams):
        os.dup2(given, stream)
        os.close(given)
    os.environ.clear()
    os.environ.update(environment)


def _accepted(listening):
    """Return the next client, its standard streams, and its environment; None for that of one that is gone again."""
    client, _ = listening.accept()
    length, streams, _, _ = socket.recv_fds(client, 4, 3)
    size = int.from_bytes(length, "big")
    text = client.recv(size, socket.MSG_WAITALL)
    if not size or len(text) < size:
        for one in streams:
            os.close(one)
        client.close()
        return client, (), None
    return client, streams, json.loads(text)


def _end(selector, clients, descriptor):
    """End a fork, and tell its client how it ended."""
    pid, client, number = clients[descriptor]
    os.kill(pid, signal.SIGKILL)  # no more than a zombie, where it ended by itself
    _, status = os.waitpid(pid, 0)
    for one in (number, client):
        selector.unregister(one)
    del clients[number], clients[client.fileno()]
    with contextlib.suppress(OSError):  # it may be the client that ended
        client.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    client.close()
    os.close(number)


sys.path.remove(str(Path(__file__).parent))
sys.meta_path.insert(0, _Waiting)
for _name in os.environ["WILD_FIRST"].split():
    importlib.import_module(_name)
