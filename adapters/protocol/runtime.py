"""A runtime under test, as conformance sees it; ``errors`` has the errors that its calls raise."""

from collections.abc import Sequence
from typing import Protocol

from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus

from .target import Target


class RuntimeTarget(Target, Protocol):
    """An implementation that is driven: stimuli in, settled steps out.

    Every call raises TargetError where the adapter or its process breaks, and ImplementationError where it answers
    ``failed``, which is the adapter's failure too. After a TargetError it can be reset: its process is replaced, a few
    times at most; all but ``reset`` raise TargetError until then.
    """

    @property
    def last_words(self) -> tuple[str, ...]:
        """The last lines of the log of the process that was ended last, empty where there was none."""
        ...

    def reset(self, options: ResetOptions = ...) -> Step:
        """Begin anew: empty, or with the contents of ``state_dir``."""
        ...

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet."""
        ...

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        """Apply a word in one message; fewer steps than stimuli where one was unsettled."""
        ...

    def kill(self) -> None:
        """Crash it: its process ends at once; reset starts a new one."""
        ...

    def again(self, hash_seed: int) -> "RuntimeTarget":
        """The same implementation in a new process with this PYTHONHASHSEED."""
        ...
