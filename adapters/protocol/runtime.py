"""A runtime under test, as conformance sees it; ``errors`` has the errors that its calls raise."""

from collections.abc import Sequence
from typing import Protocol

from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus

from .target import Target


class RuntimeTarget(Target, Protocol):
    """An implementation that is driven: stimuli in, settled steps out.

    Every call raises TargetError if the adapter or its process breaks, and ImplementationError if it answers
    ``failed``, which is the adapter's failure too. After a TargetError it can be reset: its process is replaced, a few
    times at most; all calls except ``reset`` raise TargetError until then.
    """

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines on stderr of the last process that was ended; empty if none was."""
        ...

    def reset(self, options: ResetOptions = ...) -> Step:
        """Begin anew: empty, or with the contents of ``state_dir``."""
        ...

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet."""
        ...

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        """Apply a word in one message; return fewer steps than stimuli if one was unsettled."""
        ...

    @property
    def in_process(self) -> bool:
        """True where it runs in this process, so that a start costs nothing."""
        ...

    def kill(self, amid: Stimulus | None = None, seconds: float = 0.0) -> None:
        """End its process at once, as a crash would; reset starts a new one.

        With *amid* that stimulus is sent first, and the kill comes *seconds* later, or when it is answered: its answer
        is lost. A runtime in this process takes no stimulus in part: it is killed before *amid*.
        """
        ...

    def again(self, hash_seed: int) -> "RuntimeTarget":
        """Return the same implementation in a new process with this PYTHONHASHSEED."""
        ...
