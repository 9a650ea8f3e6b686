"""Answers that every server of the protocol gives in the same words."""

import msgspec

from .protocol import VERSION, Answer, ErrorBody


def unsupported(seq: int, message: str) -> Answer:
    """There is no such command here."""
    return Answer(seq, ok=False, error=ErrorBody("unsupported", message))


def refusal(line: bytes, error: msgspec.MsgspecError) -> Answer:
    """The answer to what is no message: an unknown command has a seq at least."""
    try:
        seq = msgspec.json.decode(line, type=_Numbered).seq
    except msgspec.MsgspecError:
        seq = -1
    return unsupported(seq, f"not a message of protocol {VERSION}: {error}")


class _Numbered(msgspec.Struct):
    seq: int = -1
