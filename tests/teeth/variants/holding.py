"""Check a variant against all laws, and count the verdicts."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from runtimes.right import Right

from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_projector, verify_runtime
from variants.logs import checked
from variants.registry import PROJECTORS, RUNTIMES

HASH_SEED = 4321


@dataclass(frozen=True)
class Held:
    """Numbers of laws that passed, were skipped, had no evidence; and the findings."""

    passed: int
    skipped: int
    inconclusive: int
    findings: tuple[str, ...]


def held(subject: str, name: str, examples: int) -> Held:
    """Check a variant of the registry on *examples* generated words or logs, in addition to the directed ones."""
    if subject == "runtime":
        with RUNTIMES[name].open() as runtime:
            return _held(*verify_runtime(runtime, selected(["runtime"]), words=examples, hash_seed=HASH_SEED))
    with PROJECTORS[name].open() as projector:
        return _held(*verify_projector(projector, selected(["projector"]), examples=examples))


def combined(number: int, policies: dict[str, Any], words: int) -> Held:
    """Check a combination of policies; its number is the seed of its words, so that all together cover many."""
    laws = selected(["runtime"])
    return _held(*verify_runtime(Right(**policies), laws, words=words, seed=number, hash_seed=HASH_SEED))


def logged(format_name: str, size: int, *, noise: bool) -> Held:
    """Check a log of another format: one law for each kind of anomaly."""
    result = checked(format_name, size, noise=noise)
    findings = tuple(f"{one.law}: {one.message}" for one in result.findings)
    return Held(0 if findings else len(selected(["log"])), 0, 0, findings if result.cycles else ("no cycle",))


def together(some: list[Held]) -> Held:
    """Return several as one: the lowest number that passed, and all findings."""
    findings = tuple(finding for one in some for finding in one.findings)
    least = min(some, key=lambda one: one.passed)
    return Held(least.passed, least.skipped, least.inconclusive, findings)


def _held(result: Any, found: Any) -> Held:
    verdicts = Counter(law.verdict for law in result.laws)
    findings = [f"{law.law}: {law.why}" for law in result.laws if law.verdict in {"fail", "error"}]
    findings += [f"{name}: {one.message}" for name, one in found.items() if not findings]
    findings += [result.cut] if result.cut else []
    return Held(verdicts["pass"], verdicts["skipped"], verdicts["inconclusive"], tuple(findings))
