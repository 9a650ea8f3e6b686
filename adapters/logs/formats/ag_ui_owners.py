"""Whose the parts of an AG-UI stream are: the agent's, or a sub-agent's, named by ``subagentRunId``."""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from .fields import Object, objects

_Kind: TypeAlias = Literal["message", "call", "activity", "reasoning"]
_ANY_ITEM: Final[Mapping[str, tuple[_Kind, str]]] = {
    "TEXT_MESSAGE_START": ("message", "messageId"),
    "TEXT_MESSAGE_CONTENT": ("message", "messageId"),
    "TEXT_MESSAGE_END": ("message", "messageId"),
    "TOOL_CALL_START": ("call", "toolCallId"),
    "TOOL_CALL_ARGS": ("call", "toolCallId"),
    "TOOL_CALL_END": ("call", "toolCallId"),
    "REASONING_START": ("reasoning", "messageId"),
    "REASONING_MESSAGE_START": ("reasoning", "messageId"),
    "REASONING_MESSAGE_CONTENT": ("reasoning", "messageId"),
    "REASONING_MESSAGE_END": ("reasoning", "messageId"),
    "REASONING_END": ("reasoning", "messageId"),
    "ACTIVITY_DELTA": ("activity", "messageId"),
}
"""Type → the kind of what it begins, continues or ends, and the field with its id."""
_BEGINS: Final = {"TEXT_MESSAGE_START", "TOOL_CALL_START", "REASONING_START", "REASONING_MESSAGE_START"}
_TAG: Final = "subagentRunId"


class Owners:
    """The owners in one run, None for the agent itself. An event without a tag agrees with every owner.

    Owners outlast the end of what they own: an encrypted value may come after it.
    """

    def __init__(self) -> None:
        self._of: dict[str, dict[Any, object]] = {}
        self.begin_run()

    def begin_run(self) -> None:
        """Forget the run before."""
        self._of = {"message": {}, "call": {}, "activity": {}, "reasoning": {}}

    def defect(self, name: str, event: Object) -> str | None:
        """Say why the owner of an event does not fit, and remember it; None where it fits."""
        if _TAG in event and event[_TAG] is None:
            return f"{_TAG} is null"
        if name in _ANY_ITEM:
            return self._item(name, event)
        match name:
            case "REASONING_ENCRYPTED_VALUE":
                return self._encrypted(event)
            case "TOOL_CALL_RESULT":
                self._of["message"][event.get("messageId")] = event.get(_TAG)
            case "ACTIVITY_SNAPSHOT":
                known = event.get("messageId") in self._of["activity"]
                if not known or event.get("replace") is not False:
                    self._of["activity"][event.get("messageId")] = event.get(_TAG)
            case "MESSAGES_SNAPSHOT":
                return self.restate(event, anew=True)
            case _:
                pass
        return None

    def restate(self, state: Object, *, anew: bool) -> str | None:
        """Take the owners of an object's ``messages``; *anew* they replace those that are known."""
        for message in objects(state.get("messages")):
            name, role = message.get("id"), message.get("role")
            if not isinstance(name, str):
                continue
            if _TAG in message and message[_TAG] is None:
                return f"{_TAG} of the message {name!r} is null"
            kind = "reasoning" if role == "reasoning" else "activity" if role == "activity" else "message"
            calls = [("call", call.get("id")) for call in objects(message.get("toolCalls"))]
            for one, other in [(kind, name), *calls]:
                if isinstance(other, str) and (anew or other not in self._of[one]):
                    self._of[one][other] = message.get(_TAG)
        return None

    def _item(self, name: str, event: Object) -> str | None:
        kind, field = _ANY_ITEM[name]
        owners, key = self._of[kind], event.get(field)
        if not isinstance(key, str):
            return None
        if name not in _BEGINS:
            return _differs(event, owners[key]) if key in owners else None
        tag = event.get(_TAG)
        parent = event.get("parentMessageId") if kind == "call" else None
        if isinstance(parent, str) and parent in self._of["message"]:
            above = self._of["message"][parent]
            if tag is not None and tag != above:
                return f"{_TAG} differs from that of the message {parent!r}, which has the call"
            if tag is None and owners.get(key, above) != above:
                return f"its message {parent!r} belongs to another agent than the call"
            tag = above
        if key in owners:
            return _differs(event, owners[key])
        owners[key] = tag
        return None

    def _encrypted(self, event: Object) -> str | None:
        key = event.get("entityId")
        kinds = ("call",) if event.get("subtype") == "tool-call" else ("message", "reasoning")
        found = next((kind for kind in kinds if isinstance(key, str) and key in self._of[kind]), None)
        return None if found is None else _differs(event, self._of[found][key])


def _differs(event: Object, owner: object) -> str | None:
    if _TAG not in event or event[_TAG] == owner:
        return None
    return f"{_TAG} is another than that of its beginning"
