"""The check whether a call can be executed at all."""

from collections.abc import Container
from contextlib import suppress
from typing import Any, cast

import msgspec

from turncheck.model.core.stimuli import ToolCall


def usable(call: ToolCall, tools: Container[str] | None = None) -> tuple[dict[str, Any], str | None]:
    """Return a call's arguments and, if it cannot be executed, the reason: no JSON object, or a tool not in *tools*.

    Absent arguments are an empty object; arguments that are no object are returned as ``raw``.
    """
    arguments: object = call.arguments
    if isinstance(arguments, str):
        with suppress(msgspec.DecodeError):
            arguments = msgspec.json.decode(arguments)
    if not isinstance(arguments, dict | None):
        return {"raw": arguments}, "the arguments are no JSON object"
    known = tools is None or call.tool in tools
    return cast("dict[str, Any]", arguments or {}), None if known else f"there is no tool {call.tool!r}"
