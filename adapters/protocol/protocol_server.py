"""The part that all servers of the protocol share: reading lines, refusing and answering."""

import os
from collections.abc import Callable
from typing import BinaryIO

import msgspec
from msgspec import UNSET

from turncheck.model.core.stimuli import Step

from .messages import VERSION, Answer, ErrorBody, HelloAnswer, Message, Stop, encode, read_message


def serve_lines(answer: Callable[[Message], Answer | HelloAnswer], requests: BinaryIO, answers: int) -> None:
    """Answer each line of *requests* on the descriptor *answers* until ``stop`` or the end."""
    for line in requests:
        try:
            message = read_message(line)
        except msgspec.MsgspecError as error:
            answered: Answer | HelloAnswer = refusal(line, error)
        else:
            if isinstance(message, Stop):
                return
            answered = answer(message)
        rest = memoryview(encode(answered) + b"\n")
        while rest:
            rest = rest[os.write(answers, rest) :]


def stepped(seq: int, step: Step) -> Answer:
    """Answer a stimulus or a reset that led to *step*."""
    refused = UNSET if step.refused is None else step.refused
    return Answer(seq, ok=True, events=step.events, awaiting=step.awaiting, refused=refused, unsettled=step.unsettled)


def unsupported(seq: int, message: str) -> Answer:
    """Answer a command that this server does not have."""
    return Answer(seq, ok=False, error=ErrorBody("unsupported", message))


def refusal(line: bytes, error: msgspec.MsgspecError) -> Answer:
    """Answer a line that is no message; where its command is unknown, its seq can still be read."""
    try:
        seq = msgspec.json.decode(line, type=_Numbered).seq
    except msgspec.MsgspecError:
        seq = -1
    return unsupported(seq, f"not a message of protocol {VERSION}: {error}")


class _Numbered(msgspec.Struct):
    seq: int = -1
