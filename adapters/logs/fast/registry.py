"""The formats that have a fast loop; the others are read value by value by their mappers alone."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from ..formats import ai_sdk, anthropic, openai_chat, openai_responses, pi
from ..formats.items import Items
from ..formats.wires import Wire, deltas
from . import runs, structures
from .ag_ui_shapes import ITEM
from .ag_ui_wires import DECODER
from .loops import ag_ui as ag_ui_loop
from .loops import ai_sdk as ai_sdk_loop
from .loops import anthropic as anthropic_loop
from .loops import openai_chat as openai_chat_loop
from .loops import openai_responses as openai_responses_loop
from .loops import pi as pi_loop


class FastMapper(Protocol):
    """What a mapper must have besides: its events in order, which it adds to as it accepts values."""

    items: Items

    def accept(self, at: int, value: Any, /) -> None:
        """Take the value at position *at*; what is settled by then waits in ``items``."""
        ...

    def close(self) -> None:
        """End the log: nothing that waits in ``items`` is unsettled any more."""
        ...


class FastLoop(NamedTuple):
    """What reads most values of a format.

    ``decode`` takes a value's JSON that is good by itself, and raises for any other; ``whole`` finds runs of lines that
    mean one thing together: its last group has them, each with the line feed before it. Where that group has a name
    they are an item, else they are like the line before but for a text.

    ``feed`` is given the mapper, the decoded values, the number of the first, and a function by which the mapper reads
    the value of a number and says whether all was well; it returns the number behind the last. A decoded value is a
    structure, or None where it was not decoded; an integer stands for as many lines that are like the one before; a
    match of an item comes with its number of lines.
    """

    decode: Callable[[bytes], Any]
    whole: re.Pattern[bytes]
    feed: Callable[[Any, Iterable[Any], int, Callable[[int], bool]], int]


def _of(wires: tuple[Wire, ...], feed: Callable[[Any, Iterable[Any], int, Callable[[int], bool]], int]) -> FastLoop:
    return FastLoop(structures.decoder(wires).decode, runs.pattern(deltas(wires)), feed)


LOOPS: Final[Mapping[str, FastLoop]] = {
    "ag-ui": FastLoop(DECODER.decode, ITEM, ag_ui_loop.feed),
    "ai-sdk": _of(ai_sdk.WIRES, ai_sdk_loop.feed),
    "anthropic": _of(anthropic.WIRES, anthropic_loop.feed),
    "openai-chat": FastLoop(structures.undecoded, runs.pattern(openai_chat.DELTAS), openai_chat_loop.feed),
    "openai-responses": _of(openai_responses.WIRES, openai_responses_loop.feed),
    "pi": _of(pi.WIRES, pi_loop.feed),
}
"""Name of a format → its fast loop."""
