"""The sizes and times of n-complete suites, in docs/suites.md between its marks: `make suites`; a test holds some.

MACHINE="name name" measures some rows, the others stay as they were. Each row names the commit that it was measured at.
"""

import subprocess
import sys
import time
from pathlib import Path

from turncheck.adapters.references.registry import REFERENCES, reference_runtime
from turncheck.conformance.automata.learn.abstraction import Bounds, letter_named, letters_of
from turncheck.conformance.automata.n_complete.reference import model_of
from turncheck.conformance.automata.n_complete.run import METHODS, Plan, sent, verify_suite
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.engine import Options
from turncheck.conformance.verify.subjects.subject import HASH_SEED
from turncheck.model.automata.finite import bounded, views
from turncheck.model.automata.mealy import flattened
from turncheck.model.automata.suites import SUITES
from turncheck.model.machines.registry import PROOF_ROLES

PAGE = Path(__file__).parents[2] / "docs" / "suites.md"
BEGIN, END = "<!-- sizes -->\n", "<!-- /sizes -->\n"
MIDDLES = 100_000
"""Words of letters after the states' accesses, beyond which no suite is built for the page."""
TURN = [*map(letter_named, ("user red", "text", "tool-call", "model-stop", "fatal-failure", "tool-return"))]
"""The letters for the turn's reference: with all of them its model takes minutes to be learned."""
APPLIED = 120
"""Seconds for which a suite is applied at most."""


def machines(wanted):
    """Each machine *wanted*, as its rows in its first view, and each reference as a target within a bound of one."""
    for name, roles in PROOF_ROLES.items():
        if name not in wanted:
            continue
        tables, bounds = views(roles)[0]
        yield name, None, flattened(bounded(roles, tables, bounds))
    for name in REFERENCES:
        if f"reference:{name}" not in wanted:
            continue
        with reference_runtime(name) as reference:
            letters = TURN if name == "turn" else letters_of(reference.profile.capabilities)
            model = model_of(reference, letters, Bounds())
            yield f"reference:{name}", model, model.machine


def row(name, model, machine, k, at):
    """A line of the table; empty cells where the suite was not built."""
    said(f"{name}, k={k}")
    if len(machine.table) * len(machine.letters) ** (k + 1) > MIDDLES:
        cells = [*["too large"] * len(METHODS), "", ""]
    else:
        started = time.monotonic()
        suites = [sent(machine, SUITES[METHODS[0]](machine, k))]
        made = time.monotonic() - started
        suites += [sent(machine, SUITES[method](machine, k)) for method in METHODS[1:]]
        cells = [f"{len(suite):,} / {sum(map(len, suite)):,}" for suite in suites]
        cells += [f"{made:.1f} s", applied(name, Plan(model, METHODS[0], k)) if model else ""]
    return f"| {name} | {len(machine.table)} | {len(machine.letters)} | {k} | {' | '.join(cells)} | {at} |"


def applied(name, plan):
    """How long the reference takes to pass its own suite in this process, all laws judged."""
    with reference_runtime(name.partition(":")[2]) as reference:
        options = Options(deadline=time.monotonic() + APPLIED, hash_seed=HASH_SEED)
        started = time.monotonic()
        result, _ = verify_suite(reference, plan, selected(["runtime"], suite=True), options)
        took = time.monotonic() - started
    suite = result.coverage["suite"]
    return f"{took:.0f} s" if suite.complete else suite.why


def said(what):
    """Which suite is made now."""
    print(what, file=sys.stderr, flush=True)


def table(wanted, old):
    """Every machine, and every reference as a target; the rows of those that are not *wanted* are the *old* ones."""
    head = ["| machine | states | letters | k | HSI | Wp | W | HSI made in | HSI passed in | at |"]
    head += ["| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |"]
    at = subprocess.run(
        ["git", "log", "-1", "--format=%h"], cwd=PAGE.parent, capture_output=True, text=True, check=True
    )
    rows = {name: [line for line in old if line.startswith(f"| {name} |")] for name in every()}
    for name, model, machine in machines(wanted):
        rows[name] = [row(name, model, machine, k, at.stdout.strip()) for k in (0, 1, 2)]
    return "\n".join([*head, *(line for lines in rows.values() for line in lines)]) + "\n"


def every():
    """The machines, and the references as targets."""
    return (*PROOF_ROLES, *(f"reference:{name}" for name in REFERENCES))


if __name__ == "__main__":
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    inside, _, after = rest.partition(END)
    made = table(sys.argv[1:] or every(), inside.splitlines())
    PAGE.write_text(before + BEGIN + made + END + after, "utf-8")
