"""From a span to a step of a run: what the GenAI conventions, or OpenInference, say of it."""

from typing import Final, cast

import msgspec

from .given import OUTPUT, Given, StepKind
from .messages import Part
from .wire import ERRORS, OK, REMOTE, Head

_CALL_IDS: Final = ("gen_ai.tool.call.id", "tool_call.id", "tool.id")
_TOOLS: Final = ("gen_ai.tool.name", "tool.name")
_RESULTS: Final = (OUTPUT, "output.value", "final_result")
"""Attributes that state an agent's output; the last one is pydantic-ai's."""
_SAID: Final = ("input.value",)
_REASONS: Final = "gen_ai.response.finish_reasons"
_REASON: Final = ("llm.finish_reason",)
_RESPONSE: Final = ("gen_ai.response.id",)
_ERROR: Final = "error.type"
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


class Step(msgspec.Struct, frozen=True, gc=False):
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
        """True if somebody ended it."""
        return self.failed and (self.why or "").rpartition(".")[2].lower() in _CANCELLED


def step_of(span: Head, given: Given) -> Step:
    """Return the step that a span is, whose attributes say what is *given*."""
    kind, asked, status, own = given.kind, given.asked, span.status, span.span_id
    failed = _ERROR in given.values or (status is not None and status.code in ERRORS)
    why = _why(span, given) if failed else None
    said = None if asked is None else asked.said
    answers = outputs = finish = None
    stated, response, call, tool = False, "", "", ""
    if kind == "tool":
        call, tool = given.first(_CALL_IDS) or "", given.first(_TOOLS) or span.name or "unnamed"
    elif kind == "model":
        answers = None if asked is None else asked.answers
        made = given.made
        if made is not None:
            outputs = tuple(made[0].made()) if len(made) == 1 else tuple([part for one in made for part in one.made()])
        finish = _finish(given)
        response = given.first(_RESPONSE) or own
        failed = failed or finish == "error"
    elif kind == "agent":
        said = said or given.first(_SAID)
        stated = any(given.plain(name) for name in _RESULTS) or (status is not None and status.code in OK)
    return Step(
        kind,
        span.trace_id,
        own,
        span.parent_span_id or "",
        span.flags & REMOTE == REMOTE,
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        failed,
        why,
        stated,
        given.session,
        said,
        answers,
        outputs,
        finish,
        response,
        call,
        tool,
    )


def _why(span: Head, given: Given) -> str | None:
    return given.first((_ERROR,)) or span.exception() or (span.status.message if span.status else "") or None


def _finish(given: Given) -> str | None:
    """The reason why a model ended, the first that is given."""
    reasons = given.plain(_REASONS)
    if isinstance(reasons, list):
        for one in cast("list[object]", reasons):
            if isinstance(one, str):
                return one
    for message in given.made or ():
        if message.finish_reason:
            return message.finish_reason
    return given.first(_REASON)
