"""``python -m kills [--words N] [--seed N] [RUNTIME …]``: kill runtimes at every point of N words, and write the page.

It takes six to nine minutes of a processor for a Python runtime with 200 words, an hour for one in JavaScript. Ctrl-C
writes what was done until then.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from turncheck.adapters.targets.environments import PythonEnvironment
from turncheck.adapters.targets.registry import open_runtime
from turncheck.adapters.targets.runtime_catalog import KnownRuntime, find

from .forking import forked
from .outcome import Outcome
from .page import write
from .points import killed_everywhere, words_for

RUNTIMES = ("langgraph", "openai-agents")
"""The known runtimes that keep a session on disk."""
TIMEOUT = 30.0
"""Seconds for an answer: a machine on which this runs in the background is busy."""
MEMORY = Path("/dev/shm")
"""Where the runtimes' folders are, if it is there: a kill loses nothing that was written, so no disk is awaited."""


def main(arguments: Sequence[str]) -> int:
    """Kill each runtime; return 2 where a name is that of none, 130 where Ctrl-C ended it."""
    parser = argparse.ArgumentParser(prog="kills", description=__doc__)
    parser.add_argument("runtimes", nargs="*", default=RUNTIMES)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if MEMORY.is_dir():
        tempfile.tempdir = str(MEMORY)
    for name in given.runtimes:
        known = find(name)
        if known is None:
            print(f"no known runtime is called {name}; `turncheck targets` lists them", file=sys.stderr)
            return 2
        outcome = Outcome(str(known), given.seed)
        try:
            kill(known, given.words, outcome)
        except KeyboardInterrupt:
            return 130
        finally:
            outcome.seconds = round(sum(os.times()[:4]))
            write(outcome)
    return 0


def kill(known: KnownRuntime, words: int, outcome: Outcome) -> None:
    """Kill *known* at every point of so many *words*, and add to *outcome*; a line on stderr per word."""
    python = isinstance(known.environment, PythonEnvironment)
    with forked(known, TIMEOUT) if python else open_runtime(str(known), timeout=TIMEOUT) as runtime:
        drawn = words_for(runtime, words, outcome.seed)
        for _ in killed_everywhere(runtime, drawn, outcome):
            print(f"{outcome.target}: {outcome.words} words, {outcome.kills} kills", file=sys.stderr, flush=True)
