"""The attributes of a span in one of the two dialects: the step that it is, the news of its input, and its outputs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from .messages import Asked, Message, asked_of, genai_messages, spread_messages
from .spread import PLACES, Spread

StepKind: TypeAlias = Literal["agent", "model", "tool", "other"]

OPERATION: Final = "gen_ai.operation.name"
SPAN_KIND: Final = "openinference.span.kind"
INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
_KINDS: Final[Mapping[str, Mapping[str, StepKind]]] = {
    OPERATION: {
        "invoke_agent": "agent",
        "chat": "model",
        "generate_content": "model",
        "text_completion": "model",
        "execute_tool": "tool",
    },
    SPAN_KIND: {"AGENT": "agent", "LLM": "model", "TOOL": "tool"},
}
"""Attribute that says what a span is → its values: what the step is. Other operations are none of a run."""
SESSIONS: Final = ("gen_ai.conversation.id", "session.id")


class Given(msgspec.Struct, gc=False):
    """The attributes of a span, whose ``values`` are plain here.

    Of an agent and of a model there is the news of its input (``asked``), and of a model the messages that it ``made``;
    both are None where they were not captured.
    """

    kind: StepKind
    values: Mapping[str, Any]
    session: str | None = None
    asked: Asked | None = None
    made: Sequence[Message] | None = None

    def plain(self, name: str) -> Any:
        """Return an attribute as a plain value, None where there is none."""
        return self.values.get(name)

    def first(self, names: Sequence[str]) -> str | None:
        """Return the first of some attributes that is a text, and not empty."""
        for name in names:
            found = self.plain(name)
            if found and isinstance(found, str):
                return found
        return None


def kind_of(name: str, told: object) -> StepKind:
    """Return what a span is, of which the attribute *name* says what is *told*."""
    return _KINDS[name].get(told, "other") if isinstance(told, str) else "other"


def given_of(values: Mapping[str, Any]) -> Given:
    """Return the attributes of a span, given as plain values; where it is of both dialects, GenAI tells its kind."""
    name = OPERATION if OPERATION in values else SPAN_KIND
    given = Given(kind_of(name, values.get(name)), values)
    given.session = given.first(SESSIONS)
    if given.kind not in ("agent", "model"):
        return given
    inputs: Spread = {}
    outputs: Spread = {}
    for key, value in values.items():
        place = PLACES[key]
        if place is not None:
            (outputs if place.made else inputs).setdefault(place.message, {})[place.leaf] = value
    asked = genai_messages(values.get(INPUT))
    if asked is None:
        asked = spread_messages(inputs)
    given.asked = None if asked is None else asked_of(asked)
    if given.kind == "model":
        made = first_choice(values.get(OUTPUT))
        given.made = spread_messages(outputs) if made is None else made
    return given


def first_choice(written: object) -> Sequence[Message] | None:
    """Return the messages that a model made by the GenAI conventions: of several choices clients take the first."""
    made = genai_messages(written)
    return None if made is None else made[:1]
