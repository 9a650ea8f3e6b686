"""The fields of AG-UI's events: which must be there, and of which type, as in the schemas of ``@ag-ui/core`` 1.0.0."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from msgspec import UNSET, Raw, UnsetType, defstruct

from .fields import Object


@dataclass(frozen=True)
class _Type:
    """A type: how a message calls it, whether a value is of it, and the same for msgspec."""

    called: str
    fits: Callable[[object], bool]
    shape: Any


_STRING: Final = _Type("string", lambda value: isinstance(value, str), str)
_MAYBE_NUMBER: Final = _Type(
    "number",
    lambda value: value is None or (isinstance(value, int | float) and not isinstance(value, bool)),
    float | None,
)
_FLAG: Final = _Type("boolean", lambda value: isinstance(value, bool), bool)
_LIST: Final = _Type("list", lambda value: isinstance(value, list), list[Raw])
_OBJECT: Final = _Type("object", lambda value: isinstance(value, dict), dict[str, Raw])
_CONTENT: Final = _Type("string or list", lambda value: isinstance(value, str | list), str | list[Raw])
_ANY: Final = _Type("value", lambda _: True, Raw)


def _one_of(*words: str) -> _Type:
    return _Type(f"word of {', '.join(words)}", lambda value: value in words, Literal[words])


_TYPES: Final[Mapping[str, _Type]] = {
    "timestamp": _MAYBE_NUMBER,
    "metadata": _OBJECT,
    "outcome": _OBJECT,
    "input": _OBJECT,
    "usage": _LIST,
    "messages": _LIST,
    "patch": _LIST,
    "replace": _FLAG,
    "subtype": _one_of("tool-call", "message"),
    "snapshot": _ANY,
    "event": _ANY,
    "value": _ANY,
    "result": _ANY,
}
"""The types of fields that are no strings, wherever they stand."""
_SAID: Final = {"role": _one_of("developer", "system", "assistant", "user")}
_FEW: Final[Mapping[str, Mapping[str, _Type]]] = {
    "TEXT_MESSAGE_START": _SAID,
    "TEXT_MESSAGE_CHUNK": _SAID,
    "REASONING_MESSAGE_START": {"role": _one_of("reasoning")},
    "TOOL_CALL_RESULT": {"role": _one_of("tool"), "content": _CONTENT},
    "STATE_DELTA": {"delta": _LIST},
    "ACTIVITY_SNAPSHOT": {"content": _OBJECT},
}
"""The types of fields that depend on the event."""
FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "TEXT_MESSAGE_START": ("messageId", "role name"),
    "TEXT_MESSAGE_CONTENT": ("messageId delta", ""),
    "TEXT_MESSAGE_END": ("messageId", ""),
    "TEXT_MESSAGE_CHUNK": ("", "messageId role delta name"),
    "TOOL_CALL_START": ("toolCallId toolCallName", "parentMessageId"),
    "TOOL_CALL_ARGS": ("toolCallId delta", ""),
    "TOOL_CALL_END": ("toolCallId", ""),
    "TOOL_CALL_CHUNK": ("", "toolCallId toolCallName parentMessageId delta"),
    "TOOL_CALL_RESULT": ("messageId toolCallId content", "role"),
    "STATE_SNAPSHOT": ("snapshot", ""),
    "STATE_DELTA": ("delta", ""),
    "MESSAGES_SNAPSHOT": ("messages", ""),
    "ACTIVITY_SNAPSHOT": ("messageId activityType content", "replace"),
    "ACTIVITY_DELTA": ("messageId activityType patch", ""),
    "RAW": ("event", "source"),
    "CUSTOM": ("name value", ""),
    "RUN_STARTED": ("threadId runId", "protocolVersion parentRunId input"),
    "RUN_FINISHED": ("threadId runId", "result outcome usage"),
    "RUN_ERROR": ("message", "code usage"),
    "STEP_STARTED": ("stepName", ""),
    "STEP_FINISHED": ("stepName", ""),
    "REASONING_START": ("messageId", ""),
    "REASONING_MESSAGE_START": ("messageId role", ""),
    "REASONING_MESSAGE_CONTENT": ("messageId delta", ""),
    "REASONING_MESSAGE_END": ("messageId", ""),
    "REASONING_MESSAGE_CHUNK": ("", "messageId delta"),
    "REASONING_END": ("messageId", ""),
    "REASONING_ENCRYPTED_VALUE": ("subtype entityId encryptedValue", ""),
    "SUBAGENT_STARTED": ("subagentRunId name", "description parentSubagentRunId parentToolCallId parentMessageId"),
    "SUBAGENT_FINISHED": ("subagentRunId", "result outcome"),
    "SUBAGENT_ERROR": ("subagentRunId message", "code"),
    "THINKING_START": ("", "title"),
    "THINKING_TEXT_MESSAGE_CONTENT": ("delta", ""),
}
"""Type → the fields that it must have, and those that it may have."""
_EVERYWHERE: Final = ("timestamp", "metadata", "subagentRunId")


def _types(name: str, fields: str) -> Mapping[str, _Type]:
    few = _FEW.get(name, {})
    return {field: few.get(field) or _TYPES.get(field, _STRING) for field in (*fields.split(), *_EVERYWHERE)}


_REQUIRED: Final = {name: frozenset(required.split()) for name, (required, _) in FIELDS.items()}
_KINDS: Final = {name: _types(name, f"{required} {more}") for name, (required, more) in FIELDS.items()}

NAMES: Final = frozenset(field for kinds in _KINDS.values() for field in kinds)
"""The names of all fields."""


def wrong_field(name: str, event: Object) -> str | None:
    """Say which field of an event of the type *name* does not fit the schema; None where all do."""
    kinds = _KINDS.get(name)
    if kinds is None:
        return None
    if not _REQUIRED[name] <= event.keys():
        return f"{min(_REQUIRED[name] - event.keys())} is missing"
    for field, value in event.items():
        if field in kinds and not kinds[field].fits(value):
            return f"{field} is no {kinds[field].called}"
    return None


_OPERATIONS: Final = {"add": "value", "replace": "value", "test": "value", "move": "from", "copy": "from", "remove": ""}
"""The operations of RFC 6902 → the field that each needs beside its path."""


def wrong_patch(patch: object) -> str | None:
    """Say why *patch* is no JSON Patch (RFC 6902); None where it is one. It is not applied: no state is kept."""
    operations = cast("list[object]", patch) if isinstance(patch, list) else []
    for number, operation in enumerate(operations):
        given: Object = cast("Object", operation) if isinstance(operation, dict) else {}
        op = given.get("op")
        need = _OPERATIONS.get(op) if isinstance(op, str) else None
        if need is None:
            return f"operation {number} is none of RFC 6902"
        if not _is_pointer(given.get("path")):
            return f"operation {number} has no valid path"
        if (need == "value" and need not in given) or (need == "from" and not _is_pointer(given.get("from"))):
            return f"operation {number} has no valid {need}"
    return None


def _is_pointer(path: object) -> bool:
    """Return whether it is a JSON pointer (RFC 6901): a tilde stands before 0 or 1 alone."""
    if not isinstance(path, str) or (path and not path.startswith("/")):
        return False
    return all(rest[:1] in {"0", "1"} for rest in path.split("~")[1:])


def structure(name: str, only: Mapping[str, Any]) -> type[Any]:
    """Return a structure that takes no event of the type *name* that ``wrong_field`` refuses.

    A field of *only* has that type instead, and so takes less.

    >>> import msgspec
    >>> end = structure("TEXT_MESSAGE_END", {"subagentRunId": msgspec.UnsetType})
    >>> msgspec.json.decode(b'{"type": "TEXT_MESSAGE_END", "messageId": "m"}', type=end).messageId
    'm'
    """
    shapes = {field: only.get(field, kind.shape) for field, kind in _KINDS[name].items()}
    fields = [
        (field, shape) if field in _REQUIRED[name] else (field, shape | UnsetType, UNSET)
        for field, shape in shapes.items()
    ]
    return defstruct(name, fields, tag=name, tag_field="type", kw_only=True, gc=False)
