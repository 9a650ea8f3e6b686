"""A projector under test, as conformance sees it; ``errors`` has the errors that its calls raise."""

from collections.abc import Sequence
from typing import Any, Protocol

from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies

from .target import Target


class ProjectorTarget(Target, Protocol):
    """An implementation that projects logs.

    Events are JSON values, None for an unreadable line. Every call raises TargetError if the target breaks,
    ImplementationError if it raises or answers ``failed``, and UnsupportedError for an undeclared capability. After a
    TargetError it can be called again: its process is replaced, a few times at most; the fed events are then lost, and
    ``feed`` and ``fed`` raise TargetError until ``reset``.
    """

    @property
    def last_input_changed(self) -> bool | None:
        """True if the last call changed its events; None if that cannot be seen."""
        ...

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project one session's whole log, whatever was fed; *policies* None means those of its profile."""
        ...

    def feed(self, events: Sequence[Any], start: int | None = None) -> None:
        """Take the next events of the session under way, or, with *start*, those from that position on.

        Events at positions below the number of events fed so far are repeats: the same events once more.
        """
        ...

    def fed(self) -> Projection:
        """Return the projection of the events fed since the reset, as if the log ended there; nothing is changed."""
        ...

    def reset(self) -> None:
        """Forget the fed events."""
        ...

    def again(self, hash_seed: int) -> "ProjectorTarget":
        """Return the same implementation in a new process with this PYTHONHASHSEED."""
        ...
