"""Inputs of models that go on from earlier ones: of a history that has grown, the new messages alone are read.

Each request to a model has all messages before it. In come the texts of inputs, as they stand in a line: JSON within a
string; out goes their news, that which is new to the model. Where a text begins with all messages of the one before,
the news of these are known; the messages behind them are read as a list of their own. That is exact, because a message
means the same in any list.
"""

from typing import Final

from msgspec import Raw, json

from ...formats.otlp.messages import NOTHING, Asked, asked_of, decode_messages
from ..spans import REFUSALS

_string: Final = json.Decoder(str).decode
_BEGIN: Final = b'"['
_END: Final = b']"'
_ENDS: Final = b"}" + _END
_MOST: Final = 4 << 20
"""Bytes that are kept: those of 80 conversations of 12,000 tokens each."""
_ENTRY: Final = 300
"""Bytes of a conversation beside its input: those of its entry, of an id, and of what is known."""


class Histories:
    """The latest input of each conversation, of so many bytes in all; that which was used last stands last."""

    def __init__(self, most: int = _MOST) -> None:
        self._kept: dict[str, tuple[bytes, Asked]] = {}
        self._most, self._size = most, 0

    def asked(self, conversation: str, written: Raw) -> Asked | None:
        """Return the news of an input, None where it is no list of messages as they should be.

        *written* is a JSON string, of which all but its UTF-8 is known to be valid.
        """
        text = bytes(written)
        asked = None
        if conversation in self._kept:
            before, known = self._kept.pop(conversation)
            self._size -= len(before) + _ENTRY
            end = len(before) - len(_END)  # where the last message of the text before ends
            if text.startswith(memoryview(before)[:end]):
                if text.startswith(b",", end):
                    asked = _read(b"".join((_BEGIN, memoryview(text)[end + 1 :])), known, least=1)
                elif text == before:
                    asked = known
        if asked is None:
            asked = _read(text, NOTHING)
        if asked is not None and text.endswith(_ENDS):
            self._keep(conversation, text, asked)
        return asked

    def _keep(self, conversation: str, text: bytes, asked: Asked) -> None:
        self._kept[conversation] = text, asked
        self._size += len(text) + _ENTRY
        while self._size > self._most:
            oldest, _ = self._kept.pop(next(iter(self._kept)))
            self._size -= len(oldest) + _ENTRY


def _read(written: bytes, before: Asked, least: int = 0) -> Asked | None:
    """The news of a list of messages, at *least* so many; *before* is that of messages before them."""
    try:
        messages = decode_messages(_string(written))
    except REFUSALS:
        return None
    return asked_of(messages, before) if len(messages) >= least else None
