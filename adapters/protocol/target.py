"""The common part of the two roles of a target."""

from types import TracebackType
from typing import Protocol, Self

from .messages import Implementation, Profile


class Target(Protocol):
    """An implementation under test, open until it is closed."""

    @property
    def name(self) -> str:
        """The target's text, as the user wrote it."""
        ...

    @property
    def implementation(self) -> Implementation:
        """The name and version of the implementation."""
        ...

    @property
    def profile(self) -> Profile:
        """Its claims; a projection has only the declared views: the others are empty."""
        ...

    def close(self) -> None:
        """End it, and leave no process behind."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...


class Closing:
    """A target that is closed at the end of a ``with`` block."""

    def close(self) -> None:
        """End it, and leave no process behind."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
