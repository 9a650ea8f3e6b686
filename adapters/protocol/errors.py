"""The ways in which a target breaks; each error holds the message sent, the expected answer and the one received."""

from collections.abc import Sequence
from typing import Any, ClassVar, Final

EXCERPT: Final = 300
"""Characters shown of a message: enough for its head and shape, few enough for a readable screen."""

DOCUMENT: Final = "docs/protocol.md"


def excerpt(message: bytes | str) -> str:
    """Return the head of *message* on one line, with its length if it was cut."""
    text = message.decode(errors="replace") if isinstance(message, bytes) else message
    text = text.strip("\n").replace("\n", "\\n")
    return text if len(text) <= EXCERPT else f"{text[:EXCERPT]}… ({len(text):,} characters)"


class TargetError(Exception):
    """The target or our connection to it broke: the verdict ``error``, never a law's.

    ``problem`` says in one line what broke; ``sent``, ``expected`` and ``came`` are excerpts (empty if there was none),
    ``stderr`` the last lines of the process's log, ``see`` where to read more. ``ambiguous`` is True if the adapter may
    be right, and the implementation behind it broke.
    """

    ambiguous: ClassVar[bool] = False
    case: Any = None
    """The log or the word that it was given, where that is known."""

    def __init__(
        self,
        problem: str,
        *,
        sent: bytes | str = "",
        expected: str = "",
        came: bytes | str = "",
        stderr: Sequence[str] = (),
        see: str = DOCUMENT,
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.sent = excerpt(sent)
        self.expected = expected
        self.came = excerpt(came)
        self.stderr = tuple(stderr)
        self.see = see

    def while_asking(self, sent: bytes, expected: str, see: str) -> None:
        """Add the message to an error of a lower layer, which did not know it."""
        self.sent, self.expected = excerpt(sent), expected
        if self.see == DOCUMENT:  # it may know a better place
            self.see = see

    def __str__(self) -> str:
        log = "".join(f"\n    {excerpt(line)}" for line in self.stderr)
        see = self.see and f"{self.see}, in turncheck's source"  # an installed package has no docs beside it
        parts = {"sent": self.sent, "expected": self.expected, "came": self.came, "stderr": log, "see": see}
        return "\n".join([self.problem, *(f"  {name}: {text}" for name, text in parts.items() if text)])


class StartError(TargetError):
    """The target cannot be started or imported, or is no projector of this protocol."""


class HangingError(TargetError):
    """No answer within the timeout."""

    ambiguous = True


class DiedError(TargetError):
    """The process ended, or closed its end of a pipe, while an answer was due.

    ``exit`` is its exit code, the negative number of the signal that killed it, or None where it runs on.
    """

    ambiguous = True
    exit: int | None = None


class FailedError(TargetError):
    """The adapter answers that its own code raised an error."""

    ambiguous = True


class RubbishError(TargetError):
    """The answer is unusable: not JSON, not of the protocol, not a projection, or too large."""


class ChangedError(TargetError):
    """The implementation's answer to hello differs from the one at its first start: neither can be trusted."""


class OverdueError(TargetError):
    """The time of the whole run is over; the target may be sound."""

    def __init__(self, came: bytes | str = "") -> None:
        super().__init__("the time of the whole run is over (--run-timeout)", came=came, see=f"{DOCUMENT}#time")


class ImplementationError(Exception):
    """The implementation raised, or answered ``failed``, on an input: it breaks RC-D4 (a *fail*, not an *error*).

    ``message`` is one line; ``detail`` a traceback or the like, None if the implementation gave none.
    """

    def __init__(self, message: str, detail: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class UnsupportedError(Exception):
    """The implementation lacks a capability: its profile does not declare it, or it answered ``unsupported``."""


class BadTargetError(ValueError):
    """The text names no target: its kind is unknown, or the rest does not fit the kind."""
