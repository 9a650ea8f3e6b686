"""docs/theorems.md from docs/theorems.json, which `make theorems` writes: which theorem holds of which machine."""

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from row_edits import EDITS

from turncheck.conformance.automata.proving import results, theorems
from turncheck.model.checking.proofs import PROOFS
from turncheck.model.checking.theorems.theorem import prove
from turncheck.model.checking.witness import witness
from turncheck.model.machines.registry import PROOF_ROLES

ROOT: Final = Path(__file__).parents[2]
FIGURES: Final = ROOT / "docs/theorems.json"
PAGE: Final = ROOT / "docs/theorems.md"
_HEAD: Final = """\
# Theorems: what holds of which machine, and how far

`turncheck prove [MACHINE]` prints this. It needs the extra `proofs`, and Spin and gcc for what Spin decides.
`make theorems` writes this page.

- **proved**: by induction over the rows with z3, for queues, maps and counters of any size. A claim that holds at the
  start and across every row holds always.
- **explored**: every state was visited in which no queue or map is longer, and no counter higher, than the number says;
  or Spin searched its model, whose queues hold three entries, and whose environment sends five events besides answers.
  There the model calls a tool in every round for nothing, where the machine bounds its rounds: a round that is not
  counted goes on without end.
- **vacuous**: the machine has nothing that the theorem speaks of, so that nothing is proved.

What a proof assumes is that answers go to who asked: the shell matches them to requests. For `conversation` this is a
contract about sub-agents that run side by side: a result that is not stale names a call of the group under way, and a
group has as many calls as `joined` counted. `log-accepted` of `conversation` reads the log so far; its own tests
explore it.
"""

_ACCEPTED: Final = """\
## Does the core accept every log?

`log-accepted` is X-1, explored to the bound. For data of any size, each way to be rejected is ruled out by a theorem
about the machine's outputs; a test holds the outputs that the theorems name to those that the refinement makes events
of.

| anomaly | ruled out by |
| --- | --- |
| outside-run | nothing-outside-a-run and one-terminal |
| unknown-call, duplicate-result, unanswered-call | calls-answered |
| duplicate-call | call-ids-are-new; the refinement of `conversation` gives an id that comes twice a new name |
| truncated, where a log may end | one-terminal |
| malformed, unknown-type | no theorem: the form of each event is the refinement's, explored and sampled |

What is not proved for any size: that the core's queue of follow-ups is in step with that of `turn` (a run that the core
promotes is the one that the turn takes next), and that the refinements, which are Python, do what the exploration saw.
"""


def measured(machines: Collection[str]) -> dict[str, Any]:
    """Prove everything of some machines, and refute their edits: of all, in five minutes; others stay as they were."""
    old: dict[str, Any] = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {"results": [], "edits": []}
    found = [one for name in PROOF_ROLES for one in (_results(name) if name in machines else _of(old["results"], name))]
    edits = {one["name"]: one for one in (*old["edits"], *_edits(machines))}
    return {"results": found, "edits": [edits[edit.name] for edit in EDITS]}


def _of(found: Sequence[dict[str, Any]], machine: str) -> list[dict[str, Any]]:
    return [one for one in found if one["machine"] == machine]


def _results(machine: str) -> Iterator[dict[str, Any]]:
    for one in results(PROOF_ROLES[machine], [*theorems()]):
        told = msgspec.to_builtins(one)
        told.pop("seconds", None)  # the computer's, not the theorem's
        yield told


def _edits(machines: Collection[str]) -> Iterator[dict[str, Any]]:
    for edit in EDITS:
        if edit.machine not in machines:
            continue
        roles = edit.roles
        by = [name for name, claim in PROOFS.items() if prove(claim, roles).standing == "refuted"]
        refuted = prove(PROOFS[edit.by], roles).refutations if edit.by in PROOFS else ()
        word = next((one.word for one in (witness(roles, each) for each in refuted) if one), ())
        yield {"name": edit.name, "machine": edit.machine, "expected": edit.by, "by": by, "word": [*word]}


def page(figures: Mapping[str, Any] | None = None) -> str:
    """Return the page of *figures*, by default those that were measured last."""
    figures = json.loads(FIGURES.read_text("utf-8")) if figures is None else figures
    return "\n".join(
        [_HEAD, *_table(figures["results"]), "", *_claims(), "", _ACCEPTED, *_refuted(figures["edits"]), ""]
    )


def _table(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    machines = [*dict.fromkeys(one["machine"] for one in found)]
    cells = {(one["theorem"], one["machine"]): _cell(one) for one in found}
    yield f"| theorem | {' | '.join(machines)} |"
    yield f"| --- |{' --- |' * len(machines)}"
    for name in dict.fromkeys(one["theorem"] for one in found):
        yield f"| {name} | {' | '.join(cells[name, machine] for machine in machines)} |"


def _cell(one: Mapping[str, Any]) -> str:
    if one["standing"] == "vacuous":
        return "vacuous"
    return "proved" if one["standing"] == "proved" else f"{one['standing']}: {one.get('bound', one.get('why', ''))}"


def _claims() -> Iterator[str]:
    yield "## What each says\n"
    yield "| theorem | method | clauses | claim |"
    yield "| --- | --- | --- | --- |"
    for name, (method, says, clauses) in theorems().items():
        yield f"| {name} | {method} | {', '.join(clauses)} | {says} |"


def _refuted(edits: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    proofs = sum(bool(one["by"]) for one in edits)
    yield "## Edited rows: do the theorems bite?\n"
    yield f"Each of these {len(edits)} machines has wrong rows for one event. A proof refutes {proofs} of them, each"
    yield "with the word that shows it; the exploration finds the others, by the promise that breaks.\n"
    yield "| machine | edit | refuted by | shortest word |"
    yield "| --- | --- | --- | --- |"
    for one in edits:
        by = ", ".join(one["by"]) or f"exploration: {one['expected']}"
        word = " · ".join(one["word"]) if one["word"] else ""
        yield f"| {one['machine']} | {one['name']} | {by} | {word} |"


if __name__ == "__main__":
    made = measured(sys.argv[1:] or PROOF_ROLES)
    FIGURES.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(page(made), "utf-8")
    sys.exit(any(one["standing"] not in {"proved", "explored", "vacuous"} for one in made["results"]))
