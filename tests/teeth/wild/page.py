"""docs/wild.json, which has the fate of each mutant that changes something, and docs/wild.md, which is made of it."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from wild.outcome import STILLBORN, SURVIVED, TOLD, UNSEEN, Measured, Outcome

ROOT = Path(__file__).parents[3]
DATA, PAGE = ROOT / "docs" / "wild.json", ROOT / "docs" / "wild.md"
COLUMNS = ("law", "floor", "error", "unsettled", "survived")
SAID = {
    "floor": "the evidence floor is missed",
    "error": "the adapter raises, or its process breaks",
    "unsettled": "three words get no quiet, which ends the run",
    "survived": "no law is broken",
}


class Reasons:
    """The reasons in reasons.toml; *text* in its place is for tests."""

    def __init__(self, text: str | None = None) -> None:
        found = tomllib.loads(text or Path(__file__).with_name("reasons.toml").read_text("utf-8"))
        self.known: Sequence[Mapping[str, Any]] = found.get("mutant", ())

    def of(self, one: Outcome) -> str | None:
        """Return why no law tells a mutant; None where that is not known."""
        change = f"{one.before} → {one.after}"
        return next(
            (
                str(known["reason"])
                for known in self.known
                if (known["runtime"], known["file"]) == (one.runtime, one.file)
                and any(re.fullmatch(pattern, change) for pattern in known["change"])
            ),
            None,
        )


def write(measured: Sequence[Measured]) -> list[str]:
    """Write both files; return the mutants that no law tells and that have no reason."""
    DATA.write_bytes(msgspec.json.format(msgspec.json.encode([one.seen() for one in measured]), indent=1) + b"\n")
    text, missing = page(measured, Reasons())
    PAGE.write_text(text, "utf-8")
    return missing


def page(measured: Sequence[Measured], reasons: Reasons) -> tuple[str, list[str]]:
    """Return the page, and what has no reason."""
    rest = [one for runtime in measured for one in runtime.outcomes if one.fate in COLUMNS and one.fate != "law"]
    missing = [
        f"no reason: {one.runtime} {one.file}:{one.line}: {one.before} → {one.after}"
        for one in rest
        if reasons.of(one) is None
    ]
    head = Path(__file__).with_name("head.md").read_text("utf-8")
    parts = [head, "\n", _table(measured), "\n", *(_laws(one) for one in measured), "\n## Told by no law\n\n"]
    parts.append("Each was looked at.\n" if not missing else f"{len(missing)} of them were not looked at yet.\n")
    for fate in COLUMNS[1:]:
        group = [one for one in rest if one.fate == fate]
        if group:
            parts.append(f"\n### {SAID[fate].capitalize()}\n\n")
            parts += [_one(one, reasons.of(one)) for one in group]
    return "".join(parts), missing


def _table(measured: Sequence[Measured]) -> str:
    titles = ("tried", "does not start", "nothing differs", "observable", *COLUMNS, "told by a law", "noticed")
    lines = [f"| runtime | {' | '.join(titles)} |", "| --- |" + " --: |" * len(titles)]
    for one in measured:
        fates = one.fates
        seen = sum(fates[fate] for fate in COLUMNS)
        shares = [f"{part / seen:.0%}" if seen else "-" for part in (fates["law"], seen - fates[SURVIVED])]
        figures = (sum(fates.values()), fates[STILLBORN], fates[UNSEEN], seen, *(fates[fate] for fate in COLUMNS))
        lines.append(f"| {one.runtime} | {' | '.join(map(str, (*figures, *shares)))} |")
    return "\n".join(lines) + "\n"


def _laws(measured: Measured) -> str:
    laws = Counter(one.law for one in measured.outcomes if one.law)
    by = Counter(one.by for one in measured.outcomes if one.law)
    told = ", ".join(f"`{law}` {count}" for law, count in laws.most_common())
    took = ", ".join(f"{by[words]} by {said}" for words, said in TOLD.items() if by[words])
    own = ", ".join(f"`{law}`" for law in measured.failed) or "none"
    tools = ", ".join(f"{name} {version}" for name, version in measured.versions.items())
    return (
        f"**{measured.runtime}**: seed {measured.seed}, commit {measured.commit}, {tools}; {measured.mutants:,} "
        f"mutants in the lines that its {measured.words} words come by. Told {took}: {told}. "
        f"Laws that it fails unchanged: {own}.\n\n"
    )


def _one(one: Outcome, reason: str | None) -> str:
    change = " → ".join(f"`{_short(text)}`" for text in (one.before, one.after))
    why = f" ({one.why})" if one.why and one.fate != "error" else ""
    where = f"{one.runtime}, {one.file}:{one.line}, {one.definition}"
    return f"- {where}: {change}{why}. {reason or '**Not explained.**'}\n"


def _short(line: str) -> str:
    text = (line or "(nothing)").replace("`", "'").replace("|", "¦")
    return text if len(text) <= 120 else f"{text[:119]}…"
