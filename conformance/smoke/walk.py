"""The whole walk: the claims of an implementation, its life in each role, and its end."""

import time
from collections.abc import Iterator
from typing import Final

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.messages import CAPABILITIES, RUNTIME_CAPABILITIES, RUNTIME_POLICIES, Profile
from turncheck.adapters.protocol.process import GRACE
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.targets.registry import Target

from .life import Life
from .projector import PROJECTOR
from .runtime import RUNTIME
from .stage import Outcome, Stage, done, live


def walk(target: Target) -> Iterator[Outcome]:
    """Yield the outcome of each step: the claims, a life in each role of *target*, and the end."""
    face = target.runtime or target.projector
    assert face is not None
    profile = face.profile
    yield done(Stage("says what it is and can", lambda _: check_profile(profile)), profile)
    if target.projector is not None:
        yield from live(PROJECTOR, target.projector, profile)
    if target.runtime is not None:
        yield from live(RUNTIME, Life(target.runtime), profile)
    yield _end(face)


END: Final = "ends when it is told to stop"


def check_profile(profile: Profile) -> None:
    """Raise TargetError for an unknown capability, or a runtime's policy outside its set.

    The protocol ignores unknown capabilities; here they are most likely a slip, and the intended one goes untested.
    """
    known = {**CAPABILITIES, **RUNTIME_CAPABILITIES}
    see = "docs/protocol.md#runtimes" if "runtime" in profile.roles else "docs/protocol.md#hello"
    if unknown := [name for name in profile.capabilities if name not in known]:
        raise TargetError(
            f"declares unknown capabilities: {', '.join(unknown)}", expected=f"some of {', '.join(known)}", see=see
        )
    for policy, values in RUNTIME_POLICIES.items():
        if (came := profile.policies.get(policy, values[0])) not in values:
            raise TargetError(
                f"the policy {policy} has an unknown value", expected=" or ".join(values), came=str(came), see=see
            )


def _end(face: ProjectorTarget | RuntimeTarget) -> Outcome:
    """Stop *face*, and say whether it ended in time. Closing waits ``GRACE`` seconds, then kills the process."""
    begun = time.monotonic()
    face.close()
    if time.monotonic() - begun < GRACE:
        return Outcome(END, "pass")
    return Outcome(END, "inconclusive", f"it ran on, and was killed after {GRACE:g} s: see docs/protocol.md")
