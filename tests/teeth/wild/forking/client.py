"""Be a process that another one forks: ``python -I -S client.py SOCKET``, the hash seed is added to the name.

It hands over its standard streams and its environment, and ends as the fork does; who kills it kills the fork.
"""

import json
import os
import signal
import socket
import sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect(sys.argv[1] + os.environ["PYTHONHASHSEED"])
    environment = json.dumps(dict(os.environ)).encode()
    socket.send_fds(server, [len(environment).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(environment)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)  # a pipe's end shows only if no other process holds it
    code = int(server.recv(16) or -signal.SIGKILL)
if code < 0:
    signal.signal(-code, signal.SIG_DFL) if -code not in {signal.SIGKILL, signal.SIGSTOP} else None
    os.kill(os.getpid(), -code)
sys.exit(code)
