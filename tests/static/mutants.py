"""docs/mutants.md from docs/mutants.json, which `make mutants` writes: what finds which edited row."""

import argparse
import datetime as dt
import json
import time
from pathlib import Path
from typing import Any, Final

import msgspec

from turncheck.conformance.mutation.running import run
from turncheck.model.claims import CLAIMS

ROOT: Final = Path(__file__).parents[2]
FIGURES: Final = ROOT / "docs/mutants.json"
PAGE: Final = ROOT / "docs/mutants.md"
_METHODS: Final = ("tour", "k=0", "k=1", "hypothesis", "verify")
_HEAD: Final = """\
# Mutants: what finds an edited row

Each machine's rows are edited, one edit a mutant: another target, another output, a missing row, one that stands in
front of it and does nothing, a guard negated, an effect dropped, doubled, or exchanged with the next. *First-order*
mutants are wrong from the start; *hidden-state* ones are right when the row is taken first, and wrong from then on.
Mutants that no word tells from the machine, within its bounds, are equivalent: bisimulation finds them, and they count
nowhere. Generation sees the rows and which of them it has taken, never a mutant.

- **tour**: every transition once, the baseline.
- **k=0**, **k=1**: the n-complete HSI suites ([suites](suites.md)), each word followed by a probe of what was left
  behind; k=1 also takes each row once more in every state.
- **hypothesis**: 300 generated words under each table, in the machine's own alphabet.
- **verify**: the rows run as an implementation, `request_cycle` as a projector and `interaction` as a runtime, judged
  by the laws at the default budget. Rows of `interaction` about what nobody awaits cannot be caused from outside.

`make mutants` writes the figures of one seed, `make mutants SEEDS=10` those of ten: median, and the least in brackets.

"""

_WHY: Final = """
## Why some survive

- **k=0 and hidden-state mutants**: what shows only after a first visit is beyond its promise; that is what k=1 is for.
- **hypothesis**: a row that ignores an event, wrong from the second time on, wants the same useless event twice in one
  state and a look afterwards; 300 words do not always bring it.
- **verify on `request_cycle`**: some outputs do not show in a projection. `observe` and `wait` ask for nothing; what is
  appended is the event, whatever the output is called; opening a cycle twice replaces one that is empty; anomalies are
  told in the order of their positions, so that closing before remarking is the same; nothing comes after `log-end`.
- **verify on `interaction`**: what only the machine's invariants forbid does not show outside (`rest`, what is cleared
  and never looked at again); and no generated word reaches the second visit of a rare row under each of its policies,
  since `verify` runs the rows under the policies that the reference declares, and the mutants are of all of them.
"""


def page() -> str:
    """The page."""
    figures = json.loads(FIGURES.read_bytes())
    reports: list[dict[str, Any]] = figures["machines"]
    return (
        _HEAD + str(figures["measured"]) + "\n" + _rates(reports) + "\n" + _laws(reports) + _WHY + _survivors(reports)
    )


def _rates(reports: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for hidden, title in ((False, "First-order"), (True, "Hidden-state")):
        lines += [
            "",
            f"## {title} mutants killed",
            "",
            f"| machine | mutants | {' | '.join(_METHODS)} |",
            "| --- |" + " ---: |" * 6,
        ]
        for report in reports:
            rates = {rate["method"]: rate for rate in report["rates"] if rate["hidden"] == hidden}
            cells = [_cell(rates.get(method), report) for method in _METHODS]
            lines.append(f"| {report['machine']} | {rates['k=0']['mutants']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(rate: dict[str, Any] | None, report: dict[str, Any]) -> str:
    if rate is None:
        return ""
    share = 100 * rate["killed"] / rate["mutants"] if rate["mutants"] else 100.0
    least = 100 * rate["least"] / rate["mutants"] if rate["mutants"] else 100.0
    told = (
        f"{share:.1f} %"
        if len(report["seeds"]) == 1 or rate["method"] in {"tour", "k=0", "k=1"}
        else f"{share:.1f} % ({least:.1f})"
    )
    return told if rate["mutants"] == _all(report, hidden=rate["hidden"]) else f"{told} of {rate['mutants']}"


def _all(report: dict[str, Any], *, hidden: bool) -> int:
    return next(
        int(rate["mutants"]) for rate in report["rates"] if rate["method"] == "k=0" and rate["hidden"] == hidden
    )


def _laws(reports: list[dict[str, Any]]) -> str:
    lines = [
        "",
        "## Law by mutant",
        "",
        "How many mutants break a law (on what `verify` begins with, else on what first kills), and no other.",
        "",
    ]
    lines += ["| law | machine | mutants | it alone |", "| --- | --- | ---: | ---: |"]
    for report in reports:
        lines += [f"| {law['law']} | {report['machine']} | {law['kills']} | {law['alone']} |" for law in report["laws"]]
    return "\n".join(lines) + "\n"


def _survivors(reports: list[dict[str, Any]]) -> str:
    lines = ["", "## Survivors", ""]
    for report in reports:
        counted: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for one in report["survivors"]:
            counted.setdefault((report["machine"], one["method"]), []).append(one)
        for (machine, method), some in counted.items():
            lines += [f"<details><summary>{machine}, {method}: {len(some)}</summary>", ""]
            lines += [f"- `{one['row']}`: {one['edit']}; told apart by {', '.join(one['word'])}" for one in some]
            lines += ["", "</details>", ""]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Look at every mutant of every machine, and write the figures and the page."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    seeds = range(parser.parse_args().seeds)
    started = time.monotonic()
    reports: list[Any] = []
    for machine in CLAIMS:
        report = run(machine, seeds=seeds)
        reports.append(msgspec.to_builtins(msgspec.structs.replace(report, broken={})))
        print(f"{machine}: {time.monotonic() - started:.0f} s so far", flush=True)
    minutes = (time.monotonic() - started) / 60
    write(reports, f"Measured on {dt.datetime.now(dt.UTC):%Y-%m-%d}, {len(seeds)} seeds, in {minutes:.0f} minutes.")


def write(reports: list[Any], measured: str) -> None:
    """Write the figures and the page."""
    FIGURES.write_text(json.dumps({"measured": measured, "machines": reports}, indent=1) + "\n")
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
