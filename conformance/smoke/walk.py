"""The whole walk: the claims of an implementation, its life in each role, and its end."""

from collections.abc import Iterator
from typing import Final

from turncheck.adapters.protocol.collator import COLLATOR_CAPABILITIES
from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.messages import CAPABILITIES, RUNTIME_CAPABILITIES, Profile, check_policies
from turncheck.adapters.targets.registry import Target

from .collator import COLLATOR
from .life import Life
from .projector import PROJECTOR
from .runtime import RUNTIME
from .stage import Outcome, Stage, done, live


def walk(target: Target) -> Iterator[Outcome]:
    """Yield the outcome of each step: the claims, a life in each role of *target*, and the end."""
    face = target.runtime or target.projector or target.collator
    assert face is not None
    profile = face.profile
    yield done(Stage("says what it is and can", lambda _: check_profile(profile)), profile)
    if target.projector is not None:
        yield from live(PROJECTOR, target.projector, profile)
    if target.runtime is not None:
        yield from live(RUNTIME, Life(target.runtime), profile)
    if target.collator is not None:
        yield from live(COLLATOR, target.collator, profile)
    yield _end(target)


END: Final = "ends when it is told to stop"
PATIENCE: Final = 5.0
"""Seconds to end by itself: adapters that do it at once took 0.4 to 1.0 s on a busy machine."""


def check_profile(profile: Profile) -> None:
    """Raise TargetError for an unknown capability, or a runtime's policy outside its set.

    The protocol ignores unknown capabilities; here they are most likely a slip, and the intended one goes untested.
    """
    known = {**CAPABILITIES, **RUNTIME_CAPABILITIES, **COLLATOR_CAPABILITIES}
    see = "docs/protocol.md#runtimes" if "runtime" in profile.roles else "docs/protocol.md#hello"
    if unknown := [name for name in profile.capabilities if name not in known]:
        raise TargetError(
            f"declares unknown capabilities: {', '.join(unknown)}", expected=f"some of {', '.join(known)}", see=see
        )
    check_policies(profile.policies, see)


def _end(target: Target) -> Outcome:
    """Stop *target*, and say whether its process ended by itself."""
    if target.ended(PATIENCE):
        return Outcome(END, "pass")
    why = f"it ran on for {PATIENCE:g} s after `stop`, and was killed: does a thread or a timer keep it alive?"
    return Outcome(END, "inconclusive", f"{why} See docs/protocol.md#processes")
