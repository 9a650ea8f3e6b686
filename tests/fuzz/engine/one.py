"""One fuzz target in this process, under atheris: ``python -m fuzz.engine.one TARGET``, then libFuzzer's own flags."""

import gc
import hashlib
import sys
import time
from pathlib import Path
from typing import Final
from zlib import crc32

import atheris

from fuzz.engine import tracing

with tracing.instrumented("turncheck"):
    from fuzz.engine.json_mutator import Mutator
    from fuzz.targets import TARGETS

_LONG: Final = 1024
"""Bytes of a line of a seed that the mutator inserts."""
_SHARE: Final = 16
"""One input in so many is held to the whole promise, chosen by its checksum; and so is each that takes new branches."""
_OBJECTS: Final = 20_000
"""Objects between collections."""
_SLOW: Final = 2.0
"""Seconds of processor time for one input: some thousand times the usual."""


def main() -> None:
    """Hand the target to libFuzzer, which ends this process; an input that breaks a promise is written here first."""
    name = sys.argv.pop(1)
    target = TARGETS[name]
    gc.collect()
    gc.freeze()  # modules are kept out of every collection
    gc.set_threshold(_OBJECTS)
    lines = {line for seed in target.seeds() for line in seed.split(b"\n") if len(line) <= _LONG}

    counters: tracing.Counters | None = None

    def check(data: bytes) -> None:
        nonlocal counters
        counters = counters or tracing.Counters()  # atheris loads libFuzzer with the first input
        began = time.process_time()
        whole = not crc32(data) % _SHARE
        tracing.begin()
        try:
            target.check(data, whole=whole)
            if counters.take(tracing.end()) and not whole:
                target.check(data, whole=True)
            took = time.process_time() - began
            assert took < _SLOW, f"{took:.1f} s"
        except BaseException:
            Path(f"broken-{hashlib.sha256(data).hexdigest()[:16]}").write_bytes(data)
            raise

    atheris.Setup(sys.argv, check, custom_mutator=Mutator(sorted(lines)))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
