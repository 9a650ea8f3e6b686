"""Run an adapter's script up to where it serves; there a copy of this process serves for each start.

``python zygote.py ADAPTER``, in the environment of the adapter. A copy has all that was imported, and nothing else: no
word was given to this process. When a copy is killed, what was under way to it is thrown away, and the next one is
made. A line ``{"copy": PID}`` comes before each. Where a copy ends by itself, so does this process.

The forks of ``wild.forking`` are killed through a client, some time after it: a runtime could write on meanwhile. A
copy is killed itself, at once.
"""

import gc
import os
import runpy
import select
import signal
import sys
from pathlib import Path

import turncheck_kit

_serve = turncheck_kit.serve


def serve(adapter):
    """Serve *adapter* in one copy after the other."""
    threads = sum(1 for _ in Path("/proc/self/task").iterdir())
    if threads > 1:
        raise SystemExit(f"{threads} threads run after the imports: a copy would lack them")
    gc.freeze()  # a collection writes into all objects, so that a copy would copy all memory
    while True:
        _drain(0)
        pid = os.fork()
        if not pid:
            _serve(adapter)
            return
        os.write(1, b'\n{"copy": %d}\n' % pid)
        ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if ended != -signal.SIGKILL:
            os._exit(abs(ended))


def _drain(descriptor):
    while select.select([descriptor], [], [], 0)[0]:
        if not os.read(descriptor, 1 << 20):
            os._exit(0)  # the owner is gone


turncheck_kit.serve = serve
sys.argv = sys.argv[1:]
sys.path[0] = str(Path(sys.argv[0]).parent)
runpy.run_path(sys.argv[0], run_name="__main__")
