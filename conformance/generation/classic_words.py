"""Words that are always applied first: the situations that no row names, and the options with which words start."""

from collections.abc import Iterator
from typing import Final

import msgspec

from turncheck.model.core.stimuli import (
    Abort,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Stimulus,
    Text,
    Together,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from .situations import tools_for


def starts(capabilities: frozenset[str]) -> tuple[ResetOptions, list[ResetOptions]]:
    """Return the options with which words start: the plain ones, and those that change what a run may do."""
    base = ResetOptions(tools=tools_for(capabilities))
    found: list[ResetOptions] = []
    if "limits" in capabilities:
        found.append(msgspec.structs.replace(base, limits={"maxRounds": 2}))
    if "serial" in capabilities:
        found.append(msgspec.structs.replace(base, policies={"tools": "serial"}))
    if "deaf" in capabilities:
        found.append(msgspec.structs.replace(base, deaf_tools=True))
    if {"serial", "deaf"} <= capabilities:
        found.append(msgspec.structs.replace(base, policies={"tools": "serial"}, deaf_tools=True))
    return base, found


DEEP: Final = (
    (
        "user",
        "tool-call",
        "model-stop",
        "tool-return",
        "tool-call",
        "model-stop",
        "tool-return",
        "tool-call",
        "model-stop",
    ),
    ("user", "tool-call", "tool-call", "model-stop", "abort"),
    ("user", "tool-call", "abort"),
    ("user", "text", "tool-call", "model-stop", "tool-return", "abort"),
)
"""Words of events for the options that bound rounds or make tools deaf."""


PIXEL: Final = {
    "type": "image",
    "mediaType": "image/gif",
    "data": "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==",
}
"""One transparent pixel."""
USAGE: Final = {"inputTokens": 3, "outputTokens": 1}


def classic_words(capabilities: frozenset[str]) -> Iterator[tuple[Stimulus, ...]]:
    """Yield words for situations that no row names: wrong payloads, repeated ids, messages at once, several items."""
    first, stop = User(id="u1", text="say 1 red"), ModelStop(reason="end-turn")
    text, other = ModelOutput(item=Text(text="answer 2 red.")), ModelOutput(item=Text(text="answer 3 blue."))
    yield first, text, other, stop
    yield first, text, stop, User(id="u4", text="say 4 blue"), other, stop
    if "tools" in capabilities:
        called = ModelStop(reason="tool-use")
        call = ModelOutput(item=ToolCall(call_id="c5", tool="read", arguments={"path": "5"}))
        if "tool-failure" in capabilities:
            yield (
                first,
                call,
                ToolFail(call_id="c5", message="failure 15"),
            )  # where a call runs before its response ends
        if "raw-arguments" in capabilities:
            yield first, ModelOutput(item=ToolCall(call_id="c6", tool="read", arguments='{"path": ')), called
        if "call-ids" in capabilities:
            again = ModelOutput(item=ToolCall(call_id="c5", tool="bash", arguments={"path": "6"}))
            yield first, call, again, called
            back, last = ToolReturn(call_id="c5", output="result 12 red"), ModelOutput(item=Text(text="answer 14 red."))
            yield first, call, called, back, again, called, back, text, stop
            served, other_run = (first, call, called, back, text, stop), User(id="u13", text="say 13 red")
            yield *served, other_run, again, called, back, last, stop
        if "abort" in capabilities:
            both = ModelOutput(item=ToolCall(call_id="c9", tool="bash", arguments={"path": "9"}))
            yield first, call, both, called, ToolReturn(call_id="c5", output="result 10 red"), Abort()
    if "images" in capabilities:
        yield (
            User(id="u11", text="say 11 red", content=[{"type": "text", "text": "say 11 red"}, PIXEL, PIXEL]),
            text,
            stop,
        )
    if "usage" in capabilities:
        yield first, text, ModelStop(reason="end-turn", usage=USAGE)
    if "together" in capabilities:
        second = User(id="u7", text="say 7 blue")
        yield (Together(stimuli=(first, second)),)
        yield first, text, stop, Together(stimuli=(second, User(id="u8", text="say 8 red")))
