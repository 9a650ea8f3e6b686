"""The parts of an AG-UI stream that begin and end, declared once.

The handlers, the rules, the owners and the fast loop are made from these rows.
"""

from typing import Final, Literal, NamedTuple, TypeAlias

from turncheck.model.core.events import OutputKind

Owned: TypeAlias = Literal["message", "call", "activity", "reasoning"]
"""A kind of part that an agent or a sub-agent owns."""


class Part(NamedTuple):
    """A part: the types that begin and end it, the field with its id, and how a message calls it.

    ``owned`` is None for what has no owner. ``once``: an id begins it once in a run.
    """

    begin: str
    ends: tuple[str, ...]
    field: str
    called: str
    owned: Owned | None
    once: bool = False


class Item(NamedTuple):
    """A part that becomes an output of the model: the stem of its types, and the last word of its deltas' type."""

    part: Part
    family: str
    piece: str
    kind: OutputKind

    @property
    def delta(self) -> str:
        """The type of its deltas."""
        return f"{self.family}_{self.piece}"


_TEXT: Final = Part("TEXT_MESSAGE_START", ("TEXT_MESSAGE_END",), "messageId", "the text", "message", once=True)
_THOUGHT: Final = Part(
    "REASONING_MESSAGE_START", ("REASONING_MESSAGE_END",), "messageId", "the reasoning message", "reasoning"
)
_CALL: Final = Part("TOOL_CALL_START", ("TOOL_CALL_END",), "toolCallId", "the call", "call")

ITEMS: Final = (
    Item(_TEXT, "TEXT_MESSAGE", "CONTENT", "assistant"),
    Item(_CALL, "TOOL_CALL", "ARGS", "tool-call"),
    Item(_THOUGHT, "REASONING_MESSAGE", "CONTENT", "reasoning"),
)
STEP: Final = Part("STEP_STARTED", ("STEP_FINISHED",), "stepName", "the step", None)
"""A step belongs to who began it: its key has the sub-agent too."""
SPANS: Final = (
    Part("REASONING_START", ("REASONING_END",), "messageId", "the reasoning", "reasoning"),
    STEP,
    Part(
        "SUBAGENT_STARTED", ("SUBAGENT_FINISHED", "SUBAGENT_ERROR"), "subagentRunId", "the sub-agent", None, once=True
    ),
)
"""The parts that mean nothing to the core."""
PARTS: Final = (*(item.part for item in ITEMS), *SPANS)
