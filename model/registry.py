"""Which machines there are: the single place to add one."""

from collections.abc import Mapping
from typing import Final

from . import interaction, request_cycle
from .machine import Machine

MACHINES: Final[Mapping[str, Machine]] = {machine.name: machine for machine in (request_cycle.SPEC, interaction.SPEC)}
"""A machine's name → the machine."""
