"""Inductive proofs from the rows of a declared machine, for queues, maps and counters of any size.

Each row is taken once, from any registers, by the prover's rendering of its terms. An obligation says what a row does
to one free variable: the entry in slot ``j`` of a queue, or the call ``w``. No quantifier is needed, so that every
answer is yes or no; a no comes with registers that refute it. A claim that holds at the start and across every row
holds always.

Needs the extra ``proofs``.
"""

from collections.abc import Mapping
from typing import Final

from .theorems import calls, messages, runs
from .theorems.theorem import Theorem

PROOFS: Final[Mapping[str, Theorem]] = {
    claim.name: claim for room in (runs, messages, calls) for claim in room.THEOREMS
}
"""Theorem name → the theorem: no refutation in a machine means proved, unless it is vacuous there."""
