"""The formats that have a fast loop; the others are read value by value by their mappers alone."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final

from .fast_loop import FastLoop

LOOPS: Final[Mapping[str, str]] = {
    "ag-ui": "ag_ui",
    "ai-sdk": "ai_sdk",
    "anthropic": "anthropic",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
    "pi": "pi",
}
"""Name of a format → the module of its fast loop, in ``loops``: each is generated, and loaded once it is needed."""


@cache
def fast_loop(name: str) -> FastLoop:
    """Return the fast loop of a format that has one."""
    found: FastLoop = import_module(f"{__package__}.loops.{LOOPS[name]}").LOOP
    return found
