"""One result of several variants of a target: what all show, and what only some do."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from .outcome.results import (
    AnyCounterexample,
    CauseResult,
    Counterexamples,
    Covered,
    Evidence,
    FloorItem,
    LawResult,
    Result,
    Variant,
    Verdict,
    case_of,
    only,
    summary,
)

Verified: TypeAlias = tuple[Result, Counterexamples]

_WORST_FIRST: Final[tuple[Verdict, ...]] = ("fail", "error", "inconclusive", "pass", "skipped")
"""Of several verdicts on one law the first counts. What one variant leaves open is open; what it lacks, others have."""
_COUNTS: Final = ("logs", "events", "words", "stimuli", "unsettled", "flows", "frames")
_T = TypeVar("_T")


def joined(found: Mapping[str, Verified]) -> Verified:
    """Join the results of the variants of one target, by their names: one at least, the default first.

    A law has its worst verdict. A cause that several variants show (the same root, and the same smallest case) stands
    there once, with the counterexample of the first; each counterexample names its variant.
    """
    results = {name: result for name, (result, _) in found.items()}
    first, every = next(iter(results.values())), [*results.values()]
    laws = tuple(_law([*zip(results, one, strict=True)]) for one in zip(*(one.laws for one in every), strict=True))
    causes, counterexamples = _causes(found)
    crashed = next((name for name, result in results.items() if result.crash is not None), None)
    if crashed is not None and (crash := found[crashed][1].crash) is not None:
        counterexamples.crash = replace(crash, variant=crashed)
    replayed: dict[str, tuple[str, ...]] = {}
    for name, broken in chain.from_iterable(one.replayed.items() for one in every):
        replayed[name] = tuple(dict.fromkeys((*replayed.get(name, ()), *broken)))
    whole = replace(
        first,
        laws=laws,
        causes=causes,
        summary=summary(laws),
        coverage=_coverage(every),
        cut=next((one.cut for one in every if one.cut), None),
        incomplete=any(one.incomplete for one in every),
        crash=None if crashed is None else results[crashed].crash,
        floor=_floor(results),
        inferred=_shared([one.inferred for one in every]),
        replayed=replayed,
        timings={phase: round(sum(one.timings[phase] for one in every), 3) for phase in first.timings},
        variants=tuple(
            Variant(name, one.profile, one.summary, one.coverage, one.inferred) for name, one in results.items()
        ),
    )
    return whole, counterexamples


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
