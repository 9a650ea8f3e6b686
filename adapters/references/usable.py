"""Whether a call can be executed at all."""

from collections.abc import Container
from contextlib import suppress
from typing import Any, cast

import msgspec

from turncheck.model.core.stimuli import ToolCall


def usable(call: ToolCall, tools: Container[str] | None = None) -> tuple[dict[str, Any], str | None]:
    """A call's arguments, and why it cannot be executed: they are no JSON object, or none of *tools* is called so.

    Arguments that are absent are an empty object, and what is none stands as ``raw``.
    """
    arguments: object = call.arguments
    if isinstance(arguments, str):
        with suppress(msgspec.DecodeError):
            arguments = msgspec.json.decode(arguments)
    if not isinstance(arguments, dict | None):
        return {"raw": arguments}, "the arguments are no JSON object"
    known = tools is None or call.tool in tools
    return cast("dict[str, Any]", arguments or {}), None if known else f"there is no tool {call.tool!r}"
