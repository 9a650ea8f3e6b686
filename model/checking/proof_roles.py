"""What is claimed of each machine, and the abstract alphabet that follows from it."""

from collections.abc import Mapping
from typing import Any

from ..declaration.proof_roles import ProofRoles
from ..machines.registry import PROOF_ROLES
from .alphabet import Letter, alphabet

__all__ = ["PROOF_ROLES", "ProofRoles", "letters"]


def letters(roles: ProofRoles, tables: Mapping[str, Any], *, coloured: bool = False) -> tuple[Letter, ...]:
    """The abstract alphabet of the machine under *tables*; *coloured* gives ``payloads`` two colours as well."""
    carries = {**roles.alphabet.carries, **(roles.alphabet.payloads if coloured else {})}
    return alphabet(roles.machine, tables, roles.alphabet.values, carries)
