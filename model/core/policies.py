"""The projection's policies (RC-D6), and what the machine ``interaction`` leaves to a runtime.

They are declared choices among behaviours that the sources allow.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, TypedDict, get_args

import msgspec

from .events import Delivery, StopReason

QueueFate: TypeAlias = Literal["promote", "hold", "drop"]
Busy: TypeAlias = Literal["steer", "followUp", "reject"]
"""Deliveries of a message that comes while the runtime works."""
SteerLands: TypeAlias = Literal["after-batch", "after-call"]
"""The moment at which the model sees a steer: after all calls of its response, or after the one that runs."""
Fate: TypeAlias = Literal[QueueFate, "join"]
"""The fates of a waiting queue where a run was cut: one run each at once, or after the user's next one; none; or it
joins the user's next message, whose first request shows both (``join``)."""
Kept: TypeAlias = Literal["keep", "texts", "drop"]
"""The part that the history keeps of a response that was cut: all, its texts without its calls, or nothing."""
Aborted: TypeAlias = Literal[Kept, "drop-with-calls"]
"""The same where an abort cut it; ``drop-with-calls``: nothing either of a response whose tools were cut."""
Unread: TypeAlias = Literal["keep", "drop", "later"]
"""The place of messages that a run took and never showed: at its end, none, or behind the next root (RC-D8)."""
SteerWhilePaused: TypeAlias = Literal["waits", "instead"]
"""A steer that comes while calls wait for a decision: it waits too, or the run goes on with it, instead of them."""
Disconnect: TypeAlias = Literal["ignored", "abort"]
"""A client that leaves while a run is open: the run goes on, or it is aborted."""
_REASONS: Final[tuple[StopReason, ...]] = get_args(StopReason)


class Policies(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The class of an active message without ``delivery``, and the fate of the queue after a stop.

    After ``completed`` the queue is always promoted. Raises msgspec.ValidationError when decoded from other values.
    """

    while_active: Delivery = "followUp"
    queue_after_interrupted: QueueFate = "promote"
    queue_after_error: QueueFate = "promote"

    def queue_fate(self) -> dict[str, QueueFate]:
        """Return the queue's fate by stop reason."""
        return {reason: self._fate(reason) for reason in _REASONS}

    def _fate(self, reason: StopReason) -> QueueFate:
        match reason:  # a reason without a case is a type error
            case "completed":
                return "promote"
            case "interrupted":
                return self.queue_after_interrupted
            case "error":
                return self.queue_after_error


DEFAULT = Policies()

VALUES: Final[Mapping[str, tuple[str, ...]]] = {
    field.encode_name: get_args(field.type) for field in msgspec.structs.fields(Policies)
}
"""Policy → its values, as they are on the wire."""


class Tables(TypedDict):
    """The data that guards of the core read besides state and event."""

    while_active: str
    queue_fate: Mapping[str, str]


def tables(policies: Policies) -> Tables:
    """Return the core's tables under *policies* (RC-D6)."""
    return {"while_active": policies.while_active, "queue_fate": policies.queue_fate()}


def projected(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policies of the projection among a runtime's.

    A queue that joins the user's next message is dropped there: no event of the log says that it joins.

    >>> projected({"queueAfterError": "join", "retries": 2})
    {'queueAfterError': 'drop'}
    """
    return {name: "drop" if policies[name] == "join" else policies[name] for name in VALUES if name in policies}
