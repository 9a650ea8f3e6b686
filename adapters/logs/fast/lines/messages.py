"""Lines of saved lists: a message of OpenAI's chat or Anthropic's, or a Responses item.

A field that may not be there is typed as unset: the mapper reads a line that has it.
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType, json

from turncheck.model.core.events import AgentOutput, Event, ToolResult, UserMessage

from ...formats.messages import MessagesMapper
from ...formats.transcript import Output
from .parts import Part, outputs, results
from .reading import LineLoop, Take, one_by_one

_Told: TypeAlias = Sequence[Event] | None


class _Function(Struct, gc=False):
    name: str


class _Call(Struct, gc=False):
    id: str
    function: _Function


class _Message(Struct, gc=False, tag_field="role"):
    type: Literal["message"] | None = None
    messages: UnsetType = UNSET


class _User(_Message, gc=False, tag="user"):
    content: str | list[Part] | None = None
    id: str | None = None


class _Assistant(_Message, gc=False, tag="assistant"):
    content: str | list[Part] | None = None
    tool_calls: list[_Call] | None = None
    parts: UnsetType = UNSET


class _Tool(_Message, gc=False, tag="tool"):
    tool_call_id: str | None = None


class _System(_Message, gc=False, tag="system"):
    pass


class _Item(Struct, gc=False):
    type: Literal["function_call", "function_call_output"]
    call_id: str
    name: str | None = None
    messages: UnsetType = UNSET


def _takes(mapper: MessagesMapper) -> Take:
    conversation = mapper.conversation

    def made(message: _Assistant) -> _Told:
        response = conversation.response()
        content = message.content
        found: list[Output] | None
        if isinstance(content, str):
            found = [AgentOutput("assistant", content, None, None, response)] if content else []
        else:
            found = outputs(content or (), response)
        if found is None:
            return None
        for call in message.tool_calls or ():
            found.append(AgentOutput("tool-call", None, call.id, call.function.name, response))
        return conversation.output(found)

    def take(line: Any) -> _Told:  # its type is told apart by identity, which type checkers do not follow
        kind = line.__class__
        if kind is _Assistant:
            return made(line)
        if kind is _Tool:
            call = line.tool_call_id
            return None if call is None else conversation.results((ToolResult(call),))
        if kind is _User:
            if isinstance(line.content, str):
                return conversation.said(UserMessage(line.content, None, line.id))
            found = results(line.content or ())
            return found and conversation.results(found)
        if kind is _System:
            return ()
        if line.type == "function_call_output":
            return conversation.results((ToolResult(line.call_id),))
        if line.name is None:
            return None
        response = conversation.response()
        own = AgentOutput("tool-call", None, line.call_id, line.name, response)
        return conversation.output((own,))

    return take


MESSAGES: Final = LineLoop(
    json.Decoder(_User | _Assistant | _Tool | _System).decode, one_by_one(_takes), again=json.Decoder(_Item).decode
)
