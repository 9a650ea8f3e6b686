"""Hold a target to every law of the roles that it has: one result."""

from collections.abc import Callable, Sequence
from itertools import chain

from msgspec.structs import replace

from turncheck.adapters.targets.registry import Target

from ..laws.law import Law
from .coverage import merged
from .judging import HASH_SEED
from .results import AnyCounterexample, Result, summary
from .verifying import verify
from .verifying_runs import verify_runtime


def subjects_of(target: Target) -> list[str]:
    """The roles of an open target, as laws name them."""
    roles = {"projector": target.projector, "runtime": target.runtime}
    return [name for name, face in roles.items() if face is not None]


def verify_target(
    target: Target,
    laws: Sequence[Law],
    *,
    examples: int,
    seed: int = 0,
    budget: float | None = None,
    fail_fast: bool = False,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Result, dict[str, AnyCounterexample]]:
    """Verify each role of *target* in turn; *examples* and *budget* are for each. Raises what the verifications do."""
    results: list[Result] = []
    found: dict[str, AnyCounterexample] = {}
    for subject in subjects_of(target):
        applicable = [law for law in laws if law.subject == subject]
        if subject == "projector" and target.projector is not None:
            result, failed = verify(
                target.projector,
                applicable,
                examples=examples,
                seed=seed,
                budget=budget,
                fail_fast=fail_fast,
                progress=progress,
            )
            found |= failed
        else:
            assert target.runtime is not None
            result, words = verify_runtime(
                target.runtime,
                applicable,
                words=examples,
                seed=seed,
                budget=budget,
                hash_seed=HASH_SEED,
                fail_fast=fail_fast,
                progress=progress,
            )
            found |= words
        results.append(result)
    return _merged(results), found


def _merged(results: Sequence[Result]) -> Result:
    laws = tuple(chain.from_iterable(result.laws for result in results))
    return replace(
        results[0],
        laws=laws,
        coverage=merged([result.coverage for result in results]),
        summary=summary(laws),
        cut=next((result.cut for result in results if result.cut), None),
    )
