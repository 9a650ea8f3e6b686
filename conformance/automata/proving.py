"""Proofs of a machine's properties: theorems by induction, promises by exploration, termination by Spin.

Each result says by which method it holds, and how far. What a machine has no part in is *vacuous*: it is not proved.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from turncheck.model.checking.alphabet import letters
from turncheck.model.checking.explore import explore
from turncheck.model.checking.promela import QUEUE, promela
from turncheck.model.checking.proofs import PROOFS
from turncheck.model.checking.refinement import Core, acceptance
from turncheck.model.checking.theorems.theorem import Theorem, prove
from turncheck.model.checking.witness import witness
from turncheck.model.core.policies import Policies
from turncheck.model.declaration.proof_roles import ProofRoles

from .spin import ProgramMissingError, verified

Method: TypeAlias = Literal["z3", "exploration", "spin"]
Standing: TypeAlias = Literal["proved", "explored", "vacuous", "refuted", "not run"]

_NO_LOG: Final = "it has no refinement of its outputs alone"
BUDGET: Final = 5
"""Events of the environment besides answers, in Spin's model."""
ANY_SIZE: Final = "any size"
RUNS_END: Final = "every-run-ends"
PROMISES: Final = "promises-hold"
ACCEPTED: Final = "log-accepted"


class Result(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A theorem of a machine: how it stands, by which method, and how far.

    ``word`` is a shortest one that refutes it, under the machine's tables of the number ``tables``.
    """

    machine: str
    theorem: str
    says: str
    standing: Standing
    method: Method
    bound: str = ""
    clauses: tuple[str, ...] = ()
    why: str = ""
    row: str = ""
    word: tuple[str, ...] = ()
    tables: int = 0
    seconds: float = 0.0


EXPLORED: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    PROMISES: ("Every promise that the machine's file makes holds in every state.", ()),
    ACCEPTED: ("The core accepts every log that the machine's outputs map to.", ("X-1",)),
}
"""Name of a property that exploration looks at → its claim and clauses."""
ENDS: Final = "Every run that is answered ends, however often the model calls tools where rounds are bounded."


def theorems() -> dict[str, tuple[Method, str, tuple[str, ...]]]:
    """Return each theorem's method, claim and clauses, in the order in which they are looked at."""
    found: dict[str, tuple[Method, str, tuple[str, ...]]] = {}
    for name, claim in PROOFS.items():
        found[name] = "z3", claim.says, claim.clauses
    for name, (says, clauses) in EXPLORED.items():
        found[name] = "exploration", says, clauses
    found[RUNS_END] = "spin", ENDS, ("X-5",)
    return found


def results(roles: ProofRoles, wanted: Sequence[str]) -> Iterator[Result]:
    """Yield what holds of a machine: of the theorems *wanted*, in the order of ``theorems``."""
    for name, claim in PROOFS.items():
        if name in wanted:
            yield _proved(claim, roles)
    for name in EXPLORED:
        if name in wanted:
            yield _timed(_explored, name, roles)
    if RUNS_END in wanted:
        yield _timed(_ends, RUNS_END, roles)


def _proved(claim: Theorem, roles: ProofRoles) -> Result:
    found = prove(claim, roles)
    told: dict[str, Any] = {
        "machine": found.machine,
        "theorem": claim.name,
        "says": claim.says,
        "method": "z3",
        "clauses": claim.clauses,
        "standing": found.standing,
        "seconds": found.seconds,
    }
    if found.standing == "vacuous":
        return Result(**told, why=f"it has no {claim.missing}")
    if found.standing == "proved":
        return Result(**told, bound=ANY_SIZE)
    shown = ((one, witness(roles, one)) for one in found.refutations)
    refuted, core = next(((one, core) for one, core in shown if core), (found.refutations[0], None))
    more: dict[str, Any] = {"word": core.word, "tables": core.tables} if core else {}
    return Result(**told, bound=ANY_SIZE, why=refuted.claim, row=refuted.row, **more)


def _timed(look: Any, name: str, roles: ProofRoles) -> Result:
    start = time.perf_counter()
    found: Result = look(name, roles)
    return msgspec.structs.replace(found, seconds=time.perf_counter() - start)


def _explored(name: str, roles: ProofRoles) -> Result:
    says, clauses = EXPLORED[name]
    told: dict[str, Any] = {
        "machine": roles.machine.name,
        "theorem": name,
        "says": says,
        "clauses": clauses,
        "method": "exploration",
    }
    if name == ACCEPTED and roles.refine is None:
        return Result(**told, standing="vacuous", why=_NO_LOG)
    states = 0
    for number, tables in enumerate(roles.tables):
        policies = Policies(while_active=tables.get("while_active", "followUp"))
        beside = acceptance(roles.machine, roles.refine, policies) if name == ACCEPTED and roles.refine else None
        found = explore(
            roles.machine,
            tables,
            bound=roles.bound,
            letters=letters(roles, tables),
            unbounded_counters=roles.unbounded_counters,
            beside=beside,
            start=Core() if beside else None,
        )
        states += found.states
        if found.violation:
            core: dict[str, Any] = {"word": found.violation.path, "tables": number}
            return Result(**told, standing="refuted", why=found.violation.promise, **core)
    return Result(**told, standing="explored", bound=f"sizes to {roles.bound}, {states:,} states")


def _ends(name: str, roles: ProofRoles) -> Result:
    told: dict[str, Any] = {
        "machine": roles.machine.name,
        "theorem": name,
        "says": ENDS,
        "clauses": ("X-5",),
        "method": "spin",
    }
    if not roles.run.active:
        return Result(**told, standing="vacuous", why="it has no runs")
    try:
        found = verified(promela(roles, BUDGET))
    except ProgramMissingError as error:
        return Result(**told, standing="not run", why=str(error))
    if found.endless:
        return Result(**told, standing="refuted", why="a run that is answered goes on without end")
    bound = f"queues to {QUEUE}, {BUDGET} other events, {found.states:,} states"
    return Result(**told, standing="explored", bound=bound)
