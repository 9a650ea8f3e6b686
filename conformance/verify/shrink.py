"""Delta debugging: the smallest case that still fails, of events or stimuli alike, and with the fewest options.

Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input (2002); windows overlap here by half, and pairs
are left out at the end, so that a call falls with its distant result.
"""

from collections.abc import Callable
from itertools import combinations

from .subjects.subject import C, Subject


class OverError(BaseException):
    """Exploration or shrinking ends: the budget is used up, or the target broke. Hypothesis catches Exception only."""


def shrink(case: C, subject: Subject[C], fails: Callable[[C], C | None]) -> C:
    """Return the smallest case to which *case* can be reduced.

    *fails* applies a case and returns it as it was applied, or None where it does not fail.
    """
    before = None
    while case != before:
        before = case
        for part in (_windows, _options, _pairs):
            case = part(case, subject, fails)
    return case


def _windows(case: C, subject: Subject[C], fails: Callable[[C], C | None]) -> C:
    """Leave out stretches: first the whole, then ever shorter ones."""
    width = size = subject.size(case)[0]
    while width:
        start = 0
        while start < subject.size(case)[0]:
            found = fails(subject.without(case, range(start, start + width)))
            case, start = (case, start + max(width // 2, 1)) if found is None else (found, start)
        before, size = size, subject.size(case)[0]
        width = width - max(width // 2, 1) if size == before else min(width * 2, size)
    return case


def _pairs(case: C, subject: Subject[C], fails: Callable[[C], C | None]) -> C:
    """Leave out two pieces that need each other."""
    for pair in combinations(range(subject.size(case)[0]), 2):
        found = fails(subject.without(case, pair))
        if found is not None:
            return found
    return case


def _options(case: C, subject: Subject[C], fails: Callable[[C], C | None]) -> C:
    """Leave out options and details one by one."""
    found: C | None = case
    while found is not None:
        case = found
        found = next((one for one in map(fails, subject.simpler(case)) if one is not None), None)
    return case
