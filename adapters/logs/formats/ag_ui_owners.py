"""Owners of the parts of an AG-UI stream: the agent, or a sub-agent, named by ``subagentRunId``."""

from collections.abc import Mapping
from typing import Any, Final

from .ag_ui_parts import ITEMS, PARTS, Owned
from .fields import Object, objects

_ANY_ITEM: Final[Mapping[str, tuple[Owned, str]]] = {
    **{item.delta: (item.part.owned, item.part.field) for item in ITEMS if item.part.owned},
    **{name: (part.owned, part.field) for part in PARTS if part.owned for name in (part.begin, *part.ends)},
    "ACTIVITY_DELTA": ("activity", "messageId"),
}
"""Type → the kind of what it begins, continues or ends, and the field with its id."""
_BEGINS: Final = {part.begin for part in PARTS}
_TAG: Final = "subagentRunId"


class Owners:
    """The owners in one run, None for the agent itself. An event without a tag agrees with every owner.

    Owners outlast the end of what they own: an encrypted value may come after it.
    """

    def __init__(self) -> None:
        self.of: dict[Owned, dict[Any, object]] = {"message": {}, "call": {}, "activity": {}, "reasoning": {}}
        """Kind → id → the owner, of all that there is."""

    def begin_run(self) -> None:
        """Forget the run before."""
        for owners in self.of.values():
            owners.clear()

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
                self.of["message"][event.get("messageId")] = event.get(_TAG)
            case "ACTIVITY_SNAPSHOT":
                known = event.get("messageId") in self.of["activity"]
                if not known or event.get("replace") is not False:
                    self.of["activity"][event.get("messageId")] = event.get(_TAG)
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
            kind: Owned = "reasoning" if role == "reasoning" else "activity" if role == "activity" else "message"
            named: list[tuple[Owned, object]] = [(kind, name)]
            for call in objects(message.get("toolCalls")):
                named.append(("call", call.get("id")))  # noqa: PERF401 - its type is inferred here
            for one, other in named:
                if isinstance(other, str) and (anew or other not in self.of[one]):
                    self.of[one][other] = message.get(_TAG)
        return None

    def _item(self, name: str, event: Object) -> str | None:
        kind, field = _ANY_ITEM[name]
        owners, key = self.of[kind], event.get(field)
        if not isinstance(key, str):
            return None
        if name not in _BEGINS:
            return _differs(event, owners[key]) if key in owners else None
        tag = event.get(_TAG)
        parent = event.get("parentMessageId") if kind == "call" else None
        if isinstance(parent, str) and parent in self.of["message"]:
            above = self.of["message"][parent]
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
        kinds: tuple[Owned, ...] = ("call",) if event.get("subtype") == "tool-call" else ("message", "reasoning")
        found: Owned | None = next((kind for kind in kinds if isinstance(key, str) and key in self.of[kind]), None)
        return None if found is None else _differs(event, self.of[found][key])


def _differs(event: Object, owner: object) -> str | None:
    if _TAG not in event or event[_TAG] == owner:
        return None
    return f"{_TAG} is another than that of its beginning"
