"""The fuzz targets, each with its seeds."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from fuzz import answers, files, logs, seeds
from turncheck.adapters.logs.formats.registry import FORMATS


@dataclass(frozen=True)
class Target:
    """``check`` takes any bytes, and raises if a promise is broken; ``seeds`` are the initial inputs."""

    check: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]


TARGETS: Final[Mapping[str, Target]] = {
    "log": Target(partial(logs.reader, None), seeds.every_log),
    **{f"log-{name}": Target(partial(logs.reader, name), partial(seeds.logs, name)) for name in FORMATS},
    "decode": Target(logs.decoder, seeds.own_logs),
    "projection": Target(logs.projection, seeds.logs_with_policies),
    "redact": Target(logs.redaction, seeds.own_logs),
    "projector-answers": Target(answers.projector, seeds.projector_answers),
    "runtime-answers": Target(answers.runtime, seeds.runtime_answers),
    "run-stream": Target(answers.run_stream, seeds.run_streams),
    "counterexample": Target(files.counterexample, seeds.counterexamples),
    "baseline": Target(files.baseline, seeds.baselines),
}
"""Name → target."""
