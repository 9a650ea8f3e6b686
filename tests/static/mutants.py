"""docs/mutants.md from docs/mutants.json, which `make rates` writes: what finds which edited row."""

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from turncheck.conformance.automata.mutation.killing import K0, K1, LARGEST, PLAIN0, PLAIN1, SAMPLED, TOUR
from turncheck.conformance.automata.mutation.report import HYPOTHESIS, VERIFY
from turncheck.conformance.automata.mutation.running import run
from turncheck.conformance.laws.registry import selected
from turncheck.model.automata.mutants import OPERATORS
from turncheck.model.machines.registry import PROOF_ROLES

ROOT: Final = Path(__file__).parents[2]
FIGURES: Final = ROOT / "docs/mutants.json"
PAGE: Final = ROOT / "docs/mutants.md"
_METHODS: Final = (TOUR, PLAIN0, PLAIN1, K0, K1, HYPOTHESIS, VERIFY)
_HEAD: Final = f"""\
# Mutants: what finds an edited row

Each machine's rows are edited, one edit a mutant: another target, another output, a missing row, one that stands in
front of it and does nothing, a guard negated, an effect dropped, doubled, or exchanged with the next. *First-order*
mutants are wrong from the start; *hidden-state* ones are right when the row is taken first, and wrong from then on.
Mutants that no word tells from the machine, within its bounds, are equivalent: bisimulation finds them, and they count
nowhere. Generation sees the rows and which of them it has taken, never a mutant.

- **tour**: every transition once, the baseline.
- **plain k=0**, **plain k=1**: the n-complete HSI suites as `verify --suite n-complete` applies them
  ([suites](suites.md)). They promise something for machines of at most *n+k* states, and an edited row can have more: a
  hidden mutant has up to twice as many as the machine. Plain k=1 is tried on one mutant in {SAMPLED}, and not in views
  over {LARGEST} states, for which it has some two million words.
- **k=0**, **k=1**: the same with words *aimed at the edited row*, which no user of a suite has. To k=0: each word is
  followed by a probe that sees every kind of reaction, and the mutant's row goes straight to each of them from every
  state, with whatever its registers hold. To k=1: the row is taken once more in every state. Of views over
  {LARGEST} states k=1 has these words alone.
- **hypothesis**: 300 generated words under each table, in the machine's own alphabet, after the words to every row.
- **verify**: the rows run as an implementation, `request_cycle` as a projector and `interaction` as a runtime under the
  policies that show the edit, judged by the laws at the default budget. Rows of `interaction` about what nobody awaits
  cannot be caused from outside.

A machine is looked at under so many of its policies' values that any two of them meet.

`turncheck mutants` prints this for one seed, every tenth mutant judged by `verify`. `make rates` writes this page: over
several seeds (median, and the least in brackets), all judged by `verify` under the first. Where only some mutants were
tried, the table says so: 84 of 320.

"""

_WHY: Final = """
## Why some survive

- **k=0 and hidden-state mutants**: what shows only after a first visit is beyond its promise; that is what k=1 is for.
- **hypothesis**: a row that ignores an event, wrong from the second time on, wants the same useless event twice in one
  state and a look afterwards; 300 words do not always bring it.
- **verify on `request_cycle`**: some outputs do not show in a projection. `observe` and `wait` ask for nothing; what is
  appended is the event, whatever the output is called; opening a cycle twice replaces one that is empty; anomalies are
  told in the order of their positions, so that closing before remarking is the same; nothing comes after `log-end`.
- **verify on `interaction`**: some outputs do not show outside. A tool that is started twice under one name runs
  once, and a refusal is one; what is ignored is ignored or refused whatever the row; `accept` and `open` are one
  answer; what a made-up result says (`cut` or a failure) and how a text is passed on (`say`, `call`) is the shell's;
  a response that is tried again has no calls left to skip; to read steers twice reads nothing more; `compacting` with
  nothing to sum up is `idle` to everybody until the next `compact`. A counter of retries that is not begun anew
  (`first_try`) shows after three failures in one run, and rows about an abort, once more with steers and calls that
  wait: 300 words do not always come there. Of the ten hidden mutants of rows about a client that leaves, six are told
  since the only client leaves twice in directed words, which came after this measurement; the other four show nowhere.
"""

MEASURED_BY: Final = "0.1"
"""The version whose laws the figures are of."""
_SHOWN: Final = 80
"""Survivors of one method that the page names."""
_BESIDE: Final = "a relation of two runs of one implementation: edited rows are as deterministic as the right ones"
_NEVER: Final = (
    "rows cannot break it: the shell around them (ids, processes, observers, options) does what it speaks of"
)
_LARGER: Final = "whatever row breaks it breaks a law that says more about the same step; it names the fault"
_LATER: Final = "it is newer than this measurement"
_ELSEWHERE: Final = "no row decides it, so that no edited one breaks it"
_REASONS: Final = {
    "deterministic": _BESIDE,
    "hash-seed": _BESIDE,
    "run-deterministic": _BESIDE,
    "run-hash-seed": _BESIDE,
    "input-untouched": _NEVER,
    "opaque-ids": _BESIDE,
    "opaque-texts": _BESIDE,
    "run-opaque": _BESIDE,
    "boundary-equivalence": _BESIDE,
    "run-boundary-equivalence": _BESIDE,
    "slow-consumer-same": _NEVER,
    "observer-isolated": _NEVER,
    "capabilities-honest": _NEVER,
    "malformed-never-executes": _NEVER,
    "rounds-bounded": "the machine declares no bound",
    "equals-reference": "it looks at everything, and is no other law to anyone",
    "equals-machine": "it looks at everything, and is no other law to anyone",
}
"""Why a law is broken alone by no mutant; one that is not named here has the reason of ``_LARGER``, or ``_ELSEWHERE``.

Each has a double in tests/conformance, or an exhibit in tests/teeth/museum, that breaks it."""


