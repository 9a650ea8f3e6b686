"""Kill a runtime behind, or amid, a stimulus, start it again on the same folder, and see what it makes of it."""

import tempfile
import time
from collections.abc import Sequence
from typing import Final
from zlib import crc32

from msgspec import to_builtins
from msgspec.json import encode
from msgspec.structs import replace

from turncheck.adapters.protocol.errors import FailedError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus, User

from .driver import Driver, Recorder, UnsettledError
from .killed import PROBE, SPARE, Killed
from .runtime_trace import RuntimeTrace

_PARTS: Final = 4
"""A kill amid a stimulus comes when so many parts of a step's usual time are over: none of them, one, two or three."""


class _Restarted(Driver):
    """A runtime after a restart: one log with *before* where the answer to the reset told or awaits something.

    *before* is None where a kill cut a stimulus: its events were not seen, so that no log goes on.
    """

    def __init__(self, runtime: RuntimeTarget, options: ResetOptions, before: RuntimeTrace | None) -> None:
        Recorder.__init__(self, options, runtime.profile)
        self._runtime = runtime
        self.start = runtime.reset(options)
        if before is not None and (self.start.events or self.start.awaiting):
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
            after = _Restarted(runtime, kept, trace if last is None else None)
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


def unkilled(
    runtime: RuntimeTarget, word: Sequence[Stimulus], options: ResetOptions, *, spare: bool = False
) -> RuntimeTrace | None:
    """Apply *word* in a fresh folder, answer what is open, and send the message that follows a restart elsewhere.

    With *spare* another message comes before it. Returns None where that message cannot be served even so: then a
    restart is not to blame. Raises TargetError.
    """
    with tempfile.TemporaryDirectory(prefix="turncheck-state-") as folder:
        driver = Driver(runtime, replace(options, state_dir=folder))
        try:
            driver.run(word)
            if spare:
                _served(driver, SPARE)
            if _served(driver) is not None:
                return None
        except UnsettledError:
            return None
        trace = driver.trace()
    probe = next(step for step in trace.steps if step.stimulus == PROBE)
    return trace if probe.took_place and any(one.at >= probe.first for one in trace.requests) else None


def _served(driver: Driver, message: User = PROBE) -> str | None:
    """Answer what is open, send one message more, and answer that; return why a run did not end, None if all did."""
    driver.answer()
    driver.apply(message, closing=True)
    driver.answer()
    if not driver.active:
        return None
    return "a run asks again and again" if driver.awaiting else "a run neither ends nor awaits anything"
