"""docs/references.md: which reference has what lies beyond the first turn, and why the others lack it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from turncheck.adapters.references.registry import REFERENCES, reference_runtime

PAGE: Final = Path(__file__).parents[2] / "docs" / "references.md"
GROUPS: Final = {
    "approval": "approvals",
    "client-tools": "calls of the client",
    "compaction": "compaction",
    "persistence": "restarts",
    "store-faults": "writes that fail",
    "clients": "clients",
    "sub-agents": "sub-agents",
}
"""Capability → what it is about."""
SOURCES: Final = {
    "turn": "the single-chat turn (clauses TM)",
    "event_flow": "from backend to UI (EF)",
    "conversation": "the conversation (BED)",
    "engine": "a server's request loop (RS)",
    "interaction": "all that can happen (L-A to L-S)",
}
WHY: Final = {
    ("turn", "approval"): "its calls are approved by a policy (TM-2.5, TM-4.1), and nobody is asked",
    ("turn", "persistence"): "TM-7, TM-D4 to TM-D6",
    ("turn", "store-faults"): "TM-3.4, where [each write is made to fail](crashes.md), with no stimulus for it",
    ("conversation", "persistence"): "BED-007, BED-D10",
    ("conversation", "clients"): "BED-011, in its own tests",
    ("conversation", "sub-agents"): "BED-008, BED-009",
    ("engine", "compaction"): "RS-3, at a bound of messages; nobody asks for one",
    ("engine", "persistence"): "RS-1 loads and saves a session, and says nothing of a request that is cut",
    ("event_flow", "clients"): "EF-D2: a late joiner gets the same blocks, to which `reference:collation` is held",
}
"""Reference and capability → the clauses that speak of it, or why it is not declared."""
HEAD: Final = """# What the references do beyond the first turn

Each reference does what its source speaks of. **✓** is a declared capability: the laws that need it judge the
reference, and pass on evidence. **-** is one that it lacks, so that these laws skip it; where the source says
something of it all the same, that stands beside it. Made of the profiles by `make generate`.

"""


def page() -> str:
    """Return the page."""
    lines = [f"| reference | {' | '.join(GROUPS.values())} |", f"| --- |{' --- |' * len(GROUPS)}"]
    lines += [f"| `reference:{name}`: {SOURCES[name]} | {' | '.join(_cells(name))} |" for name in REFERENCES]
    return HEAD + "\n".join(lines) + "\n"


def _cells(name: str) -> Iterator[str]:
    with reference_runtime(name) as runtime:
        for capability in GROUPS:
            mark, why = "✓" if runtime.profile.can(capability) else "-", WHY.get((name, capability))
            yield f"{mark} {why}" if why else mark
