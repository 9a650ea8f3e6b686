"""The yardstick: a frozen typed decoder of the core's events, payloads kept raw, fed in 64 KiB chunks.

It does nothing but decode. It is frozen on purpose: a slower decoder would flatter every ratio taken against it. So is
``generic``, the yardstick of the other formats: a decoder of any JSON.
"""

from typing import Literal

import msgspec

CHUNK = 65536


class _Event(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    sessionId: str | None = None  # noqa: N815
    seq: msgspec.Raw = msgspec.Raw()
    timestamp: msgspec.Raw = msgspec.Raw()


class UserMessage(_Event, frozen=True, gc=False, kw_only=True, tag="user-message"):
    text: str | None = None
    content: list[msgspec.Raw] | None = None
    id: str | None = None
    delivery: Literal["steer", "followUp"] | None = None


class AgentOutput(_Event, frozen=True, gc=False, kw_only=True, tag="agent-output"):
    kind: Literal["assistant", "reasoning", "tool-call"]
    text: str | None = None
    callId: str | None = None  # noqa: N815
    tool: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()
    responseId: str | None = None  # noqa: N815


class ToolResult(_Event, frozen=True, gc=False, kw_only=True, tag="tool-result"):
    callId: str  # noqa: N815
    output: msgspec.Raw = msgspec.Raw()
    isError: bool | None = None  # noqa: N815
    synthetic: bool | None = None


class RunStop(_Event, frozen=True, gc=False, kw_only=True, tag="run-stop"):
    reason: Literal["completed", "interrupted", "error"]
    detail: str | None = None


ANY = msgspec.json.Decoder()
DECODER = msgspec.json.Decoder(UserMessage | AgentOutput | ToolResult | RunStop)


def decode(data: bytes) -> int:
    """Decode *data* in chunks that end at a line feed; return the number of events."""
    count = 0
    start = 0
    view = memoryview(data)
    while start < len(data):
        end = data.rfind(b"\n", start, start + CHUNK) + 1 or len(data)
        count += len(DECODER.decode_lines(view[start:end]))
        start = end
    return count


def generic(data: bytes) -> int:
    """Decode *data* as plain values, in the same chunks; return the number of lines."""
    count = 0
    start = 0
    while start < len(data):
        end = data.rfind(b"\n", start, start + CHUNK) + 1 or len(data)
        count += len(ANY.decode_lines(data[start:end]))
        start = end
    return count
