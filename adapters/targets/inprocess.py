"""A Python projector as a target in this process, without the worker.

Debuggers and coverage tools see it, but it cannot be stopped or replaced when it hangs or dies.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec
from msgspec import Raw

from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies

from ..protocol.errors import ImplementationError, UnsupportedError
from ..protocol.input_guard import watched
from ..protocol.loading import Loaded
from ..protocol.messages import Profile, encode
from ..protocol.projector import ProjectorTarget, read_projection
from ..protocol.target import Closing


class InProcessProjector(Closing):
    """The target *name*, made from *loaded*; *profile*, if given, replaces its own."""

    def __init__(self, loaded: Loaded, name: str, profile: Profile | None = None) -> None:
        self._loaded = loaded
        self.name: Final = name
        self.implementation: Final = loaded.implementation
        self.profile: Final = profile or loaded.profile
        self.last_input_changed: bool | None = None

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project one session's whole log. Raises ImplementationError, RubbishError and UnsupportedError."""
        if policies is None:
            return self._projection(self._loaded.project, events)
        if not self._loaded.profile.can("policies"):
            raise UnsupportedError("policies")
        return self._projection(partial(self._loaded.project, policies=msgspec.to_builtins(policies)), events)

    def feed(self, events: Sequence[Any], start: int | None = None) -> None:
        """Take the next events of the session under way, or those from the position *start* on."""
        if self._loaded.feed is None:
            raise UnsupportedError("feed")
        self._ask(self._loaded.feeding(start), events)

    def fed(self) -> Projection:
        """Return the projection of the events fed since the reset."""
        return self._projection(self._loaded.project, [])

    def reset(self) -> None:
        """Forget the fed events."""
        self._loaded.reset()

    def again(self, hash_seed: int) -> ProjectorTarget:
        """Raise UnsupportedError: another hash seed needs another process."""
        raise UnsupportedError(f"hash seed {hash_seed}: {self.name} is in this process, which has its own")

    def _ask(self, function: Callable[..., Any], events: Sequence[Any]) -> Any:
        given = msgspec.json.decode(encode(events))  # its own copy, as in another process
        try:
            answer, self.last_input_changed = watched(function, given)
        except Exception as error:
            raise ImplementationError(f"{type(error).__name__}: {error}") from error
        return answer

    def _projection(self, function: Callable[..., Any], events: Sequence[Any]) -> Projection:
        return read_projection(Raw(msgspec.json.encode(self._ask(function, events))), self.profile)
