"""The model's view of the history: a pure function of the log."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from turncheck.model.core.stimuli import Shown, image_count


def shown(log: Iterable[Mapping[str, Any]]) -> tuple[Shown, ...]:
    """Return the context of the next request, one entry per item; reasoning is left out."""
    return tuple(entry for event in log if (entry := _entry(event)) is not None)


def as_text(output: Any) -> str:
    """Return a tool's output as the model is shown it: a text unchanged, any other value as JSON."""
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def denied(message: str | None) -> str:
    """Return the result of a call that a person denied, with that person's *message*."""
    return "denied" if message is None else f"denied: {message}"


def _entry(event: Mapping[str, Any]) -> Shown | None:
    match event:
        case {"type": "user-message"}:
            return Shown(role="user", ids=(event["id"],) if event.get("id") else (), **_message(event))
        case {"type": "agent-output", "kind": "assistant", "text": text}:
            return Shown(role="assistant", text=text)
        case {"type": "agent-output", "kind": "tool-call", "callId": call, "tool": tool}:
            return Shown(role="assistant", call_id=call, tool=tool, arguments=event.get("arguments"))
        case {"type": "tool-result", "callId": call}:
            text = as_text(event.get("output"))
            return Shown(role="tool", text=text, call_id=call, is_error=event.get("isError") or None)
        case _:
            return None


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message's text and its number of images (``images.encoded`` makes a provider's form of it; BED-013a)."""
    if "content" not in message:
        return {"text": message.get("text")}
    parts: list[Mapping[str, Any]] = message["content"]
    return {"text": "\n".join(str(part["text"]) for part in parts if "text" in part), "images": image_count(parts)}
