"""How long a cancel takes until the running tool and all that it started are gone: 100 ms at most (BED-005d).

Asserts results, never times: p50 and p99 stand in ``extra_info``, beside the bound.
"""

import os
import statistics
import sys
import time
from pathlib import Path

from turncheck.adapters.references.conversation import ConversationTarget
from turncheck.model.core.stimuli import Abort, ModelOutput, ModelStop, ResetOptions, ToolCall, User

BOUND = 100.0
"""Milliseconds (BED-005d)."""
ROUNDS = 100
TREE = """
import subprocess, sys, time
own = [subprocess.Popen(["sleep", "1000"]) for _ in range(3)]
away = subprocess.Popen(["sleep", "1000"], start_new_session=True)
with open(sys.argv[1], "w") as told:
    told.write(" ".join(str(one.pid) for one in (*own, away)))
time.sleep(1000)
"""


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_cancel_to_tree_gone(benchmark, tmp_path: Path) -> None:
    """From the cancel to the end of its step, in which five processes end, one in a session of its own."""
    told = tmp_path / "told"
    milliseconds: list[float] = []
    left: list[int] = []
    os.mkfifo(told)
    tools = ({"name": "tree", "command": [sys.executable, "-c", TREE, str(told)]},)
    word = (
        User(id="u1", text="go"),
        ModelOutput(item=ToolCall(call_id="c", tool="tree", arguments={})),
        ModelStop(reason="tool-use"),
    )
    with ConversationTarget(directory=str(tmp_path)) as runtime:

        def started() -> tuple[tuple[list[int]], dict[str, object]]:
            runtime.reset(ResetOptions(tools=tools, state_dir=str(tmp_path / f"state{len(milliseconds)}")))
            runtime.run(word)
            return ([int(pid) for pid in told.read_text().split()],), {}

        def cancel(pids: list[int]) -> None:
            begun = time.perf_counter()
            runtime.apply(Abort())
            milliseconds.append((time.perf_counter() - begun) * 1000)
            left.extend(pid for pid in pids if alive(pid))

        benchmark.pedantic(cancel, setup=started, rounds=ROUNDS)
    hundredths = statistics.quantiles(milliseconds, n=100)
    benchmark.extra_info.update(p50=round(hundredths[49], 1), p99=round(hundredths[98], 1), bound=BOUND, unit="ms")
    assert left == []
