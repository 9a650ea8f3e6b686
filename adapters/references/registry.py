"""The reference runtimes, by the machine that each runs: the one place where one is added."""

import importlib
from collections.abc import Mapping
from typing import Final

from ..runtime import RuntimeTarget

REFERENCES: Final[Mapping[str, str]] = {
    "turn": "turn.runtime:TurnRuntime",
    "conversation": "conversation.runtime:ConversationTarget",
    "engine": "engine.runtime:EngineRuntime",
    "event_flow": "event_flow.runtime:EventFlowRuntime",
}
"""Machine → module and class within this package; imported when it is opened, since each needs other libraries."""


def reference_runtime(machine: str) -> RuntimeTarget:
    """The reference runtime of *machine*, a key of REFERENCES, in this process."""
    module, _, name = REFERENCES[machine].partition(":")
    runtime: RuntimeTarget = getattr(importlib.import_module(f".{module}", __package__), name)()
    return runtime