def page() -> str:
    """The page."""
    figures = json.loads(FIGURES.read_bytes())
    reports: list[dict[str, Any]] = figures["machines"]
    return _HEAD + _measured(reports) + "\n" + _rates(reports) + "\n" + _laws(reports) + _WHY + _survivors(reports)


def _measured(reports: list[dict[str, Any]]) -> str:
    lines = [
        "| machine | measured at | on | mutants tried | seeds | minutes |",
        "| --- | --- | --- | ---: | ---: | ---: |",
    ]
    for one in reports:
        told: dict[str, Any] = one["measured"]
        tried = "all" if told["every"] == 1 else f"one in {told['every']}"
        at = f"{told['commit']}, {told['date']}"
        lines.append(f"| {one['machine']} | {at} | {told['on']} | {tried} | {len(one['seeds'])} | {told['minutes']} |")
    return "\n".join(lines)


def _rates(reports: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for hidden, title in ((False, "First-order"), (True, "Hidden-state")):
        lines += [
            "",
            f"## {title} mutants killed",
            "",
            f"| machine | mutants | {' | '.join(_METHODS)} |",
            "| --- |" + " ---: |" * (len(_METHODS) + 1),
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
        if len(report["seeds"]) == 1 or rate["method"] not in {HYPOTHESIS, VERIFY}
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
        "How many mutants break a law, by operator; of those that all laws judged, how many break it alone, but",
        "for laws that look at everything (`equals-reference`, `equals-machine`). What survives the words and logs",
        "that every run begins with is judged until its first law breaks.",
    ]
    for report in reports:
        if report["laws"]:
            lines += ["", f"### {report['machine']}", "", f"| law | mutants | {' | '.join(OPERATORS)} | alone |"]
            lines += ["| --- | ---: |" + " ---: |" * (len(OPERATORS) + 1)]
            for law in report["laws"]:
                counts = [str(law["operators"].get(operator, "")) for operator in OPERATORS]
                lines.append(f"| {law['law']} | {law['kills']} | {' | '.join(counts)} | {law['alone'] or ''} |")
    return "\n".join([*lines, *_reasons(reports)]) + "\n"


def _reasons(reports: list[dict[str, Any]]) -> list[str]:
    """Why the others are broken alone by no mutant."""
    alone = {law["law"] for report in reports for law in report["laws"] if law["alone"]}
    every = selected(["projector", "runtime"])
    laws = [law.name for law in every if law.name not in {*alone, "equals-model"}]
    newer = {law.name for law in every if law.since != MEASURED_BY}
    broken = {law["law"] for report in reports for law in report["laws"]}
    told: dict[str, list[str]] = {}
    for law in laws:
        told.setdefault(
            _REASONS.get(law) or (_LARGER if law in broken else _LATER if law in newer else _ELSEWHERE), []
        ).append(law)
    lines = [f"- {', '.join(f'`{law}`' for law in some)}: {reason}." for reason, some in told.items()]
    head = (
        f"Alone broken by some mutant are {len(alone)} laws. The others have each a wrong implementation of their own:"
    )
    return ["", head, "", *lines]


def _survivors(reports: list[dict[str, Any]]) -> str:
    lines = ["", "## Survivors", ""]
    for report in reports:
        counted: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for one in report["survivors"]:
            counted.setdefault((report["machine"], one["method"]), []).append(one)
        for (machine, method), some in counted.items():
            lines += [f"<details><summary>{machine}, {method}: {len(some)}</summary>", ""]
            lines += [
                f"- `{one['row']}`: {one['edit']}; told apart by {', '.join(one['word'])}" for one in some[:_SHOWN]
            ]
            lines += [f"- and {len(some) - _SHOWN} more of these kinds, in mutants.json"] if len(some) > _SHOWN else []
            lines += ["", "</details>", ""]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Look at the mutants of some machines, by default of all, and write the figures and the page; others stay."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="one mutant in so many")
    parser.add_argument("--jobs", type=int, help="processes; as many as processors")
    parser.add_argument("machines", nargs="*", choices=[[], *PROOF_ROLES], default=[])
    asked = parser.parse_args()
    for machine in asked.machines or PROOF_ROLES:
        started = time.monotonic()
        report = run(machine, seeds=range(asked.seeds), every=asked.every, jobs=asked.jobs)
        minutes = round((time.monotonic() - started) / 60)
        told = msgspec.to_builtins(msgspec.structs.replace(report, broken={}))
        keep({**told, "measured": {**_here(), "every": asked.every, "minutes": minutes}})
        print(f"{machine}: {minutes} min", flush=True)


def _here() -> dict[str, str]:
    ask = ["git", "log", "-1", "--format=%h"]
    commit = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    on = f"CPython {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return {"commit": commit, "date": f"{dt.datetime.now(dt.UTC):%Y-%m-%d}", "on": on}


def keep(report: dict[str, Any]) -> None:
    """Write the figures with a machine's *report* in them, and the page."""
    old: list[dict[str, Any]] = json.loads(FIGURES.read_bytes())["machines"]
    found = {one["machine"]: one for one in (*old, report)}
    write([found[name] for name in PROOF_ROLES if name in found])


def write(reports: Sequence[dict[str, Any]]) -> None:
    """Write the figures and the page."""
    FIGURES.write_text(json.dumps({"machines": reports}, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
