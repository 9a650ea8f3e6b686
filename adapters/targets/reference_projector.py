"""The reference projector: the model itself, in this process, or served by the worker like any Python projector."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import SessionViewProjector, project

from ..protocol.input_guard import watched
from ..protocol.messages import Implementation, Profile
from ..protocol.projector import ProjectorTarget
from ..protocol.target import Closing
from ..references.driven import implementation

MACHINE: Final = "request_cycle"
PROFILE: Final = Profile(
    ("projector",), ("policies", "feed", "repeats", "steps", "rounds", "sub-agents"), machine=MACHINE
)


class Reference:
    """The reference as an object that the worker serves."""

    profile: Final = msgspec.to_builtins(PROFILE)

    def __init__(self, policies: Policies = DEFAULT) -> None:
        self._policies = policies
        self._ledger = SessionViewProjector(policies)
        self._fed = 0

    @property
    def implementation(self) -> Implementation:
        """The name and version of the reference."""
        return implementation()

    def project(self, events: Sequence[Any], policies: Mapping[str, Any] | None = None) -> Projection:
        """Project a whole log; without events, the fed ones. Raises msgspec.ValidationError for unknown policies."""
        if not events:
            return self._ledger.projection()
        chosen = self._policies if policies is None else msgspec.convert(policies, Policies)
        return project(tuple(map(judge, events)), chosen)

    def feed(self, events: Sequence[Any], start: int | None = None) -> None:
        """Take the next events, or those from the position *start* on: known ones are passed over."""
        known = 0 if start is None else self._fed - start
        first, self._fed = self._fed, self._fed + max(0, len(events) - known)
        self._ledger.feed(tuple(map(judge, events[known:])), range(first, self._fed))

    def reset(self) -> None:
        """Forget the fed events."""
        self._ledger = SessionViewProjector(self._policies)
        self._fed = 0


class ReferenceTarget(Closing):
    """The reference as a target, in this process: it cannot hang, die or send rubbish."""

    def __init__(self, name: str, again: Callable[[int], ProjectorTarget], profile: Profile | None = None) -> None:
        """*again* opens the reference in another process, given a hash seed."""
        self.name: Final = name
        self.profile: Final = profile or PROFILE
        self.last_input_changed: bool | None = None
        self._policies = self.profile.projection_policies()
        self._reference = Reference(self._policies)
        self._again = again

    @property
    def implementation(self) -> Implementation:
        """The name and version of the reference."""
        return implementation()

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project one session's whole log, whatever was fed."""
        chosen = policies or self._policies
        projection, self.last_input_changed = watched(lambda log: project(tuple(map(judge, log)), chosen), events)
        return projection

    def feed(self, events: Sequence[Any], start: int | None = None) -> None:
        """Take the next events, or those from the position *start* on."""
        _, self.last_input_changed = watched(partial(self._reference.feed, start=start), events)

    def fed(self) -> Projection:
        """Return the projection of the events fed since the reset."""
        return self._reference.project([])

    def reset(self) -> None:
        """Forget the fed events."""
        self._reference.reset()

    def again(self, hash_seed: int) -> ProjectorTarget:
        """Return the reference in another process with this PYTHONHASHSEED."""
        return self._again(hash_seed)
