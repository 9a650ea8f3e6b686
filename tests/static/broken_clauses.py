"""The table of clauses: which law falls where a double breaks a clause, from what stands beside each double."""

import json
from collections.abc import Iterator

from breaking import doubles
from event_flow import wrong as collations
from projectors import agents
from projectors import wrong as projectors
from runtimes.doubles import MODULES
from static.broken_logs import CLAUSES

from turncheck.model.clauses import catalogue


def broken() -> Iterator[tuple[str, str, str]]:
    """Yield each clause, with a law and a double that breaks both."""
    for module in (projectors, agents, *MODULES, collations):
        for name, laws in doubles(module):
            yield from ((clause, law, name) for law, clauses in laws.items() for clause in clauses)
    for law, clauses in CLAUSES.items():
        yield from ((clause, law, f"the log of {law}") for clause in clauses)


def table() -> str:
    """Return the file: clause → law → doubles, in the catalogue's order, a clause a line."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in catalogue()}
    for clause, law, double in broken():
        found[clause].setdefault(law, []).append(double)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(laws)}" for name, laws in found.items() if laws)
    return f"{{\n{lines}\n}}\n"
