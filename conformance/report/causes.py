"""The causes of failures in words: how many there are, which laws each breaks, and the laws in their order.

The root of a cause is its smallest counterexample: mend that first, and look at what is left.
"""

from ..verify.outcome.results import CauseResult, LawResult, Result, only


def counted_causes(result: Result) -> str:
    """Count causes and the laws that they break: ``1 cause, 4 laws``; empty without a failure."""
    laws = {law for cause in result.causes for law in cause.laws}
    return f"{_several(len(result.causes), 'cause')}, {_several(len(laws), 'law')}" if laws else ""


def cause_line(result: Result, place: int) -> str:
    """Name the laws of the cause at *place*, the root first: ``cause 1 of 2: run-ends-once, and so order``."""
    root, *rest = result.causes[place].laws
    so = f", and so {', '.join(rest)}" if rest else ""
    variants = result.causes[place].variants
    return f"cause {place + 1} of {len(result.causes)}: {root}{so}{f' ({only(variants)})' if variants else ''}"


def cause_of(result: Result, law: LawResult) -> str:
    """Say to which cause a law's failure belongs, and which others it has; empty for one that did not fail."""
    place = result.cause_of(law.law)
    if place is None:
        return ""
    cause = result.causes[place]
    root = "" if cause.root.law == law.law else f", whose root is {cause.root.law}"
    more = [str(other + 1) for other, one in enumerate(result.causes) if other != place and _has(one, law.law)]
    others = f"; it shows cause {', '.join(more)} too" if more else ""
    return f"cause {place + 1} of {len(result.causes)}{root}{others}"


def by_cause(result: Result) -> list[LawResult]:
    """Return the laws with those that failed first: by cause, the root of each before its others."""
    roots = [cause.root.law for cause in result.causes]
    rest = [law for cause in result.causes for law in cause.laws]
    order = {law: place for place, law in enumerate(dict.fromkeys([*roots, *rest]))}
    return sorted(result.laws, key=lambda law: order.get(law.law, len(order)))


def _has(cause: CauseResult, law: str) -> bool:
    return any(one.law == law for one in cause.failures)


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
