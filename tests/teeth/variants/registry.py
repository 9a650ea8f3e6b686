"""Every conforming variant: the single place to add one. ``make variants`` checks them all against the laws."""

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from runtimes.right import Right
from runtimes.target import CAPABILITIES

from turncheck.adapters.targets.registry import open_projector, open_runtime

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "conformance"))

from inprocess import InProcess  # noqa: E402 - found only now

from variants import projectors, runtimes  # noqa: E402

TIMEOUT = 20.0


@dataclass(frozen=True)
class Variant:
    """A target that conforms: its behaviour, with the clause that allows it, and the function that opens it."""

    says: str
    open: Callable[[], Any]


OTHER = {
    "tools": "parallel",
    "steerLands": "after-call",
    "abortEnds": "when-released",
    "queueAfterInterrupted": "hold",
    "queueAfterError": "drop",
    "steerHandover": "one",
    "followUpHandover": "all",
}
"""Policies under which every variant of a runtime is checked too."""
KIT = HERE.parents[1] / "adapters" / "kit"
PROGRAMS = {
    "Python, on the kit": ("the null runtime in Python", (sys.executable, KIT / "null_runtime.py")),
    "JavaScript, on the kit": ("the null runtime in JavaScript", ("node", KIT / "js" / "null_runtime.mjs")),
    "slow": ("the null runtime, really slow, within the patience", (sys.executable, HERE / "slow_runtime.py")),
}
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "busy": ("reject", "steer", "followUp"),
    "tools": ("serial", "parallel"),
    "steerLands": ("after-batch", "after-call"),
    "abortEnds": ("at-once", "when-released"),
    "retries": (0, 2),
    "queueAfterInterrupted": (*projectors.FATES, "join"),
    "queueAfterError": (*projectors.FATES, "join"),
    "steerHandover": ("all", "one"),
    "followUpHandover": ("one", "all"),
    "repeated": ("kept", "renamed"),
}
"""The policies that a runtime declares, and their values (``repeated`` concerns only the log)."""
MACHINES = (None, "conversation")


def combinations() -> Iterator[dict[str, Any]]:
    """Yield every combination of policies, for each machine with its own law."""
    for machine in MACHINES:
        for chosen in product(*CHOICES.values()):
            yield {"machine": machine, **dict(zip(CHOICES, chosen, strict=True))}


def _classes(module: Any, base: type) -> Iterator[tuple[str, type]]:
    for name, value in vars(module).items():
        if inspect.isclass(value) and issubclass(value, base) and value.__module__ == module.__name__:
            yield name, value


def _runtimes() -> Iterator[tuple[str, Variant]]:
    for name, kind in _classes(runtimes, Right):
        if kind is not runtimes.Renamed:
            says = (kind.__doc__ or "").strip()
            yield name, Variant(says, kind)
            if name not in runtimes.ONE_WAY:
                yield f"{name}, other policies", Variant(says, partial(kind, **OTHER))
    for one in CAPABILITIES:
        yield f"without {one}", Variant(f"it does not declare {one}: laws are skipped", partial(Right, without=(one,)))
        rest = tuple(other for other in CAPABILITIES if other != one)
        yield f"{one} alone", Variant(f"it declares {one} and nothing else", partial(Right, without=rest))
    for name, (says, command) in PROGRAMS.items():
        text = f"cmd:{shlex.join(map(str, command))}"
        yield name, Variant(f"{says} (PROTOCOL 3)", partial(open_runtime, text, timeout=TIMEOUT))


def _projectors() -> Iterator[tuple[str, Variant]]:
    for name, kind in _classes(projectors, object):
        if name not in {"Chatty", "Under"}:
            yield name, Variant((kind.__doc__ or "").strip(), partial(InProcess, f"variants.projectors:{name}"))
    yield "function", Variant(projectors.function.__doc__ or "", partial(InProcess, "variants.projectors:function"))
    for name in vars(projectors.UNDER):
        says = (projectors.Under.__doc__ or "").strip()
        yield name.replace("_", ", "), Variant(says, partial(InProcess, f"variants.projectors:UNDER.{name}"))
    javascript = f"cmd:node {shlex.quote(str(HERE.parents[1] / 'projectors' / 'js' / 'projector.mjs'))}"
    for name, text, says in (
        ("Chatty, in a worker", "python:variants.projectors:Chatty", projectors.Chatty.__doc__ or ""),
        ("JavaScript", javascript, "The projector in plain JavaScript (PROTOCOL 3)."),
    ):
        yield name, Variant(says.strip(), partial(open_projector, text, timeout=TIMEOUT))
    for face in ("Reference", "Alone", "Turns", "Beside", "Joined", "Both"):
        says = f"the model's own projection by another route: {face} (X-2)"
        yield f"route {face}", Variant(says, partial(InProcess, f"mutation.faces:{face}"))


RUNTIMES: Mapping[str, Variant] = dict(_runtimes())
"""Name → a runtime that conforms."""
PROJECTORS: Mapping[str, Variant] = dict(_projectors())
"""Name → a projector that conforms."""
