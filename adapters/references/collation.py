"""The reference collator: the machine ``collation`` as an object that the worker serves."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from turncheck.model.machines.blocks import Block, collate

from ..protocol.collator import COLLATOR_CAPABILITIES
from ..protocol.messages import Implementation
from .driven import implementation


class ReferenceCollator:
    """Collates as the model does."""

    profile: Final = {"machine": "collation", "capabilities": [*COLLATOR_CAPABILITIES]}

    @property
    def implementation(self) -> Implementation:
        """The name and version of the reference."""
        return implementation()

    def collate(self, frames: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
        """Collate one request's frames."""
        return collate(frames)
