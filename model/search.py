"""Breadth-first search: every state that can be reached, and the shortest word that leads to it.

States are any hashable values, letters any values. Results follow the order in which starts and letters are given,
never that of a set.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

State = TypeVar("State", bound=Hashable)
Letter = TypeVar("Letter")


def reached(
    starts: Iterable[tuple[State, tuple[Letter, ...]]], onward: Callable[[State], Iterable[tuple[Letter, State]]]
) -> Iterator[tuple[State, tuple[Letter, ...]]]:
    """Yield each state once, nearest first, with a shortest word to it: of several, the first one in the given order.

    *starts* are states with the words that lead to them, which may differ in length; of equally long words to a state,
    that of a start wins. *onward* yields a state's letters, each with the state that it leads to. A state is yielded
    when it is found, before the next letter is taken from *onward*.

    >>> table = {"idle": [("user", "active")], "active": [("user", "active"), ("stop", "idle")]}
    >>> list(reached([("idle", ())], lambda state: table[state]))
    [('idle', ()), ('active', ('user',))]
    """
    later = deque(sorted(starts, key=lambda start: len(start[1])))
    seen: set[State] = set()
    waiting: deque[tuple[State, tuple[Letter, ...]]] = deque()
    while later or waiting:
        if later and (not waiting or len(later[0][1]) <= len(waiting[0][1]) + 1):  # before what is found at its length
            start = later.popleft()
            if start[0] not in seen:
                seen.add(start[0])
                waiting.append(start)
                yield start
            continue
        state, word = waiting.popleft()
        for letter, after in onward(state):
            if after not in seen:
                seen.add(after)
                found = after, (*word, letter)
                waiting.append(found)
                yield found


def shortest(
    starts: Iterable[tuple[State, tuple[Letter, ...]]],
    onward: Callable[[State], Iterable[tuple[Letter, State | None]]],
    found: Callable[[Any], bool] = lambda state: state is None,
) -> tuple[Letter, ...] | None:
    """Return the shortest word to a state that satisfies *found*, None where there is none.

    *starts* and *onward* are those of ``reached``. To look for a transition, let *onward* lead it to None.

    >>> table = {"idle": [("user", "active")], "active": [("user", "active"), ("stop", None)]}
    >>> shortest([("idle", ())], lambda state: table[state])
    ('user', 'stop')
    """
    anywhere: Any = onward  # None leads nowhere: the search ends there
    return next((word for state, word in reached(starts, anywhere) if found(state)), None)
