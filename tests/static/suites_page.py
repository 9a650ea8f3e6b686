"""The sizes of n-complete suites, in docs/suites.md between its marks: `make suites`. Tests hold some of them."""

from pathlib import Path

from turncheck.adapters.references.registry import REFERENCES, reference_runtime
from turncheck.conformance.abstraction import Bounds, letters_of
from turncheck.conformance.suites import SUITES
from turncheck.conformance.suiting import METHODS, sent
from turncheck.conformance.suiting_model import model_of
from turncheck.model.bounded import bounded, views
from turncheck.model.claims import CLAIMS
from turncheck.model.mealy import flattened

PAGE = Path(__file__).parents[2] / "docs" / "suites.md"
BEGIN, END = "<!-- sizes -->\n", "<!-- /sizes -->\n"
MIDDLES = 100_000
"""Words of letters after the states' accesses, beyond which no suite is built for the page."""
TURN = ("user red", "text", "tool-call", "model-stop", "fatal-failure", "tool-return")
"""The letters for the turn's reference: with all of them its model takes minutes to be learned."""


def of_machine(name):
    """The minimal machine of the first view of a declared machine."""
    claims = CLAIMS[name]
    tables, bounds = views(claims)[0]
    return flattened(bounded(claims, tables, bounds))


def of_reference(name):
    """The machine of a reference as a target, within a bound of one."""
    with reference_runtime(name) as reference:
        letters = TURN if name == "turn" else letters_of(reference.profile.capabilities)
        return model_of(reference, letters, Bounds()).machine


def sizes(machine, k):
    """Words and stimuli by each method, None where too many; letters that are not sent are left out."""
    if len(machine.table) * len(machine.letters) ** (k + 1) > MIDDLES:
        return None
    suites = [sent(machine, SUITES[method](machine, k)) for method in METHODS]
    return [(len(suite), sum(map(len, suite))) for suite in suites]


def row(name, machine, k):
    """A line of the table; empty cells where the suite was not built."""
    found = sizes(machine, k)
    cells = [f"{words:,} / {stimuli:,}" for words, stimuli in found] if found else ["too large"] * len(METHODS)
    return f"| {name} | {len(machine.table)} | {len(machine.letters)} | {k} | {' | '.join(cells)} |"


def table():
    """Every machine, and every reference as a target."""
    head = ["| machine | states | letters | k | HSI | Wp | W |", "| --- | --: | --: | --: | --: | --: | --: |"]
    rows = [(name, of_machine(name)) for name in CLAIMS]
    rows += [(f"reference:{name}", of_reference(name)) for name in REFERENCES]
    return "\n".join([*head, *(row(name, machine, k) for name, machine in rows for k in (0, 1, 2))]) + "\n"


if __name__ == "__main__":
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2], "utf-8")
