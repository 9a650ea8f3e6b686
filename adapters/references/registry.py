"""The reference runtimes, by the machine that each runs: the single place to add one."""

import importlib
from collections.abc import Callable, Mapping
from typing import Final

from turncheck.model.core.history import HANDOVERS

from ..protocol.messages import Profile
from ..protocol.runtime import RuntimeTarget

REFERENCES: Final[Mapping[str, str]] = {
    "turn": "turn.runtime:TurnRuntime",
    "conversation": "conversation.runtime:ConversationTarget",
    "engine": "engine.runtime:EngineRuntime",
    "event_flow": "event_flow.runtime:EventFlowRuntime",
    "interaction": "interaction.runtime:InteractionRuntime",
}
"""Machine → module and class within this package; imported when opened, since each needs other libraries."""


def reference_runtime(machine: str) -> RuntimeTarget:
    """Return the reference runtime of *machine*, a key of REFERENCES, in this process."""
    runtime: RuntimeTarget = _class(machine)()
    return runtime


def reference_of(profile: Profile) -> RuntimeTarget | None:
    """Return the reference of the machine that a profile claims, under the policies that it declares.

    None where the profile claims no machine, or declares policies that the reference cannot have.
    """
    if profile.machine is None or profile.machine not in REFERENCES:
        return None
    made, declared = _class(profile.machine), profile.policies
    found = made()
    if profile.machine == "interaction":
        chosen = found.profile.policies.keys() - HANDOVERS.keys()  # the machine's rows have one way
        found = made(policies={name: value for name, value in declared.items() if name in chosen})
    elif profile.machine == "turn" and declared.get("whileActive") == "steer":
        found = made("steer")
    agrees = all(declared.get(name, value) == value for name, value in found.profile.policies.items())
    return found if agrees else None


def _class(machine: str) -> Callable[..., RuntimeTarget]:
    module, _, name = REFERENCES[machine].partition(":")
    made: Callable[..., RuntimeTarget] = getattr(importlib.import_module(f".{module}", __package__), name)
    return made
