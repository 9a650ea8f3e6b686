"""What is known of a mutant, and of the mutants of one runtime."""

from collections import Counter
from collections.abc import Mapping

import msgspec

UNSEEN, STILLBORN, SURVIVED = "unseen", "does not start", "survived"
TOLD: Mapping[str, str] = {
    "directed": "the directed words",
    "quick": "`--quick`",
    "whole": "a whole run",
    "beside": "laws that the runtime itself fails, on words on which it does not",
}
"""What it took to tell a mutant, in the order in which it is tried."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """A mutant, and its fate: law, floor, error, unsettled, survived, unseen or "does not start".

    ``law`` is the first one that fails; ``by`` says which words it took; ``why`` is what else there is to say.
    """

    runtime: str
    file: str
    operator: str
    number: int
    line: int
    definition: str
    before: str
    after: str
    fate: str
    law: str | None = None
    by: str | None = None
    why: str | None = None


class Measured(msgspec.Struct, frozen=True):
    """The mutants of a runtime that were tried with a *seed*.

    ``mutants`` there are in the lines that ``words`` words come by; ``failed`` are laws that the runtime itself fails.
    ``unseen`` and ``stillborn`` count outcomes that are left out.
    """

    runtime: str
    seed: int
    commit: str
    mutants: int
    words: int
    failed: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    versions: dict[str, str] = {}
    unseen: int = 0
    stillborn: int = 0

    @property
    def fates(self) -> Counter[str]:
        """Fate → how many."""
        return Counter(one.fate for one in self.outcomes) + Counter({UNSEEN: self.unseen, STILLBORN: self.stillborn})

    def seen(self) -> "Measured":
        """The same, with counts in the place of mutants that change nothing, or do not start."""
        fates = self.fates
        kept = tuple(one for one in self.outcomes if one.fate not in {UNSEEN, STILLBORN})
        return msgspec.structs.replace(self, outcomes=kept, unseen=fates[UNSEEN], stillborn=fates[STILLBORN])
