"""AG-UI's events as the fast loop decodes them: typed, and only in the shape that it knows as good."""

from collections.abc import Mapping
from typing import Any, Final, Literal, Union

from msgspec import UnsetType, json

from ..formats.ag_ui_fields import structure
from ..formats.ag_ui_parts import ITEMS, SPANS

_ONLY: Final[Mapping[str, Any]] = {"subagentRunId": UnsetType, "outcome": UnsetType, "input": UnsetType}
"""Fields whose events are the mapper's: sub-agents, ends that are none of success, inputs that are repeated."""
_SAID: Final[Mapping[str, Any]] = {**_ONLY, "role": Literal["assistant"]}
"""A text of another role is no output of the model."""
NAMES: Final = (
    *(name for item in ITEMS for name in (item.delta, item.part.begin, *item.part.ends)),
    *(name for part in SPANS if part.field not in _ONLY for name in (part.begin, *part.ends)),
    *("TOOL_CALL_RESULT", "RUN_STARTED", "RUN_FINISHED"),
)
"""The types that the fast loop reads, the most frequent first of each part."""
STRUCTURES: Final = {name: structure(name, _SAID if name == "TEXT_MESSAGE_START" else _ONLY) for name in NAMES}
"""Type → its structure."""
DECODER: Final = json.Decoder[Any](Union[tuple(STRUCTURES.values())])  # noqa: UP007 - of a tuple
