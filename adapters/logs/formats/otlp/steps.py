"""From a span to a step of a run: what the GenAI conventions, or OpenInference, say of it."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from .messages import Message, Part, genai_messages, new_of, openinference_messages
from .wire import Attributes, Head

StepKind: TypeAlias = Literal["agent", "model", "tool", "other"]

OPERATION: Final = "gen_ai.operation.name"
SPAN_KIND: Final = "openinference.span.kind"
_OPERATIONS: Final[dict[object, StepKind]] = {
    "invoke_agent": "agent",
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "execute_tool": "tool",
}
"""``gen_ai.operation.name`` → what the step is; other operations are none of a run."""
_KINDS: Final[dict[object, StepKind]] = {"AGENT": "agent", "LLM": "model", "TOOL": "tool"}
"""``openinference.span.kind`` → the same."""
_SESSIONS: Final = ("gen_ai.conversation.id", "session.id")
_CALL_IDS: Final = ("gen_ai.tool.call.id", "tool_call.id", "tool.id")
_TOOLS: Final = ("gen_ai.tool.name", "tool.name")
INPUT: Final = "llm.input_messages."
OUTPUT: Final = "llm.output_messages."
"""What the attributes begin with over which OpenInference spreads messages."""
_RESULTS: Final = ("gen_ai.output.messages", "output.value", "final_result")
"""Attributes that state an agent's output; the last one is pydantic-ai's."""
_REASONS: Final = ("gen_ai.response.finish_reasons", "llm.finish_reason", "gen_ai.response.id", "error.type")
READ: Final = frozenset(
    (OPERATION, SPAN_KIND, *_SESSIONS, *_CALL_IDS, *_TOOLS, *_RESULTS, *_REASONS, "input.value"),
) | {"gen_ai.input.messages"}
"""The attributes that are read, beside those of messages that are spread."""
_CANCELLED: Final = frozenset(
    (
        *("cancellederror", "cancelederror", "aborterror", "keyboardinterrupt", "runcancelled", "cancelled"),
        *(
            "canceled",
            "aborted",
            "interrupted",
            "operationcanceledexception",
            "taskcanceledexception",
            "cancellationexception",
        ),
    )
)
"""Last words of an error's type that say: somebody ended it."""


class Step(msgspec.Struct, frozen=True):
    """A span, as far as runs go.

    ``outputs`` are what a model made, None where it was not captured; ``answers`` the calls whose results its input
    brings, None where that was not captured, ``said`` the user's text in it. ``why`` is the type of its error.
    """

    kind: StepKind
    trace: str
    span: str
    parent: str
    remote: bool
    start: int
    end: int
    failed: bool = False
    why: str | None = None
    stated: bool = False
    session: str | None = None
    said: str | None = None
    answers: tuple[str, ...] | None = None
    outputs: tuple[Part, ...] | None = None
    finish: str | None = None
    response: str = ""
    call_id: str = ""
    tool: str = ""

    @property
    def cancelled(self) -> bool:
        """Whether somebody ended it."""
        return self.failed and (self.why or "").rpartition(".")[2].lower() in _CANCELLED


def kind_of(attributes: Attributes) -> StepKind | None:
    """Return what a span is in one of the two dialects, None where it is in neither."""
    if OPERATION in attributes:
        return _OPERATIONS.get(attributes[OPERATION], "other")
    return _KINDS.get(attributes[SPAN_KIND], "other") if SPAN_KIND in attributes else None


def step_of(span: Head) -> Step:
    """Return the step that a span is."""
    given = span.given()
    kind = kind_of(given) or "other"
    failed = span.failed or "error.type" in given
    why = _first(given, ("error.type",)) or span.exception() or (span.status.message if span.status else "") or None
    more: dict[str, Any] = {}
    match kind:
        case "agent":
            said = _said(new_of(_input(given) or ())) or _first(given, ("input.value",))
            stated = any(given.get(name) for name in _RESULTS) or (span.status is not None and _is_ok(span))
            more = {"said": said, "stated": stated}
        case "model":
            more = _model(span, given)
            failed = failed or more["finish"] == "error"
        case "tool":
            own, tool = _first(given, _CALL_IDS), _first(given, _TOOLS) or span.name or "unnamed"
            more = {"call_id": own or "", "tool": tool}
        case _:
            pass
    return Step(
        kind=kind,
        trace=span.trace_id,
        span=span.span_id,
        parent=span.parent_span_id or "",
        remote=span.remote,
        start=span.start_time_unix_nano,
        end=span.end_time_unix_nano,
        failed=failed,
        why=why if span.failed or "error.type" in given else None,
        session=_first(given, _SESSIONS),
        **more,
    )


def _model(span: Head, given: Attributes) -> dict[str, Any]:
    """What a model's span says of what it was asked, and of what it made."""
    asked = _input(given)
    new = new_of(asked or ())
    made = genai_messages(given, "gen_ai.output.messages")
    # of several choices clients take the first
    made = made[:1] if made is not None else openinference_messages(given, OUTPUT)
    reasons = given.get("gen_ai.response.finish_reasons")
    listed = cast("list[object]", reasons) if isinstance(reasons, list) else []
    finish = [one for one in listed if isinstance(one, str)]
    finish += [message.finish_reason for message in made or () if message.finish_reason]
    finish += [found] if (found := _first(given, ("llm.finish_reason",))) else []
    return {
        "said": _said(new),
        "answers": None if asked is None else tuple(_answered(new)),
        "outputs": None if made is None else tuple(part for message in made for part in message.made()),
        "finish": finish[0] if finish else None,
        "response": _first(given, ("gen_ai.response.id",)) or span.span_id,
    }


def _input(given: Attributes) -> Sequence[Message] | None:
    found = genai_messages(given, "gen_ai.input.messages")
    return openinference_messages(given, INPUT) if found is None else found


def _answered(new: Sequence[Message]) -> Iterator[str]:
    return (part.call_id for message in new for part in message.made() if part.kind == "answer")


def _said(new: Sequence[Message]) -> str | None:
    parts = [part for message in new if message.role == "user" for part in message.made()]
    texts = [part.text or "" for part in parts if part.kind == "text"]
    return "\n".join(texts) if texts else None


def _first(given: Attributes, names: tuple[str, ...]) -> str | None:
    for name in names:
        found = given.get(name)
        if isinstance(found, str) and found:
            return found
    return None


def _is_ok(span: Head) -> bool:
    return span.status is not None and span.status.code in (1, "STATUS_CODE_OK")
