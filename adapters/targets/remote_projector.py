"""A projector in a process of its own, driven over the protocol."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Raw

from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies

from ..protocol.connection import Connection
from ..protocol.errors import ImplementationError, TargetError, UnsupportedError
from ..protocol.messages import Answer, Feed, Message, Profile, Project, Reset, encode
from ..protocol.projector import read_projection
from .remote import Remote


class RemoteProjector(Remote):
    """A ``ProjectorTarget``. Raises msgspec.ValidationError for unknown policies."""

    def __init__(self, connection: Connection, profile: Profile | None = None) -> None:
        own = None if profile is None else profile.projection_policies()
        super().__init__(connection, profile)
        self.last_input_changed: bool | None = None
        self._fed: list[tuple[Raw, int | None]] = []
        self._fed_to = connection.generation
        self._announced = connection.hello.profile.projection_policies()
        self._own = own or self._announced

    def project(self, events: Sequence[Any], policies: Policies | None = None) -> Projection:
        """Project one session's whole log, whatever was fed.

        On the wire, no events mean the fed ones: for an empty log, these are put aside and fed again.
        """
        fed = self._fed
        if fed and not events:
            self.reset()
        projection = self._project(_raw(events), self._to_send(policies))
        if fed and not events:
            for chunk in fed:
                self._feed(*chunk)
        return projection

    def feed(self, events: Sequence[Any], start: int | None = None) -> None:
        """Take the next events of the session under way, or those from the position *start* on."""
        self._check_feed()
        if start is not None and not self.profile.can("repeats"):
            raise UnsupportedError(f"{self.name} does not declare the capability 'repeats'")
        self._feed(_raw(events), start)

    def fed(self) -> Projection:
        """Return the projection of the events fed since the reset."""
        self._check_feed()
        return self._project(_raw([]), None)

    def reset(self) -> None:
        """Forget the fed events."""
        self._fed = []
        message = Reset(self._connection.next_seq())
        try:
            self._ask(message)
        except ImplementationError as error:  # a message without input has no verdict on it
            broken = TargetError(f"cannot reset: {error}", came=error.detail or "")
            raise self._connection.broken(broken, message) from error
        self._fed_to = self._connection.generation

    def _project(self, events: Raw, policies: Policies | None) -> Projection:
        message = Project(self._connection.next_seq(), events, policies)
        answer = self._ask(message)
        try:
            return read_projection(answer.projection, self.profile)
        except TargetError as error:
            raise self._connection.broken(error, message) from error.__cause__

    def _feed(self, events: Raw, start: int | None) -> None:
        self._connection.living()  # else the chunk would count as lost with the previous process
        if not self._fed:
            self._fed_to = self._connection.generation
        self._fed.append((events, start))
        self._ask(Feed(self._connection.next_seq(), events, start))

    def _to_send(self, policies: Policies | None) -> Policies | None:
        """Return the policies of a project message: none if the implementation follows *policies* anyway."""
        wanted = policies or self._own
        if self.profile.can("policies"):
            return None if wanted == self._announced else wanted
        if wanted == self._own:
            return None
        raise UnsupportedError(f"{self.name} does not declare the capability 'policies', and its own are {self._own}")

    def _check_feed(self) -> None:
        if not self.profile.can("feed"):
            raise UnsupportedError(f"{self.name} does not declare the capability 'feed'")
        if self._fed and self._fed_to != self._connection.generation:
            raise TargetError("what was fed was lost with the process that broke: reset first")

    def _ask(self, message: Message) -> Answer:
        self.last_input_changed = None
        answer = self._connection.ask(message)
        self.last_input_changed = None if answer.input_changed is UNSET else answer.input_changed
        return answer


def _raw(events: Sequence[Any]) -> Raw:
    return Raw(encode(events))
