"""The limits of a model's provider, as a runtime declares them: retries wait, and the context window is finite."""

from typing import Annotated, Any, Final, TypeAlias, cast

import msgspec

BACKOFF: Final = "backoff"
"""The policy that says how long a retry waits: the fields of ``Backoff``."""
WINDOW: Final = "contextWindow"
"""The limit, in tokens, of what the model can be shown."""
SHARE: Final = "contextShare"
"""The policy that says from which share of the context window on the user is told that it fills up."""
NOTICE: Final = "context-limit"
"""The capability to tell it, and the ``name`` of the ``native`` event that does."""

Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0)]


class Backoff(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Exponential backoff: before the n-th retry ``base * factor ** (n - 1)`` seconds, ``cap`` at most (BED-D1).

    ``jitter`` is the share by which a delay may be shorter or longer.

    >>> [Backoff(base=1, cap=5).delay(retry) for retry in (1, 2, 3, 4)]
    [1.0, 2.0, 4.0, 5.0]
    >>> Backoff(base=1, jitter=0.25).bounds(2)
    (1.5, 2.5)
    """

    base: Seconds
    factor: Annotated[float, msgspec.Meta(ge=1)] = 2.0
    cap: Seconds | None = None
    jitter: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0

    def delay(self, retry: int) -> float:
        """Return the seconds before retry number *retry*, counted from 1, without jitter."""
        seconds = self.base * float(self.factor) ** (retry - 1)
        return seconds if self.cap is None else min(seconds, float(self.cap))

    def bounds(self, retry: int) -> tuple[float, float]:
        """Return the least and the most seconds before retry number *retry*."""
        seconds = self.delay(retry)
        return seconds * (1 - self.jitter), seconds * (1 + self.jitter)


def tokens(usage: Any) -> int | None:
    """Return the tokens of a response: a number, an object's total, else the sum of its numbers; None without any.

    >>> tokens({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}), tokens({"in": 5, "out": 2})
    (7, 7)
    """
    match usage:
        case int() | {"total_tokens": int()}:
            return cast("int", usage if isinstance(usage, int) else usage["total_tokens"])
        case dict():
            return sum(value for value in cast("dict[str, Any]", usage).values() if isinstance(value, int))
        case _:
            return None
