"""docs/broken.md from docs/broken.json: clause by clause, what was broken and which test noticed it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from broken.breaks import ROOT, breaks
from turncheck.model.clauses import catalogue

FIGURES: Final = ROOT / "docs/broken.json"
PAGE: Final = ROOT / "docs/broken.md"


def page(figures: Mapping[str, Any] | None = None) -> str:
    """Return the page of *figures*, by default those that were measured last."""
    figures = json.loads(FIGURES.read_text("utf-8")) if figures is None else figures
    return "\n".join([*_head(figures), *_rows(figures), "", *_rest(figures["noticed"]), ""])


def _head(figures: Mapping[str, Any]) -> Iterator[str]:
    yield "# Each clause broken once\n"
    yield "`make broken` breaks one clause after the other in a copy of the tree, and runs tests until one fails."
    yield "An edit breaks our own references, machines or laws; the test that fails first is named. The edits are in"
    yield f"`tests/teeth/broken/breaks.toml`. Measured on {figures['machine']}.\n"
    missed = [name for name, test in figures["noticed"].items() if test is None]
    all_ = len(catalogue())
    yield f"{len(figures['noticed'])} of {all_} clauses are broken; {len(missed)} of these breaks are unnoticed.\n"
    yield "| commit | clauses measured at it |"
    yield "| --- | ---: |"
    yield from (f"| {commit} | {count} |" for commit, count in Counter(figures["at"].values()).most_common())
    yield ""


def _rows(figures: Mapping[str, Any]) -> Iterator[str]:
    noticed: Mapping[str, str | None] = figures["noticed"]
    yield "| clause | what is broken | in | noticed by | at |"
    yield "| --- | --- | --- | --- | --- |"
    for one in breaks():
        if one.clause not in noticed:
            continue
        by = noticed[one.clause]
        at, _, _ = figures["at"][one.clause].partition(",")
        yield f"| {one.clause} | {one.says} | `{one.file}` | {'nothing' if by is None else f'`{by}`'} | {at} |"


def _rest(noticed: Mapping[str, str | None]) -> Iterator[str]:
    review = [name for name, clause in catalogue().items() if clause.judged == "review"]
    yield f"No law judges {', '.join(review)}: what these ask is in the text of the references, and tests look there."
    if left := [name for name in catalogue() if name not in noticed]:
        yield f"\nNot broken yet: {', '.join(left)}."
