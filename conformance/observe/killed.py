"""Kill a runtime after, or amid, a stimulus, start it again on the same folder, and see what it makes of it."""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast
from zlib import crc32

from msgspec import to_builtins
from msgspec.json import encode
from msgspec.structs import replace

from turncheck.adapters.protocol.errors import FailedError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus, User

from .driver import Driver, Recorder, UnsettledError
from .runtime_trace import Applied, ObservedStep, Request, RuntimeTrace

PROBE: Final = User(id="after", text="say after")
"""The message that is sent after the restart, when all that was open has been answered."""
_PARTS: Final = 4
"""A kill amid a stimulus comes when so many parts of a step's usual time are over: none of them, one, two or three."""


@dataclass(frozen=True)
class Killed:
    """A word that a kill cut, and what came after the restart.

    ``before`` is the word. ``amid`` is the stimulus whose answer was lost, None for a kill between two. ``start`` is
    the answer to the reset. ``after`` is the trace from the restart on, behind that of the word where ``start`` told or
    awaits something: then one log goes on; ``first`` is the position of its first event after the restart. ``stuck``
    says why the runtime could not be asked on.
    """

    before: RuntimeTrace
    amid: Stimulus | None
    start: Step
    after: RuntimeTrace
    first: int
    stuck: str | None

    @cached_property
    def told(self) -> list[dict[str, Any]]:
        """What the answer to the reset told: events of the log, native ones left out."""
        events = [cast("dict[str, Any]", event) for event in self.start.events if isinstance(event, dict)]
        return [event for event in events if event.get("type") != "native"]

    @property
    def fate(self) -> str | None:
        """What became of the run that was open: the reason of its end, ``goes-on`` or ``untold``; None without one."""
        if not self.before.steps or not self.before.steps[-1].active:
            return None
        stop = next((event for event in self.told if event.get("type") == "run-stop"), None)
        if stop is not None:
            return str(stop.get("reason"))
        return "goes-on" if self.start.awaiting else "untold"

    @property
    def probe(self) -> ObservedStep | None:
        """The step of the message that was sent after the restart; None where it came to none."""
        return next((step for step in self.after.steps if step.stimulus == PROBE), None)

    @property
    def requests(self) -> list[Request]:
        """The requests after the restart."""
        return [one for one in self.after.requests if one.at >= self.first]

    @property
    def applied(self) -> tuple[Applied, ...]:
        """What was applied, with its answers, for a counterexample; a stimulus whose answer was lost has none."""
        lost = () if self.amid is None else (Applied(self.amid, Step()),)
        done = tuple(Applied(step.stimulus, step.answer) for step in self.before.steps)
        joint = len(self.before.steps) if self.first else 0
        rest = [Applied(step.stimulus, step.answer) for step in self.after.steps[joint:]]
        return (*done, *lost, *(replace(one, restarted=place == 0) for place, one in enumerate(rest)))


class _Restarted(Driver):
    """A runtime after a restart: one log with *before* where the answer to the reset told or awaits something."""

    def __init__(self, runtime: RuntimeTarget, options: ResetOptions, before: RuntimeTrace) -> None:
        Recorder.__init__(self, options, runtime.profile)
        self._runtime = runtime
        self.start = runtime.reset(options)
        if self.start.events or self.start.awaiting:
            for step in before.steps:
                self.observe(step.stimulus, step.answer, closing=step.closing)
        self.first = len(self.log)
        self.observation.follow(self.start)


def killed(
    runtime: RuntimeTarget,
    word: Sequence[Stimulus],
    options: ResetOptions,
    *,
    amid: bool = False,
    times: int = 1,
) -> Killed | None:
    """Apply *word* in a fresh folder, kill the runtime, and start it again; *times* kills follow each other.

    With *amid*, the kill comes within the last stimulus of *word*, whose answer is lost: when a part of a step's usual
    time is over, which the word decides. Returns None where the word does not settle. Raises TargetError.
    """
    whole, last = (word[:-1], word[-1]) if amid else (word, None)
    with tempfile.TemporaryDirectory(prefix="turncheck-state-") as folder:
        kept = replace(options, state_dir=folder)
        driver = Driver(runtime, kept)
        begun = time.perf_counter()
        try:
            driver.run(whole)
        except UnsettledError:
            return None
        usual = (time.perf_counter() - begun) / max(len(whole), 1)
        part = crc32(encode(to_builtins(tuple(word)))) % _PARTS
        runtime.kill(last, usual * part / _PARTS)
        trace = driver.trace()
        try:
            for _ in range(times - 1):
                runtime.reset(kept)
                runtime.kill()
            after = _Restarted(runtime, kept, trace)
        except FailedError as error:
            return Killed(
                trace, last, Step(), Recorder(kept, runtime.profile).trace(), 0, f"it cannot load: {error.problem}"
            )
        stuck = None
        try:
            stuck = _served(after)
        except UnsettledError:
            stuck = "no quiet within the adapter's patience"
        except FailedError as error:
            stuck = f"the adapter fails: {error.problem}"
        return Killed(trace, last, after.start, after.trace(), after.first, stuck)


def unkilled(runtime: RuntimeTarget, word: Sequence[Stimulus], options: ResetOptions) -> RuntimeTrace | None:
    """Apply *word* in a fresh folder, answer what is open, and send the message that follows a restart elsewhere.

    Returns None where that message cannot be served even so: then a restart is not to blame. Raises TargetError.
    """
    with tempfile.TemporaryDirectory(prefix="turncheck-state-") as folder:
        driver = Driver(runtime, replace(options, state_dir=folder))
        try:
            driver.run(word)
            if _served(driver) is not None:
                return None
        except UnsettledError:
            return None
        trace = driver.trace()
    probe = next(step for step in trace.steps if step.stimulus == PROBE)
    return trace if probe.took_place and any(one.at >= probe.first for one in trace.requests) else None


def _served(driver: Driver) -> str | None:
    """Answer what is open, send one message more, and answer that; return why a run did not end, None if all did."""
    driver.answer()
    driver.apply(PROBE, closing=True)
    driver.answer()
    if not driver.active:
        return None
    return "a run asks again and again" if driver.awaiting else "a run neither ends nor awaits anything"
