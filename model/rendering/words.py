"""Events, stimuli and awaited answers in words: one line of text for each, and the two parties for a picture."""

import json
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple, cast

from ..core import stimuli
from .printable import shown

USER: Final = "user"
AGENT: Final = "agent"
MODEL: Final = "model"
TOOLS: Final = "tools"
WIDE: Final = 160
"""Characters shown of a value, at most: a screen line and a half."""


# ---- one line ----


def event_line(event: Any, *, without: Collection[str] = ()) -> str:
    """Write an event: its type first, then its other fields except those named in *without*."""
    if not isinstance(event, dict):
        return "unreadable line" if event is None else short(event)
    fields = cast(dict[str, Any], event)
    rest = "  ".join(f"{name}={short(value)}" for name, value in fields.items() if name not in {"type", *without})
    return f"{fields.get('type')!s:13} {rest}".rstrip()


def awaited_line(one: stimuli.Awaited, *, whole: bool = False) -> str:
    """Write an awaited answer; *whole* adds the model's context, or the tool's name and arguments."""
    session = "" if one.session_id is None else f"session {one.session_id}: "
    session += "" if one.agent_id is None else f"agent {one.agent_id}: "
    match one:
        case stimuli.ModelAwaited():
            name, more = f"model {one.request_id}", " · ".join(map(_entry, one.input or ()))
            notes = ["cancelled"] * one.cancelled
        case stimuli.ToolAwaited():
            name, more = f"tool {one.call_id}", f"{one.tool or ''} {short(one.arguments)}".strip()
            notes = [one.execution, *["cancelled"] * one.cancelled]
        case stimuli.ApprovalAwaited(call_id=call):
            name, more, notes = f"approval of {call}", "", []
        case stimuli.ClientToolAwaited(call_id=call):
            name, more, notes = f"client's result of {call}", "", []
        case stimuli.TimerAwaited():
            name, more, notes = f"timer in {one.due:g} s", "", []
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"{session}{name}{noted}{f': {more}' if whole and more else ''}"


def _names(value: object) -> list[str]:
    return [plain(name) for name in cast("list[object]", value)] if isinstance(value, list) else []


def _entry(entry: stimuli.Shown) -> str:
    call = "" if entry.call_id is None else f" {entry.tool or 'result'} {entry.call_id}"
    text = "" if entry.text is None else f" {short(entry.text)}"
    return f"{entry.role}{call}{text}"


def short(value: Any) -> str:
    """Write a JSON value on one line, cut if it is longer than ``WIDE``."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDE else f"{text[:WIDE]} … ({len(text):,} characters)"


# ---- who tells whom ----


class Telling(NamedTuple):
    """One party tells another something; if both are the same, no party does.

    ``what`` is our word for it, ``text`` the implementation's own words, ``how`` a message's delivery. ``spoken`` is
    True if the text alone says enough.
    """

    source: str
    dest: str
    what: str
    text: str = ""
    how: str = ""
    spoken: bool = False

    @property
    def brief(self) -> str:
        """The whole in few words."""
        text = shown(self.text)
        return " ".join(filter(None, (self.how, "" if self.spoken and text else self.what, text)))


def of_event(value: object) -> Telling:
    """Name the parties and the words of a log event, which can be any JSON value."""
    event = as_object(value)
    kind = event.get("kind") if event.get("type") == "agent-output" else event.get("type")
    match kind:
        case "user-message":
            how = str(event.get("delivery", ""))
            text = plain(event.get("text", event.get("content")))
            return Telling(USER, AGENT, "user message", text, how, spoken=True)
        case "assistant" | "reasoning":
            return Telling(MODEL, AGENT, str(kind), plain(event.get("text")), spoken=True)
        case "tool-call":
            called = f"{plain(event.get('tool'))}({_arguments(event.get('arguments'))})"
            return Telling(MODEL, TOOLS, "tool call", called, spoken=True)
        case "tool-result":
            what = "failed result" if event.get("isError") is True else "result"
            return Telling(TOOLS, AGENT, what, plain(event.get("output")), spoken=True)
        case "model-request":
            return Telling(AGENT, MODEL, "asks for a summary" if event.get("purpose") == "compaction" else "asks")
        case "run-pause":
            return Telling(AGENT, USER, "run-pause", ", ".join(_names(event.get("calls"))))
        case "run-stop":
            return Telling(AGENT, AGENT, "run-stop", plain(event.get("reason")), spoken=True)
        case str():
            return Telling(AGENT, AGENT, shown(kind))
        case _:
            return Telling(AGENT, AGENT, "no event", plain(value), spoken=True)


def of_stimulus(stimulus: stimuli.Stimulus) -> Telling:  # noqa: PLR0912 - one case a stimulus
    """Name the parties and the words of a stimulus."""
    match stimulus:
        case stimuli.User(text=text, delivery=delivery):
            return Telling(USER, AGENT, "sends", text, delivery or "", spoken=True)
        case stimuli.Abort():
            return Telling(USER, AGENT, "abort")
        case stimuli.ModelOutput(item=item):
            if isinstance(item, stimuli.ToolCall):
                return Telling(MODEL, AGENT, "call", f"{item.tool} {item.call_id}")
            return Telling(MODEL, AGENT, "says", item.text, spoken=True)
        case stimuli.ModelStop(reason=reason):
            return Telling(MODEL, AGENT, f"ends: {reason}")
        case stimuli.ModelFail(failure=failure):
            return Telling(MODEL, AGENT, f"fails: {failure}")
        case stimuli.ToolReturn(call_id=call):
            return Telling(TOOLS, AGENT, "returns", call)
        case stimuli.ToolFail(call_id=call):
            return Telling(TOOLS, AGENT, "fails", call)
        case stimuli.Approve(call_id=call):
            return Telling(USER, AGENT, "approves", call)
        case stimuli.Deny(call_id=call, message=message):
            return Telling(USER, AGENT, f"denies {call}", message or "")
        case stimuli.ClientResult(call_id=call):
            return Telling(USER, AGENT, "the client returns", call)
        case stimuli.Compact():
            return Telling(USER, AGENT, "asks for a compaction")
        case stimuli.Advance(seconds=seconds):
            return Telling(AGENT, AGENT, f"{seconds:g} s pass")
        case stimuli.Client(client_id=name, action=action, cursor=cursor):
            return Telling(AGENT, AGENT, f"client {name} {action}s{'' if cursor is None else ' again'}")
        case stimuli.StoreFail(times=times):
            return Telling(
                AGENT, AGENT, f"{times} writes to the store fail" if times > 1 else "a write to the store fails"
            )
        case stimuli.Together(stimuli=several):
            return Telling(AGENT, AGENT, f"{len(several)} stimuli at once")


def as_object(value: object) -> Mapping[str, object]:
    """Return a JSON object as it is, any other value as an object without fields."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def plain(value: object) -> str:
    """Return a text as it is, a list of parts as their texts, other JSON as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [as_object(part) for part in cast("list[object]", value)]
        if parts and all(isinstance(part.get("type"), str) for part in parts):
            return " ".join(str(part.get("text", f"[{part['type']}]")) for part in parts)
    return json.dumps(value, ensure_ascii=False)


def _arguments(value: object) -> str:
    if named := as_object(value):
        return ", ".join(f"{name}: {plain(given)}" for name, given in named.items())
    return "" if value is None or value == {} else plain(value)
