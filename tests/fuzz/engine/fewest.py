"""Write the fewest inputs that take all branches of what was learned: ``python -m fuzz.engine.fewest TARGET…``.

A merge by libFuzzer would start a process per target, and keep inputs for each count of each branch.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from fuzz import corpus
from fuzz.engine import tracing

with tracing.instrumented("turncheck"):
    from fuzz.targets import TARGETS

KEPT: Final = 80_000
"""Bytes of a target's committed inputs: all targets together stay below 2 MB."""


def fewest(inputs: Iterable[bytes], branches: Callable[[bytes], set[tuple[int, bool]]]) -> list[bytes]:
    """Return inputs that take all *branches* of *inputs*, short ones first, up to KEPT bytes."""
    kept: dict[bytes, set[tuple[int, bool]]] = {}
    times: Counter[tuple[int, bool]] = Counter()
    for data in sorted(set(inputs), key=lambda data: (len(data), data)):
        taken = branches(data)
        if taken - times.keys():
            kept[data] = taken
            times.update(taken)
    for data, taken in reversed(tuple(kept.items())):
        if all(times[branch] > 1 for branch in taken):
            del kept[data]
            times.subtract(taken)
    found: list[bytes] = []
    for data in kept:
        if sum(map(len, found)) + len(data) <= KEPT:
            found.append(data)
    return found


def main() -> None:
    """Write the inputs of each target that is named."""
    for name in sys.argv[1:]:
        folder = corpus.WORK / name
        inputs = [path.read_bytes() for part in ("corpus", "seeds") for path in (folder / part).iterdir()]
        print(f"  {corpus.save(name, fewest(inputs, lambda data: _taken(name, data)))}", flush=True)  # noqa: B023 - at once


def _taken(name: str, data: bytes) -> set[tuple[int, bool]]:
    """Return the branches that the whole promise takes with *data*, each with whether it is taken several times."""
    tracing.begin()
    TARGETS[name].check(data, whole=True)
    return {(branch, times > 1) for branch, times in tracing.end().items()}


if __name__ == "__main__":
    main()
