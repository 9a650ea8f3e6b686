"""The registry of machines: the single place to add one."""

from collections.abc import Mapping
from typing import Final

from ..declaration.machine import Machine
from ..declaration.proof_roles import ProofRoles
from . import collation, conversation, engine, event_flow, request_cycle, turn
from .interaction import roles as interaction

PROOF_ROLES: Final[Mapping[str, ProofRoles]] = {
    one.ROLES.machine.name: one.ROLES
    for one in (request_cycle, turn, event_flow, conversation, engine, collation, interaction)
}
"""Machine name → its proof roles: the five machines of the sources, the UI's collation, and the environment."""

MACHINES: Final[Mapping[str, Machine]] = {name: roles.machine for name, roles in PROOF_ROLES.items()}
"""A machine's name → the machine."""
