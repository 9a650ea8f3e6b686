"""Access to JSON from others, without trust in its shape."""

import json
from typing import Any, TypeAlias, cast

Object: TypeAlias = dict[str, Any]


def as_object(value: Any) -> Object:
    """*value* where it is an object, an empty one otherwise."""
    return cast("Object", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """*value* where it is a list, an empty one otherwise."""
    return cast("list[object]", value) if isinstance(value, list) else []


def as_text(value: Any) -> str:
    """*value* where it is a string, its JSON otherwise."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
