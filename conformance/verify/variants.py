"""The variants of a target, each verified, and one result of them: what all show, and what only some do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from turncheck.adapters.protocol.errors import BadTargetError
from turncheck.adapters.targets.registry import Target

from .outcome.covered import Covered, FloorItem
from .outcome.results import (
    INTERRUPTED,
    AnyCounterexample,
    CauseResult,
    Counterexamples,
    Evidence,
    LawResult,
    Result,
    Variant,
    Verdict,
    case_of,
    cut_of,
    only,
    summary,
)

Verified: TypeAlias = tuple[Result, Counterexamples]

_WORST_FIRST: Final[tuple[Verdict, ...]] = ("fail", "error", "inconclusive", "pass", "skipped")
"""Of several verdicts on one law the first counts. What one variant leaves open is open; what it lacks, others have."""
_COUNTS: Final = ("logs", "events", "words", "stimuli", "unsettled", "flows", "frames")
_T = TypeVar("_T")


def verify_variants(
    opened: Target,
    opens: Callable[[str], Target],
    verified: Callable[[Target, str | None], Verified],
    *,
    names: Sequence[str] | None = None,
    fail_fast: bool = False,
) -> Verified:
    """Verify an open target: each of its variants in a process of its own, or those of *names*; joined to one result.

    *verified* verifies one, and *opens* opens one by its name; *opened* is closed before, where there are variants.
    With *fail_fast* a variant with a broken law is the last; one that Ctrl-C ended always is.

    Raises BadTargetError where the variants have different roles (docs/protocol.md), before any is verified, and the
    errors of *opens* and *verified*.

    >>> from functools import partial
    >>> from turncheck.adapters.targets.registry import open_target
    >>> from turncheck.conformance.laws.registry import selected
    >>> from turncheck.conformance.verify.verification import verify_target
    >>> laws = selected(["projector"], ["follow-up-fifo"])
    >>> opens = partial(open_target, "reference", timeout=5.0)
    >>> with opens() as target:
    ...     result, _ = verify_variants(
    ...         target,
    ...         lambda name: opens(variant=name),
    ...         lambda one, name: verify_target(one, laws, examples=5),
    ...     )
    >>> result.exit_code, result.variants
    (0, ())
    """
    names = opened.variants if names is None else names
    if not names:
        return verified(opened, None)
    opened.close()
    _check_roles(opened, names, opens)
    found: dict[str, Verified] = {}
    for name in names:
        with opens(name) as one:
            found[name] = verified(one, name)
        result, counterexamples = found[name]
        if (fail_fast and counterexamples) or result.cut == INTERRUPTED:
            break
    return joined(found)


def _check_roles(opened: Target, names: Sequence[str], opens: Callable[[str], Target]) -> None:
    """Raise BadTargetError where not all of several variants have the roles of the first, which *opened* is."""
    roles = {names[0]: opened.roles}
    for name in names[1:]:
        with opens(name) as one:
            roles[name] = one.roles
    if len({*roles.values()}) > 1:
        whose = "" if opened.connection is None else f"{opened.connection.name} has "
        said = ", ".join(f"{name} is a {' and a '.join(has)}" for name, has in roles.items())
        raise BadTargetError(
            f"{whose}variants of different roles, which one result cannot be of: {said}. Verify each by itself, with"
            " `turncheck verify --variant NAME` (docs/protocol.md#variants)"
        )


def joined(found: Mapping[str, Verified]) -> Verified:
    """Join the results of the variants of one target, by their names: one at least, the default first.

    A law has its worst verdict. A cause that several variants show (the same root, and the same smallest case) stands
    there once, with the counterexample of the first; each counterexample names its variant.
    """
    results = {name: result for name, (result, _) in found.items()}
    first, every = next(iter(results.values())), [*results.values()]
    laws = tuple(_law([*zip(results, one, strict=True)]) for one in zip(*(one.laws for one in every), strict=True))
    causes, counterexamples = _causes(found)
    crashes = ((name, result.crash) for name, result in results.items() if result.crash is not None)
    crash = next((replace(how, variant=name) for name, how in crashes), None)
    if crash is not None and crash.variant is not None and (case := found[crash.variant][1].crash) is not None:
        counterexamples.crash = replace(case, variant=crash.variant)
    replayed: dict[str, tuple[str, ...]] = {}
    for name, broken in chain.from_iterable(one.replayed.items() for one in every):
        replayed[name] = tuple(dict.fromkeys((*replayed.get(name, ()), *broken)))
    whole = replace(
        first,
        laws=laws,
        causes=causes,
        summary=summary(laws),
        coverage=_coverage(every),
        cut=cut_of(every),
        incomplete=any(one.incomplete for one in every),
        crash=crash,
        floor=_floor(results),
        inferred=_shared([one.inferred for one in every]),
        replayed=replayed,
        timings={phase: round(sum(one.timings[phase] for one in every), 3) for phase in first.timings},
        variants=tuple(
            Variant(name, one.profile, one.summary, one.coverage, one.inferred, _verdicts(one))
            for name, one in results.items()
        ),
    )
    return whole, counterexamples


def _verdicts(result: Result) -> dict[str, Verdict]:
    return {law.law: law.verdict for law in result.laws}


def _law(found: Sequence[tuple[str, LawResult]]) -> LawResult:
    verdict = min((law.verdict for _, law in found), key=_WORST_FIRST.index)
    names = tuple(name for name, law in found if law.verdict == verdict)
    law = next(law for _, law in found if law.verdict == verdict)
    evidence = _evidence([one.evidence for _, one in found])
    if len(names) == len(found):
        return replace(law, evidence=evidence)
    why = None if law.why is None else f"{law.why} ({only(names)})"
    return replace(law, evidence=evidence, why=why, variants=names)


def _evidence(every: Sequence[Evidence]) -> Evidence:
    after: dict[str, int] = {}
    for one in every:
        for what, count in ({} if one.after is UNSET else one.after).items():
            after[what] = after.get(what, 0) + count
    return Evidence(sum(one.observed for one in every), sum(one.adapter for one in every), after or UNSET)


def _causes(found: Mapping[str, Verified]) -> tuple[tuple[CauseResult, ...], Counterexamples]:
    """The causes of all variants, each once, and the counterexamples that they name by new numbers."""
    causes: dict[bytes, CauseResult] = {}
    shown: dict[bytes, list[str]] = {}
    kept: dict[str, list[AnyCounterexample]] = {}
    for variant, (result, counterexamples) in found.items():
        for cause in result.causes:
            root = counterexamples.every[cause.root.law][cause.root.number - 1]
            key = msgspec.json.encode((cause.root.law, case_of(root)))
            shown.setdefault(key, []).append(variant)
            if key in causes:
                laws = dict.fromkeys((*causes[key].laws, *cause.laws))
                known = dict.fromkeys((*causes[key].known, *cause.known))
                causes[key] = replace(causes[key], laws=tuple(laws), known=tuple(known))
                have = {one.law for one in causes[key].failures}
            else:
                causes[key], have = replace(cause, failures=()), set[str]()
            for failure in cause.failures:
                if failure.law not in have:
                    files = kept.setdefault(failure.law, [])
                    files.append(replace(counterexamples.every[failure.law][failure.number - 1], variant=variant))
                    more = (*causes[key].failures, replace(failure, number=len(files)))
                    causes[key] = replace(causes[key], failures=more)
    some = (
        cause if len(shown[key]) == len(found) else replace(cause, variants=tuple(shown[key]))
        for key, cause in causes.items()
    )
    return tuple(some), Counterexamples(kept)


def _floor(results: Mapping[str, Result]) -> tuple[FloorItem, ...]:
    """Each item with the count of all variants; one that some variant misses with that variant's name."""
    items: dict[tuple[str, bool], dict[str, int]] = {}
    for name, result in results.items():
        for item in result.floor:
            items.setdefault((item.what, item.declared), {})[name] = item.count
    return tuple(chain.from_iterable(_items(*key, counts) for key, counts in items.items()))


def _items(what: str, declared: bool, counts: Mapping[str, int]) -> Iterator[FloorItem]:  # noqa: FBT001
    missing = [name for name, count in counts.items() if not count]
    if len(missing) < len(counts):
        yield FloorItem(what, sum(counts.values()), declared)
        yield from (FloorItem(f"{what} (in {name})", 0, declared) for name in missing)
    else:
        yield FloorItem(what, 0, declared)


def _coverage(every: Sequence[Result]) -> Covered:
    whole: Covered = {**every[0].coverage}
    for figure in _COUNTS:
        if figure in whole:
            whole[figure] = sum(one.coverage.get(figure, 0) for one in every)
    return whole


def _shared(every: Sequence[Mapping[str, _T]]) -> dict[str, _T]:
    return {name: value for name, value in every[0].items() if all(one.get(name) == value for one in every)}
