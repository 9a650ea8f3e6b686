"""The clauses, each with how it is judged: by which laws, on which rows of which machine, in which tests.

A law counts for a clause where a deliberately wrong implementation breaks that clause and the law falls; those are
named in ``doubles.json``, which is made from the tests.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from turncheck.model.clauses import Way, catalogue
from turncheck.model.machines.registry import MACHINES

BROKEN: Final = Path(__file__).with_name("doubles.json")
"""Clause → law → the wrong implementations that break the clause, and with it the law."""


@dataclass(frozen=True)
class Traced:
    """A clause: the laws that fall where it is broken, each with the wrong implementations that show it.

    ``rows`` are the machines' events whose rows state it; ``tests`` name it.
    """

    name: str
    says: str
    way: Way
    laws: tuple[str, ...]
    rows: tuple[str, ...]
    tests: tuple[str, ...]
    reason: str | None
    doubles: Mapping[str, tuple[str, ...]]


def traced(tests: Path | None = None) -> Sequence[Traced]:
    """Every clause in the catalogue's order; *tests* is the folder of the tests, None where there is none."""
    sources = [] if tests is None else [(path, path.read_text("utf-8")) for path in sorted(tests.rglob("test_*.py"))]
    return [
        Traced(
            name=name,
            says=clause.says,
            way=clause.judged,
            laws=tuple(broken().get(name, {})),
            rows=tuple(
                f"{machine.name}.{event}"
                for machine in MACHINES.values()
                for event, stated in machine.events.items()
                if name in stated
            ),
            tests=tuple(path.stem for path, text in sources if _names(text, name)),
            reason=clause.reason,
            doubles=broken().get(name, {}),
        )
        for name, clause in catalogue().items()
    ]


@cache
def broken() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """Map each clause to the laws that fall where it is broken, and these to who breaks it: wrong implementations."""
    return msgspec.json.decode(BROKEN.read_bytes(), type=dict[str, dict[str, tuple[str, ...]]])


def _names(text: str, clause: str) -> bool:
    """True for a test's text that names the clause: ``BED-005ab`` does not name ``BED-005a``, nor ``X-12`` ``X-1``."""
    return re.search(rf"{re.escape(clause)}(?![^\W_]|\.\d)", text) is not None
