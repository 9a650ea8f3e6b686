"""A machine as an argument: its name, or ``module:NAME`` for roles that a user declares."""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click


def roles_of(machine: str | None) -> Sequence[Any]:
    """Return the proof roles of a machine, of every machine where none is named. Raises BadParameter."""
    from turncheck.model.declaration.lint import gaps  # noqa: PLC0415
    from turncheck.model.declaration.proof_roles import ProofRoles  # noqa: PLC0415 - a command's start shall cost nothing
    from turncheck.model.machines.registry import PROOF_ROLES  # noqa: PLC0415

    if machine is None:
        return [*PROOF_ROLES.values()]
    if machine in PROOF_ROLES:
        return [PROOF_ROLES[machine]]
    module, colon, name = machine.partition(":")
    if not colon:
        known = ", ".join(PROOF_ROLES)
        told = f"no machine is named {machine!r}; there are: {known}; or give module:NAME"
        raise click.BadParameter(told, param_hint="MACHINE")
    sys.path.insert(0, "")
    try:
        found = getattr(import_module(module), name)
    except Exception as error:
        raise click.BadParameter(f"{machine!r} cannot be imported: {error}", param_hint="MACHINE") from error
    finally:
        sys.path.remove("")
    if not isinstance(found, ProofRoles):
        raise click.BadParameter(f"{machine!r} is no ProofRoles, but {type(found).__name__}", param_hint="MACHINE")
    if faults := gaps(found.machine):
        more = f"; {len(faults) - 1} more" if len(faults) > 1 else ""
        raise click.BadParameter(f"{machine!r} cannot be stepped: {faults[0]}{more}", param_hint="MACHINE")
    return [found]
