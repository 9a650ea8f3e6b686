"""Access to JSON from others, without trust in its shape."""

import json
from typing import Any, TypeAlias, cast

Object: TypeAlias = dict[str, Any]


def as_object(value: Any) -> Object:
    """Return *value* if it is an object, else an empty one."""
    return cast("Object", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return *value* if it is a list, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """Return *value* if it is a string, else its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
