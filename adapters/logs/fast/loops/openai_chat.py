"""The fast loop of OpenAI's chat, generated from its rows: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from ...formats.openai_chat import DELTAS, ChatMapper
from ..fast_loop import FastLoop
from ..runs import pattern
from ..structures import undecoded


def feed(mapper: ChatMapper, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``FastLoop``)."""
    good = -1  # the number behind a delta of which repetitions change nothing
    for event in events:
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        behind = at + 1
        if struct is int:
            behind = at + event
            if good == at:
                at = good = behind
                continue
        while at < behind:
            fine = hand(at)
            at += 1
            if fine and mapper.running:
                good = at
    return at


LOOP = FastLoop(undecoded, partial(pattern, DELTAS), feed)
