"""The claims of ``reference:interaction``: its capabilities, and the policies that it keeps."""

from typing import Final

from turncheck.model.core.history import CUT, FOLLOW_UP_HANDOVER, STEER_HANDOVER
from turncheck.model.machines.interaction import POLICIES, SPEC

from ...protocol.messages import HISTORY_POLICIES, PAUSE_POLICY, RESTART_POLICY, STORE_POLICY, Profile

PROFILE: Final = Profile(
    ("runtime",),
    (
        *("steer", "follow-up", "abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input"),
        *("raw-arguments", "call-ids", "together", "observer", "deaf", "clock", "terminal-events"),
        *("approval", "client-tools", "compaction", "persistence", "store-faults", "clients"),
    ),
    SPEC.name,
    {
        "tools": "serial",
        "abortEnds": "at-once",
        **dict(POLICIES.values()),
        **{name: values[0] for name, values in HISTORY_POLICIES.items()},
        CUT: None,
        STEER_HANDOVER: "all",
        FOLLOW_UP_HANDOVER: "one",
        RESTART_POLICY: "goes-on",
        PAUSE_POLICY: "kept",
        STORE_POLICY: "retry",
    },
)
