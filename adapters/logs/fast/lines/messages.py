"""Lines of saved lists: a message of OpenAI's chat or Anthropic's, or a Responses item.

A field that may not be there is typed as unset: the mapper reads a line that has it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from msgspec import UNSET, Struct, UnsetType, json

from turncheck.model.core.events import AgentOutput, Event, ToolResult, UserMessage

from ...formats.messages import MessagesMapper
from ...formats.transcript import COMPLETED, Conversation, Output
from .parts import Part, outputs, received
from .reading import Feed, Heard, LineLoop


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


def _feeds(mapper: MessagesMapper) -> Feed:
    conversation = mapper.conversation
    calls = conversation.calls

    def feed(lines: Iterable[Any], first: int, heard: Heard) -> None:
        hear, place = heard.events.append, heard.ats.append
        for at, line in enumerate(lines, first):
            kind = line.__class__
            if kind is _Assistant:
                text, made = line.content, line.tool_calls
                if text.__class__ is not str or not conversation.running:
                    told = _made(line, conversation)
                    if told is None:
                        heard.leave(at)
                    else:
                        heard.add(at, told)
                    continue
                response = conversation.response() if conversation.given else conversation.response_id
                if text:
                    hear(AgentOutput("assistant", text, None, None, response))
                    place(at)
                if made:
                    heard.more += len(made) if text else len(made) - 1
                    for call in made:
                        own = call.id
                        calls[own] = None
                        hear(AgentOutput("tool-call", None, own, call.function.name, response))
                        place(at)
                conversation.answered = not calls
            elif kind is _Tool:
                own = line.tool_call_id
                if own is None:
                    heard.leave(at)
                    continue
                calls.pop(own, None)
                conversation.answered, conversation.given = False, True
                hear(ToolResult(own))
                place(at)
            elif kind is _User:
                text = line.content
                if text.__class__ is str:
                    message = UserMessage(text, None, line.id)
                    if conversation.answered and not conversation.bounded:
                        conversation.close()
                        conversation.running = conversation.given = True
                        hear(COMPLETED)
                        hear(message)
                        place(at)
                        place(at)
                        heard.more += 1
                    else:
                        heard.add(at, conversation.said(message))
                elif (told := received(text or (), conversation)) is None:
                    heard.leave(at)
                else:
                    heard.add(at, told)
            elif kind is _Item:
                told = _item(line, conversation)
                if told is None:
                    heard.leave(at)
                else:
                    heard.add(at, told)
            elif kind is not _System:
                heard.leave(at)

    return feed


def _made(message: _Assistant, conversation: Conversation) -> Sequence[Event] | None:
    """Take what the model made, also where no run is open or where it is a list of parts."""
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


def _item(item: _Item, conversation: Conversation) -> Sequence[Event] | None:
    """Take a Responses item."""
    if item.type == "function_call_output":
        return conversation.result(ToolResult(item.call_id))
    if item.name is None:
        return None
    return conversation.item(AgentOutput("tool-call", None, item.call_id, item.name, conversation.response()))


MESSAGES: Final = LineLoop(
    json.Decoder(_User | _Assistant | _Tool | _System).decode, _feeds, again=json.Decoder(_Item).decode
)
