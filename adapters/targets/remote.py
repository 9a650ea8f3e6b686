"""The common part of both roles of a target in another process."""

from typing import Final, Self

from ..protocol.connection import Connection
from ..protocol.messages import Profile
from ..protocol.target import Closing


class Remote(Closing):
    """A role at the other end of *connection*; *profile*, if given, replaces the one that it sends."""

    def __init__(self, connection: Connection, profile: Profile | None = None) -> None:
        self.name: Final = connection.name
        self.implementation: Final = connection.hello.implementation
        self.profile: Final = profile or connection.hello.profile
        self._connection = connection
        self._given = profile

    def again(self, hash_seed: int) -> Self:
        """Return the same implementation in a new process with this PYTHONHASHSEED."""
        return type(self)(self._connection.again(hash_seed), self._given)

    def close(self) -> None:
        """Ask the process to stop, and leave no process behind."""
        self._connection.close()
