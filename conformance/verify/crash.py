"""The case on which a target breaks, shrunk: each try has a process of its own where the last one broke."""

from typing import Any, Final, cast

import msgspec

from turncheck.adapters.protocol.errors import DiedError, FailedError, TargetError

from .shrink import OverError, shrink
from .subjects.subject import HASH_SEED, C, Subject

TRIES: Final = 40
"""Cases that are tried, at most: one that breaks the target costs a start of its process."""


def shrinkable(error: TargetError | None) -> bool:
    """Return whether the case of *error* can be shrunk: a process that hangs costs its timeout each time."""
    return isinstance(error, DiedError | FailedError) and error.case is not None


def shrunk(subject: Subject[C], error: TargetError) -> Any:
    """Return the smallest case found on which the target breaks as by *error*."""
    shrinking = _Shrinking(subject, error)
    try:
        shrink(cast(C, error.case), subject, shrinking.breaks)
    except (OverError, TargetError):
        pass  # what was found until now stands
    finally:
        shrinking.close()
    return shrinking.case


class _Shrinking:
    def __init__(self, subject: Subject[Any], error: TargetError) -> None:
        self.case, self._subject, self._error = error.case, subject, error
        self._target: Any = None
        self._tried: set[bytes] = {msgspec.json.encode(error.case)}

    def breaks(self, case: Any) -> Any:
        """Return the case, if the target breaks on it as before; else None. Raises OverError after many."""
        key = msgspec.json.encode(case)
        if key in self._tried:
            return None
        if len(self._tried) > TRIES:
            raise OverError
        self._tried.add(key)
        if self._target is None:
            self._target = self._subject.target.again(HASH_SEED)
        try:
            self._subject.elsewhere(self._target).observe(case)
        except TargetError as error:
            self.close()
            if type(error) is not type(self._error) or error.problem != self._error.problem:
                return None
            self.case = case
            return case
        return None

    def close(self) -> None:
        """End the process."""
        if self._target is not None:
            self._target.close()
        self._target = None
