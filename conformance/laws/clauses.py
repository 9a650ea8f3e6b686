"""The clauses, each with how it is judged: by which laws, on which rows of which machine, in which tests."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from turncheck.model.clauses import Way, catalogue
from turncheck.model.machines.registry import MACHINES

from .registry import LAWS


@dataclass(frozen=True)
class Traced:
    """A clause: the laws that report it, the machines' events whose rows state it, and the tests that name it."""

    name: str
    says: str
    way: Way
    laws: tuple[str, ...]
    rows: tuple[str, ...]
    tests: tuple[str, ...]
    reason: str | None


def traced(tests: Path | None = None) -> Sequence[Traced]:
    """Every clause in the catalogue's order; *tests* is the folder of the tests, None where there is none."""
    sources = [] if tests is None else [(path, path.read_text("utf-8")) for path in sorted(tests.rglob("test_*.py"))]
    return [
        Traced(
            name=name,
            says=clause.says,
            way=clause.judged,
            laws=tuple(law.name for law in LAWS.values() if name in law.clauses),
            rows=tuple(
                f"{machine.name}.{event}"
                for machine in MACHINES.values()
                for event, stated in machine.events.items()
                if name in stated
            ),
            tests=tuple(path.stem for path, text in sources if _names(text, name)),
            reason=clause.reason,
        )
        for name, clause in catalogue().items()
    ]


def _names(text: str, clause: str) -> bool:
    """True for a test's text that names the clause: ``BED-005ab`` does not name ``BED-005a``, nor ``X-12`` ``X-1``."""
    return re.search(rf"{re.escape(clause)}(?![^\W_]|\.\d)", text) is not None
