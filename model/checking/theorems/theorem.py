"""A theorem: a claim about every machine whose roles it speaks of, and the search for what refutes it."""

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ...declaration.proof_roles import ProofRoles
from ..symbolic import Refutation

Search: TypeAlias = Callable[[ProofRoles], Iterator[Refutation]]
Standing: TypeAlias = Literal["proved", "vacuous", "refuted"]


@dataclass(frozen=True)
class Theorem:
    """A claim with the clauses that it states, the roles that it is about, and the search for refutations."""

    name: str
    clauses: tuple[str, ...]
    says: str
    about: Callable[[ProofRoles], Collection[Any]]
    """The names in a machine's roles that the claim speaks of: without any, nothing is claimed."""
    missing: str
    """A plural noun for the things that a machine without any of those names lacks."""
    refutations: Search

    def vacuous(self, roles: ProofRoles) -> bool:
        """Return whether the machine has nothing that the theorem speaks of."""
        return not self.about(roles)


@dataclass(frozen=True)
class Proof:
    """The result of a search, which took *seconds* by the wall clock. A vacuous theorem is not searched, nor proved."""

    theorem: Theorem
    machine: str
    standing: Standing
    refutations: tuple[Refutation, ...] = ()
    seconds: float = 0.0


def theorem(*clauses: str, about: Callable[[ProofRoles], Collection[Any]], missing: str) -> Callable[[Search], Theorem]:
    """Declare a theorem by its search: its name is the function's, and its claim the docstring's first line."""

    def declared(search: Search) -> Theorem:
        says = (search.__doc__ or "").partition("\n")[0]
        return Theorem(search.__name__.replace("_", "-"), clauses, says, about, missing, search)

    return declared


def prove(claim: Theorem, roles: ProofRoles) -> Proof:
    """Search for refutations of a theorem in a machine, by the rows and for data of any size."""
    if claim.vacuous(roles):
        return Proof(claim, roles.machine.name, "vacuous")
    start = time.perf_counter()
    found = tuple(claim.refutations(roles))
    standing: Standing = "refuted" if found else "proved"
    return Proof(claim, roles.machine.name, standing, found, time.perf_counter() - start)
