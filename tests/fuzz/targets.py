"""The fuzz targets, each with its seeds."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from fuzz import answers, files, logs, seeds
from turncheck.adapters.logs.formats.registry import FORMATS


class Check(Protocol):
    """Takes any bytes, and raises if a promise is broken: the *whole* one, or a part that costs several times less."""

    def __call__(self, data: bytes, /, *, whole: bool) -> None:
        """Check."""
        ...


@dataclass(frozen=True)
class Target:
    """``seeds`` are the initial inputs.

    *longest* is the most bytes of an input. Logs of 1 kB reach the edges that logs of 4 kB reach, 1.4 to 1.6 times
    as fast (`log-pi`: 622 edges in 12 s, 511 inputs per second, not 368). Files and answers need 4 kB: counterexamples
    of 1 kB reach 233 edges, those of 4 kB 1,044.
    """

    check: Check
    seeds: Callable[[], Iterable[bytes]]
    longest: int = 4096


_LOG: Final = 1024

TARGETS: Final[Mapping[str, Target]] = {
    "log": Target(partial(logs.reader, None), seeds.every_log, _LOG),
    **{f"log-{name}": Target(partial(logs.reader, name), partial(seeds.logs, name), _LOG) for name in FORMATS},
    "decode": Target(logs.decoder, seeds.own_logs, _LOG),
    "projection": Target(logs.projection, seeds.logs_with_policies, _LOG),
    "redact": Target(logs.redaction, seeds.own_logs, _LOG),
    "projector-answers": Target(answers.projector, seeds.projector_answers),
    "runtime-answers": Target(answers.runtime, seeds.runtime_answers),
    "run-stream": Target(answers.run_stream, seeds.run_streams),
    "counterexample": Target(files.counterexample, seeds.counterexamples),
    "baseline": Target(files.baseline, seeds.baselines),
}
"""Name → target."""
