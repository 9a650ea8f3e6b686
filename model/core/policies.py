"""The projection's policies (RC-D6): declared choices among behaviours that the sources allow."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias, get_args

import msgspec

QueueFate: TypeAlias = Literal["promote", "hold", "drop"]


class Policies(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """How an active message without ``delivery`` is classified, and what becomes of the queue after a stop.

    After ``completed`` the queue is always promoted. Raises msgspec.ValidationError when decoded from other values.
    """

    while_active: Literal["steer", "followUp"] = "followUp"
    queue_after_interrupted: QueueFate = "promote"
    queue_after_error: QueueFate = "promote"

    def queue_fate(self) -> dict[str, QueueFate]:
        """Stop reason → what becomes of the queue."""
        return {
            "completed": "promote",
            "interrupted": self.queue_after_interrupted,
            "error": self.queue_after_error,
        }


DEFAULT = Policies()

VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    field.encode_name: get_args(field.type) for field in msgspec.structs.fields(Policies)
}
"""Policy → its values, as they are on the wire."""
