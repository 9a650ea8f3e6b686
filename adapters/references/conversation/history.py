"""The history as the model is shown it: a pure function of the log."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def shown(log: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The whole context of the next request, an entry an item as the protocol has them; reasoning is left out."""
    return [entry for event in log for entry in _entries(event)]


def _entries(event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    match event:
        case {"type": "user-message"}:
            yield {"role": "user", **_message(event)} | ({"ids": [event["id"]]} if "id" in event else {})
        case {"type": "agent-output", "kind": "assistant", "text": text}:
            yield {"role": "assistant", "text": text}
        case {"type": "agent-output", "kind": "tool-call", "callId": call, "tool": tool}:
            yield {"role": "assistant", "callId": call, "tool": tool}
        case {"type": "tool-result", "callId": call}:
            output = event.get("output")
            text = output if isinstance(output, str) else json.dumps(output)
            yield {"role": "tool", "callId": call, "text": text} | ({"isError": True} if event.get("isError") else {})
        case _:
            pass


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message's text, and how many images go with it (``images.encoded`` makes what a provider gets; BED-013a)."""
    if "text" in message:
        return {"text": message["text"]}
    parts: list[Mapping[str, Any]] = message["content"]
    images = sum(part.get("type") == "image" for part in parts)
    return {"text": "\n".join(str(part["text"]) for part in parts if "text" in part), "images": images}
