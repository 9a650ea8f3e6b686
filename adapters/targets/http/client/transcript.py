"""The conversation of one thread, which an AG-UI client keeps and sends with each run."""

from typing import Any

from ..jsons import Object as Message
from ..jsons import as_list, as_object


class Transcript:
    """The messages in order, and the state. Values that are no AG-UI are left out.

    A call whose arguments broke off is forgotten at the end of its run: no client can send half of a JSON text.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.state: Any = None
        self._open: dict[str, Message] = {}  # call id → the call whose arguments are under way
        self._begun: set[str] = set()  # ids of this run's calls

    def user(self, name: str, text: str) -> Message:
        """Add a message of the user, and return it."""
        return self._add({"id": name, "role": "user", "content": text})

    def tool(self, call_id: str, content: str, error: str | None = None, name: str | None = None) -> None:
        """Add the result of a call, after the message that made the call and that message's earlier results."""
        message = {"id": name or f"result-of-{call_id}-{len(self.messages)}", "role": "tool", "toolCallId": call_id}
        message |= {"content": content} if error is None else {"content": content, "error": error}
        at = len(self.messages)
        while at and not _calls(self.messages[at - 1], call_id):
            at -= 1
        at = at or len(self.messages)
        while at < len(self.messages) and self.messages[at]["role"] == "tool":
            at += 1
        self.messages.insert(at, message)

    def knows(self, call_id: str) -> bool:
        """Return whether the thread has a call with this id and complete arguments."""
        return call_id not in self._open and any(_calls(message, call_id) for message in self.messages)

    def take(self, event: Any) -> None:
        """Take one event of a run's stream (chunks are expanded by ``Chunks``)."""
        match event:
            case {"type": "TEXT_MESSAGE_START", "messageId": str(name)}:
                self._begin(name, event.get("role") or "assistant")
            case {"type": "REASONING_MESSAGE_START", "messageId": str(name)}:
                self._begin(name, "reasoning")
            case {"type": "TEXT_MESSAGE_CONTENT", "messageId": str(name), "delta": str(delta)}:
                self._append(name, delta)
            case {"type": "REASONING_MESSAGE_CONTENT", "messageId": str(name), "delta": str(delta)}:
                self._append(name, delta)
            case {"type": "TOOL_CALL_START", "toolCallId": str(call_id), "toolCallName": str(tool)}:
                self._call(call_id, tool, event.get("parentMessageId"))
            case {"type": "TOOL_CALL_ARGS", "toolCallId": str(call_id), "delta": str(delta)} if call_id in self._open:
                self._open[call_id]["function"]["arguments"] += delta
            case {"type": "TOOL_CALL_END", "toolCallId": str(call_id)}:
                self._open.pop(call_id, None)
            case {"type": "TOOL_CALL_RESULT", "toolCallId": str(call_id), "messageId": str(name)}:
                self.tool(call_id, event.get("content", ""), name=name)
            case {"type": "REASONING_ENCRYPTED_VALUE", "entityId": str(name), "encryptedValue": str(value)}:
                self._encrypted(name, value)
            case _:
                self._take_whole(event)

    def _take_whole(self, event: Any) -> None:
        match event:
            case {"type": "MESSAGES_SNAPSHOT"}:
                messages = as_list(event.get("messages"))
                if all(map(_is_message, messages)):
                    self.messages = [dict(message) for message in messages]
            case {"type": "ACTIVITY_SNAPSHOT", "messageId": str(name), "activityType": str(kind)}:
                if self._find(name) is None:
                    content = event.get("content")
                    self._add({"id": name, "role": "activity", "activityType": kind, "content": content})
            case {"type": "STATE_SNAPSHOT"}:
                self.state = event.get("snapshot")
            case _:
                pass

    def end(self) -> None:
        """Note the end of the run's stream."""
        cut = {id(call) for call in self._open.values()}
        for message in self.messages if cut else ():
            if "toolCalls" in message:
                message["toolCalls"] = [call for call in message["toolCalls"] if id(call) not in cut]
        self._open.clear()
        self._begun.clear()
        self.messages = [one for one in self.messages if one.get("toolCalls") != [] or one.get("content")]

    def _begin(self, name: str, role: str) -> None:
        if self._find(name) is None:
            self._add({"id": name, "role": role, "content": ""})

    def _append(self, name: str, delta: str) -> None:
        message = self._find(name)
        if message is not None and isinstance(message.get("content", ""), str):
            message["content"] = message.get("content", "") + delta

    def _call(self, call_id: str, tool: str, parent: object) -> None:
        if call_id in self._begun:  # a call begins once, however many START events it has
            self._open.pop(call_id, None)
            return
        self._begun.add(call_id)
        call = {"id": call_id, "type": "function", "function": {"name": tool, "arguments": ""}}
        self._open[call_id] = call
        message = self._find(parent) if isinstance(parent, str) else None
        if message is None or message["role"] != "assistant":
            name = parent if message is None and isinstance(parent, str) else call_id
            message = self._add({"id": name, "role": "assistant"})
        message.setdefault("toolCalls", []).append(call)

    def _encrypted(self, name: str, value: str) -> None:
        holders = [*self.messages, *(call for message in self.messages for call in message.get("toolCalls", []))]
        for holder in holders:
            if holder.get("id") == name:
                holder["encryptedValue"] = value

    def _find(self, name: str) -> Message | None:
        return next((message for message in reversed(self.messages) if message.get("id") == name), None)

    def _add(self, message: Message) -> Message:
        self.messages.append(message)
        return message


def _is_message(value: Any) -> bool:
    match value:
        case {"id": str(), "role": str()}:
            calls = value.get("toolCalls", [])
            return isinstance(calls, list) and all(map(as_object, as_list(calls)))
        case _:
            return False


def _calls(message: Message, call_id: str) -> bool:
    return any(call.get("id") == call_id for call in message.get("toolCalls", []))
