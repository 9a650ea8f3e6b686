"""docs/kills.json, which has the outcome of each runtime, and the tables of docs/kills.md, which are made of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from .outcome import Outcome

DOCS = Path(__file__).parents[3] / "docs"
DATA, PAGE = DOCS / "kills.json", DOCS / "kills.md"
BEGIN, END = "<!-- figures -->\n", "<!-- /figures -->\n"


def write(outcome: Outcome) -> None:
    """Put *outcome* in the place of its runtime's last one, and write both files."""
    there = {one.target: one for one in read()} | {outcome.target: outcome}
    DATA.write_bytes(msgspec.json.format(msgspec.json.encode([*there.values()]), indent=1) + b"\n")
    head, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(head + BEGIN + figures(read()) + END + rest.partition(END)[2], "utf-8")


def read() -> list[Outcome]:
    """Return the outcomes in docs/kills.json."""
    return msgspec.json.decode(DATA.read_bytes(), type=list[Outcome]) if DATA.exists() else []


def figures(outcomes: Sequence[Outcome]) -> str:
    """Return the tables."""
    head = "| runtime | words | stimuli | different beginnings | kills | processor |\n"
    head += "| --- | --: | --: | --: | --: | --: |\n"
    rows = "".join(
        f"| {one.target} | {one.words:,} | {one.stimuli:,} | {one.beginnings:,} | {one.kills:,} "
        f"| {one.seconds / 60:.0f} min |\n"
        for one in outcomes
    )
    return head + rows + "\n" + _laws(outcomes) + "\n" + "".join(_findings(outcomes))


def _laws(outcomes: Sequence[Outcome]) -> str:
    """Return for each law how often it could have been broken, and at how many beginnings it was."""
    laws = list(dict.fromkeys(law for one in outcomes for law in one.evidence))
    head = f"| law | {' | '.join(one.target for one in outcomes)} |\n| --- |{' --: |' * len(outcomes)}\n"
    return head + "".join(f"| {law} | {' | '.join(_cell(one, law) for one in outcomes)} |\n" for law in laws)


def _cell(outcome: Outcome, law: str) -> str:
    if law not in outcome.evidence:
        return "skipped"
    found = sum(one.beginnings for one in outcome.findings if one.law == law)
    return f"{outcome.evidence[law]:,} times{f', {found:,} findings' if found else ''}"


def _findings(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "| runtime | law | finding | beginnings | shortest |\n| --- | --- | --- | --: | --- |\n"
    for outcome in outcomes:
        for one in sorted(outcome.findings, key=lambda found: (found.law, -found.beginnings)):
            kinds = [str(msgspec.to_builtins(stimulus)["kind"]) for stimulus in one.shortest.stimuli]
            yield f"| {outcome.target} | {one.law} | {one.message} | {one.beginnings} | {', '.join(kinds)} |\n"
