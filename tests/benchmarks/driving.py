"""The harness's own time per stimulus: generation and all laws, on a runtime in this process, its time taken off."""

import time
from typing import Any

from runtimes.right import Right

from turncheck.adapters.targets.registry import open_runtime
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_runtime


class Timed:
    """A runtime in this process, and the processor time that it took itself; its twins count too."""

    spent = 0.0

    def __init__(self, runtime: Any) -> None:
        self._runtime = runtime
        self.name, self.profile, self.implementation = runtime.name, runtime.profile, runtime.implementation

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._runtime, name)

        def timed(*arguments: Any) -> Any:
            started = time.process_time()
            try:
                return method(*arguments)
            finally:
                Timed.spent += time.process_time() - started

        return timed

    def again(self, hash_seed: int) -> "Timed":
        return Timed(self._runtime.again(hash_seed))

    def __enter__(self) -> "Timed":
        return self

    def __exit__(self, *_: object) -> None:
        self._runtime.close()


def per_stimulus(words: int) -> float:
    """Milliseconds of processor time that the harness takes per stimulus."""
    Timed.spent = 0.0
    started = time.process_time()
    result, _ = verify_runtime(Timed(Right()), selected(["runtime"]), words=words, hash_seed=1)
    own = time.process_time() - started - Timed.spent
    milliseconds: float = own / result.coverage["stimuli"] * 1000
    return milliseconds


def per_second(command: str, words: int) -> float:
    """Stimuli per second of wall time through a process, generation and all laws included."""
    with open_runtime(command, timeout=10) as runtime:
        started = time.perf_counter()
        result, _ = verify_runtime(runtime, selected(["runtime"]), words=words, hash_seed=1)
        rate: float = result.coverage["stimuli"] / (time.perf_counter() - started)
        return rate
