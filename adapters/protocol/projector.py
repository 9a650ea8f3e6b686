"""A projector under test, as conformance sees it; ``errors`` has the errors that its calls raise."""

from collections.abc import Sequence
from typing import Any, Protocol

from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies

from .target import Target


class ProjectorTarget(Target, Protocol):
    """An implementation that projects logs.

    Events are JSON values, None for an unreadable line. Every call raises TargetError where the target breaks,
    ImplementationError where it raises or answers ``failed``, and UnsupportedError for an undeclared capability. After
    a TargetError it can be called again: its process is replaced, a few times at most; the fed events are then lost,
    and ``feed`` and ``fed`` raise TargetError until ``reset``.
    """

    @property
    def last_input_changed(self) -> bool | None:
        """True where the last call changed its events; None where that cannot be seen."""
        ...

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project one session's whole log, whatever was fed; None means the policies of its profile."""
        ...

    def feed(self, events: Sequence[Any]) -> None:
        """Take the next events of the session under way."""
        ...

    def fed(self) -> Projection:
        """The projection of what was fed since the reset, as if the log ended there; nothing is changed."""
        ...

    def reset(self) -> None:
        """Forget what was fed."""
        ...

    def again(self, hash_seed: int) -> "ProjectorTarget":
        """The same implementation in a new process with this PYTHONHASHSEED."""
        ...
