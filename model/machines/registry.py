"""Which machines there are: the single place to add one."""

from collections.abc import Mapping
from typing import Final

from ..declaration.machine import Machine
from . import collation, conversation, engine, event_flow, interaction, request_cycle, turn

MACHINES: Final[Mapping[str, Machine]] = {
    machine.name: machine
    for machine in (
        *(request_cycle.SPEC, turn.SPEC, event_flow.SPEC, conversation.SPEC, engine.SPEC),
        *(collation.SPEC, interaction.SPEC),
    )
}
"""A machine's name → the machine: the five of the sources, what the UI makes of a flow, what an environment does."""
