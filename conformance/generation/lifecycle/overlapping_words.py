"""Words in which runs of one session overlap, where ``busy`` is ``concurrent``.

The machine knows one open run. So each run here follows a script of its own, and a word is an interleaving of scripts:
directed ones begin the second run at each place of the first, and end it within or behind it; others are drawn.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from turncheck.model.core.stimuli import (
    Awaited,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Stimulus,
    Text,
    ToolAwaited,
    ToolCall,
    ToolReturn,
    User,
)

from ...observe.driver import Driver
from ..situations import COLOURS

What: TypeAlias = Literal["user", "text", "call", "stop", "return", "break"]


class Letter(NamedTuple):
    """A stimulus of one of the runs, which are numbered."""

    run: int
    what: What


_ANSWERS: Final[Sequence[What]] = ("user", "text", "stop")
_CALLS: Final[Sequence[What]] = ("user", "call", "stop", "return", "text", "stop")
_BREAKS: Final[Sequence[What]] = ("user", "text", "break")
_MOST: Final = 3
"""Runs side by side in a word that is drawn."""


def scripts(capabilities: frozenset[str]) -> Sequence[Sequence[What]]:
    """Return what a run can do: answer, call a tool before it answers, and break off amid its answer."""
    needs = ((_CALLS, "tools"), (_BREAKS, "model-failure"))
    return (_ANSWERS, *(script for script, need in needs if need in capabilities))


def directed_overlaps(capabilities: frozenset[str]) -> Iterator[tuple[Letter, ...]]:
    """Yield words of two runs: the second begins at each place of the first, and ends within it or behind it."""
    for first in scripts(capabilities):
        for second in scripts(capabilities):
            one, other = _of(0, first), _of(1, second)
            for place in range(1, len(one)):
                yield (*one[:place], *other, *one[place:])
                yield (*one[:place], other[0], *one[place:], *other[1:])


def drawn_overlap(seed: int, capabilities: frozenset[str]) -> tuple[Letter, ...]:
    """Return a word of two or three runs, in an order that *seed* decides."""
    draw = random.Random(seed)  # noqa: S311 - words have to come again from their seed
    possible = scripts(capabilities)
    left = [[*_of(run, draw.choice(possible))] for run in range(draw.randint(2, _MOST))]
    word = [one.pop(0) for one in left[:2]]  # two are open from the start
    while any(left):
        word.append(draw.choice([one for one in left if one]).pop(0))
    return tuple(word)


class Overlap:
    """The runs of a word under way: what each awaits is what came when it was last given something."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._owners: dict[str, int] = {}
        self._called: dict[int, bool] = {}
        self._made = 0

    def follow(self, word: Sequence[Letter]) -> bool:
        """Apply *word* as far as the runtime permits; return whether to the end. Raises the driver's errors."""
        for letter in word:
            stimulus = self._stimulus(letter)
            if stimulus is None:
                return False
            before = {*map(_name, self._driver.awaiting)}
            if not self._driver.apply(stimulus).took_place:
                return False
            self._owners |= {name: letter.run for name in map(_name, self._driver.awaiting) if name not in before}
        return True

    def _stimulus(self, letter: Letter) -> Stimulus | None:
        """The stimulus of a letter; None where its run does not wait for it."""
        self._made += 1
        number, colour, run = self._made, COLOURS[letter.run % 2], letter.run
        waits = [one for one in self._driver.awaiting if self._owners.get(_name(one)) == run]
        tool = next((one for one in waits if isinstance(one, ToolAwaited)), None)
        request = next((one.request_id for one in waits if isinstance(one, ModelAwaited)), None)
        if letter.what == "user":
            return User(id=f"u{number}", text=f"say {number} {colour}")
        if letter.what == "return":
            output = f"result {number} {colour}"
            return None if tool is None else ToolReturn(call_id=tool.call_id, output=output, execution=tool.execution)
        if request is None:
            return None
        if letter.what == "stop":
            called = self._called.pop(run, False)
            return ModelStop(reason="tool-use" if called else "end-turn", request_id=request)
        if letter.what == "break":
            return ModelFail(failure="stream", request_id=request)
        item: Any = Text(text=f"answer {number} {colour}.")
        if letter.what == "call":
            self._called[run] = True
            item = ToolCall(call_id=f"c{number}", tool="read", arguments={"path": f"{number}"})
        return ModelOutput(item=item, request_id=request)


def _of(run: int, script: Sequence[What]) -> tuple[Letter, ...]:
    return tuple(Letter(run, what) for what in script)


def _name(awaited: Awaited) -> str:
    """The name of a request, or of a run of a tool."""
    return str(getattr(awaited, "request_id", None) or getattr(awaited, "execution", None))
