"""What the kills of one runtime came to; docs/kills.json holds one for each."""

import msgspec

from turncheck.model.core.stimuli import Word


class Found(msgspec.Struct, rename="camel"):
    """A finding: of how many beginnings a law says it, and the shortest of them."""

    law: str
    message: str
    beginnings: int
    shortest: Word


class Outcome(msgspec.Struct, rename="camel"):
    """The kills of *target* so far.

    ``stimuli`` are those of all ``words``; ``beginnings`` are the different beginnings of these words, each of which is
    killed behind its last stimulus and within it; ``seconds`` are those of a processor; ``evidence`` counts by law.
    """

    target: str
    seed: int
    words: int = 0
    stimuli: int = 0
    beginnings: int = 0
    kills: int = 0
    seconds: float = 0.0
    evidence: dict[str, int] = {}
    findings: list[Found] = []

    def found(self, law: str, message: str, beginning: Word) -> None:
        """Add a finding on *beginning*."""
        for one in self.findings:
            if (one.law, one.message) == (law, message):
                one.beginnings += 1
                if len(beginning.stimuli) < len(one.shortest.stimuli):
                    one.shortest = beginning
                return
        self.findings.append(Found(law, message, 1, beginning))
