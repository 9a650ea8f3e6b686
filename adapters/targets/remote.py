"""The part that both roles of a target in a process of its own share."""

from typing import Final, Self

from ..protocol.connection import Connection
from ..protocol.messages import Profile
from ..protocol.target import Closing


class Remote(Closing):
    """A role at the other end of *connection*; *profile*, where given, takes the place of the one that it sends."""

    def __init__(self, connection: Connection, profile: Profile | None = None) -> None:
        self.name: Final = connection.name
        self.implementation: Final = connection.hello.implementation
        self.profile: Final = profile or connection.hello.profile
        self._connection = connection
        self._given = profile

    def again(self, hash_seed: int) -> Self:
        """The same implementation in a new process with this PYTHONHASHSEED."""
        return type(self)(self._connection.again(hash_seed), self._given)

    def close(self) -> None:
        """Ask it to stop, and leave no process behind."""
        self._connection.close()
