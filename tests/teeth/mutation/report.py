"""docs/mutation.md, made of the outcomes of a run."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from mutation.judge import EXAMPLES, ROOT, STILLBORN, SURVIVED
from mutation.plan import Outcome, Plan

PAGE = ROOT / "docs" / "mutation.md"


def page(outcomes: Sequence[Outcome], plan: Plan) -> tuple[str, list[str]]:
    """Return the page and its open points: survivors without a reason, and reasons without survivors."""
    survivors = [one for one in outcomes if one.fate == SURVIVED]
    bare = [one for one in survivors if plan.reason(one) is None]
    counted = [(known, sum(plan.fits(known, one) for one in survivors)) for known in plan.survivors]
    missing = [
        f"no reason: {one.mutant.module}:{one.mutant.line} {one.mutant.definition}: {one.before} → {one.after}"
        for one in bare
    ]
    missing += [
        f"{count} survivors, not {known['times']}: {known['change']}"
        for known, count in counted
        if count != known["times"]
    ]
    parts = [
        Path(__file__).with_name("head.md").read_text("utf-8").format(**_figures(outcomes, plan)),
        "\n",
        _table("module", outcomes, lambda one: one.mutant.module),
        "\n",
        _table("operator", outcomes, lambda one: _family(one.mutant.operator)),
        "\n## Found by\n\n",
        _found_by(outcomes),
        "\n## Not mutated\n\n",
        *(
            f"- `{name.partition(':')[2]}` in {name.partition(':')[0]}.py: {why}.\n"
            for name, why in plan.unseen().items()
        ),
        "\n## The survivors\n\nEach was looked at.\n\n",
        _survivors(survivors, plan),
    ]
    return "".join(parts), missing


def _place(one: Outcome) -> str:
    return f"{one.mutant.module}:{one.mutant.line}"


def _figures(outcomes: Sequence[Outcome], plan: Plan) -> dict[str, object]:
    alive = [one for one in outcomes if one.fate != STILLBORN]
    survivors = [one for one in alive if one.fate == SURVIVED]
    equal = sum(plan.equal(one) for one in survivors)
    noticed = len(alive) - len(survivors)
    return {
        "alive": len(alive),
        "noticed": noticed,
        "equal": equal,
        "rest": len(survivors) - equal,
        "share": noticed / max(len(alive), 1),
        "differing": noticed / max(len(alive) - equal, 1),
        "examples": EXAMPLES,
    }


def _table(title: str, outcomes: Sequence[Outcome], key: Callable[[Outcome], str]) -> str:
    rows = defaultdict[str, Counter[str]](Counter)
    for one in outcomes:
        rows[key(one)][_column(one.fate)] += 1
        rows["**all**"][_column(one.fate)] += 1
    lines = [
        f"| {title} | mutants | does not start | found by a law | hangs, dies, rubbish | survived | noticed |",
        "| --- |" + " --: |" * 6,
    ]
    for name in sorted(rows, key=lambda name: (name == "**all**", name)):
        row = rows[name]
        alive = sum(row.values()) - row["still"]
        share = f"{1 - row['survived'] / alive:.1%}" if alive else "-"
        counts = (sum(row.values()), row["still"], row["law"], row["broke"], row["survived"])
        lines.append(f"| {' | '.join((name, *(f'{count:,}' for count in counts), share))} |")
    return "\n".join(lines) + "\n"


def _column(fate: str) -> str:
    return {SURVIVED: "survived", STILLBORN: "still"}.get(fate, "broke" if fate.startswith("broke") else "law")


def _found_by(outcomes: Sequence[Outcome]) -> str:
    laws = Counter(one.fate for one in outcomes if _column(one.fate) == "law")
    told = ", ".join(f"{law} {count:,}" for law, count in laws.most_common())
    return f"The law that is told, the first in the registry's order where several break: {told}.\n"


def _survivors(survivors: Sequence[Outcome], plan: Plan) -> str:
    groups = defaultdict[tuple[str, str], dict[tuple[str, str], list[int]]](lambda: defaultdict(list))
    for one in survivors:
        where = f"{one.mutant.module}.py, {one.mutant.definition or 'top'}"
        groups[where, plan.reason(one) or "**not explained**"][one.before, one.after].append(one.mutant.line)
    lines: list[str] = []
    for (where, reason), changes in groups.items():
        lines.append(f"**{where}**: {reason}\n\n")
        for (before, after), places in changes.items():
            lines.append(f"- `{_short(before)}` → `{_short(after)}` in line {', '.join(map(str, sorted(places)))}\n")
        lines.append("\n")
    return "".join(lines).rstrip("\n") + "\n"


def _short(line: str) -> str:
    return (line or "(nothing)").replace("`", "'")


def _family(operator: str) -> str:
    return operator.rpartition("/")[2].partition("_")[0]
