"""The content of plan.toml: the mutated modules, the faces that show them, and reasons why survivors are no gap."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mutation.mutants import Mutant

_T = TypeVar("_T")


class Outcome(NamedTuple):
    """A mutant's fate: the law that found it, or how else it ended; and the lines changed."""

    mutant: Mutant
    fate: str
    before: str
    after: str


class Plan:
    """The plan; *text* in its place is for tests."""

    def __init__(self, text: str | None = None) -> None:
        found = tomllib.loads(text or Path(__file__).with_name("plan.toml").read_text("utf-8"))
        self._faces: dict[str, list[str]] = found["faces"]
        self._unseen: dict[str, str] = found["unseen"]
        self.survivors: list[dict[str, Any]] = found.get("survivor", [])
        self.modules = sorted({name.partition(":")[0] for name in self._faces})

    def faces(self, mutant: Mutant) -> tuple[str, ...]:
        """The faces through which a mutant is seen; none for what no projection shows."""
        faces: list[str] = _fitting(self._faces, mutant) or []
        return () if _fitting(self._unseen, mutant) else tuple(faces)

    def unseen(self) -> dict[str, str]:
        """Name → why no projection shows it."""
        return self._unseen

    def reason(self, outcome: Outcome) -> str | None:
        """Return the reason why no law should find a survivor, None where the plan gives none."""
        return next((str(known["reason"]) for known in self.survivors if self.fits(known, outcome)), None)

    def equal(self, outcome: Outcome) -> bool:
        """Return whether a survivor changes nothing at all, according to the plan."""
        return any(self.fits(known, outcome) and not known.get("unseen", False) for known in self.survivors)

    @staticmethod
    def fits(known: dict[str, Any], outcome: Outcome) -> bool:
        """Return whether the plan covers a survivor: such a change, in one of those modules or definitions."""
        place = f"{outcome.mutant.module}:{outcome.mutant.definition}"
        change = f"{outcome.before} → {outcome.after}"
        there = any(place == where or place.partition(":")[0] == where for where in known["where"])
        return there and any(re.fullmatch(pattern, change) for pattern in known["change"])


def _fitting(names: Mapping[str, _T], mutant: Mutant) -> _T | None:
    full = f"{mutant.module}:{mutant.definition}"
    fitting = [name for name in names if f"{full}.".startswith((f"{name}.", f"{name}:")) or name == full]
    return names[max(fitting, key=len)] if fitting else None
