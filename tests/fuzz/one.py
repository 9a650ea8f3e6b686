"""One fuzz target in this process, under atheris: ``python -m fuzz.one TARGET``, and then libFuzzer's own flags."""

import hashlib
import sys
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["turncheck"]):
    from fuzz.json_mutator import Mutator
    from fuzz.targets import TARGETS

_LONG = 1024
"""Bytes of a line of a seed that the mutator inserts."""
_SLOW = 2.0
"""Seconds of processor time for one input: some thousand times the usual."""


def main() -> None:
    """Hand the target to libFuzzer, which ends this process; an input that breaks a promise is written here first."""
    name = sys.argv.pop(1)
    sys.argv[0] = f"{sys.executable} -m fuzz.one {name}"  # libFuzzer starts itself again to merge, in a shell
    target = TARGETS[name]
    lines = {line for seed in target.seeds() for line in seed.split(b"\n") if len(line) <= _LONG}

    def check(data: bytes) -> None:
        began = time.process_time()
        try:
            target.check(data)
            took = time.process_time() - began
            assert took < _SLOW, f"{took:.1f} s"
        except BaseException:
            Path(f"broken-{hashlib.sha256(data).hexdigest()[:16]}").write_bytes(data)
            raise

    atheris.Setup(sys.argv, check, custom_mutator=Mutator(sorted(lines)))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
