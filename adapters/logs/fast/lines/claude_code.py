"""Claude Code's lines: session files, and ``stream-json``.

A field that would make a line unusual is typed as null: the mapper reads a line that has it.
"""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct, json, structs

from turncheck.model.core.events import Event, Native, UserMessage

from ...formats.claude_code import SYNTHETIC, ClaudeCodeMapper, ClaudeStreamMapper
from ...formats.transcript import Conversation
from .parts import Part, made, received
from .reading import LineLoop, Take, one_by_one


class _Message(Struct, gc=False):
    content: str | list[Part]
    id: str | None = None
    model: str | None = None
    type: Literal["message"] | None = None
    tool_calls: None = None


class _Attachment(Struct, gc=False):
    type: str


class _Line(Struct, gc=False):
    type: str
    message: _Message | None = None
    subtype: str | None = None
    isMeta: None = None  # noqa: N815
    isSynthetic: None = None  # noqa: N815
    isCompactSummary: None = None  # noqa: N815
    isVisibleInTranscriptOnly: None = None  # noqa: N815


class _FileLine(_Line, gc=False):
    uuid: str | None = None
    isSidechain: bool | None = None  # noqa: N815
    agentId: str | None = None  # noqa: N815
    attachment: _Attachment | None = None
    isApiErrorMessage: None = None  # noqa: N815


class _StreamLine(_Line, gc=False):
    parent_tool_use_id: str | None = None
    error: None = None
    is_error: bool | None = None
    terminal_reason: str | None = None


def _file(mapper: ClaudeCodeMapper) -> Take:
    seen, see, main = mapper.seen, mapper.see, mapper.conversation(None)

    def take(line: _FileLine) -> Sequence[Event] | None:
        session, conversation = None, main
        if line.isSidechain:
            session = "sub-agent" if line.agentId is None else line.agentId
            conversation = mapper.conversation(session)
        kind, message, told = line.type, line.message, None
        if message is not None and (kind == "assistant" or kind == "user"):  # noqa: PLR1714 - faster
            identity = line.uuid
            if identity in seen:
                return _SILENT if session is None else (Native(session_id=session),)
            told = _made(message, conversation) if kind == "assistant" else _received(message, conversation)
            if told is not None and identity is not None:
                see(identity)
        elif kind in _SAYS:
            return None
        elif kind == "attachment":
            if line.attachment is not None and line.attachment.type != "queued_command":
                told = _SILENT
        elif line.subtype != "api_error":
            told = _SILENT
        return told if session is None else _in_session(told, session)

    return take


def _stream(mapper: ClaudeStreamMapper) -> Take:
    def take(line: _StreamLine) -> Sequence[Event] | None:
        session = line.parent_tool_use_id
        conversation = mapper.conversation(session)
        kind, message, told = line.type, line.message, None
        if message is not None and (kind == "assistant" or kind == "user"):  # noqa: PLR1714 - faster
            told = _made(message, conversation) if kind == "assistant" else _received(message, conversation)
        elif kind in _SAYS:
            return None
        elif kind == "result":
            if line.subtype is not None:
                told = mapper.result(line.subtype, line.terminal_reason, conversation, failed=bool(line.is_error))
        else:
            mapper.begun = mapper.begun or (kind == "system" and line.subtype == "init")
            told = _SILENT
        return told if session is None else _in_session(told, session)

    return take


def _in_session(told: Sequence[Event] | None, session: str) -> Sequence[Event] | None:
    if not told:
        return told if told is None else (Native(session_id=session),)
    return [structs.replace(event, session_id=session) for event in told]


def _made(message: _Message, conversation: Conversation) -> Sequence[Event] | None:
    """Take what the model made: texts, thoughts and calls."""
    content = message.content
    return made(content, conversation) if type(content) is list and message.model != SYNTHETIC else None


def _received(message: _Message, conversation: Conversation) -> Sequence[Event] | None:
    """Take what the model is given: results of tools, or a message of the user."""
    content = message.content
    if isinstance(content, str):
        plain = content[:1] not in _MARKS
        return conversation.said(UserMessage(content, None, message.id)) if plain else None
    return received(content, conversation)


_SILENT: Final = ()
_SAYS: Final = ("assistant", "user")
_MARKS: Final = ("[", "<")
"""Beginnings of messages that only the program sees, and of an interruption."""
FILE: Final = LineLoop(json.Decoder(_FileLine).decode, one_by_one(_file))
STREAM: Final = LineLoop(json.Decoder(_StreamLine).decode, one_by_one(_stream))
