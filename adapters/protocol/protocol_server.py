"""The part that all servers of the protocol share: reading lines, refusing and answering."""

import os
from collections.abc import Callable
from typing import BinaryIO

import msgspec
from msgspec import UNSET

from turncheck.model.core.refused_json import why_refused
from turncheck.model.core.stimuli import Step

from .messages import (
    VERSION,
    Answer,
    ErrorBody,
    HelloAnswer,
    Implementation,
    Message,
    Profile,
    Stop,
    encode,
    read_message,
)


def serve_lines(answer: Callable[[Message], Answer | HelloAnswer], requests: BinaryIO, answers: int) -> None:
    """Answer each line of *requests* on the descriptor *answers* until ``stop`` or the end."""
    for line in requests:
        message = read(line)
        if isinstance(message, Stop):
            return
        answered = message if isinstance(message, Answer) else answer(message)
        rest = memoryview(encode(answered) + b"\n")
        while rest:
            rest = rest[os.write(answers, rest) :]


def read(line: bytes) -> Message | Answer:
    """Read the message in *line*; for a line that is none, return an answer, whose seq may be readable even so."""
    try:
        return read_message(line)
    except msgspec.ValidationError as error:
        problem = f"not a message of protocol {VERSION}: {error}"
    except msgspec.DecodeError as error:
        problem = f"not a message of protocol {VERSION}: {why_refused(line, error)}"
    try:
        return unsupported(msgspec.json.decode(line, type=_Numbered).seq, problem)
    except msgspec.MsgspecError:
        return unsupported(-1, problem)


def stepped(seq: int, step: Step) -> Answer:
    """Answer a stimulus or a reset that led to *step*."""
    refused = UNSET if step.refused is None else step.refused
    unsettled, told = step.unsettled, step.clients
    return Answer(
        seq, ok=True, events=step.events, awaiting=step.awaiting, refused=refused, unsettled=unsettled, clients=told
    )


def unsupported(seq: int, message: str) -> Answer:
    """Answer a command that this server does not support."""
    return Answer(seq, ok=False, error=ErrorBody("unsupported", message))


def failed(seq: int, message: str, detail: str | None = None) -> Answer:
    """Answer a command that raised."""
    return Answer(seq, ok=False, error=ErrorBody("failed", message, detail))


def greeting(implementation: Implementation, profile: Profile) -> HelloAnswer:
    """Answer hello."""
    return HelloAnswer(ok=True, protocol=VERSION, implementation=implementation, profile=profile)


class _Numbered(msgspec.Struct):
    seq: int = -1
