"""The one result of a verification, and the counterexample file: everything that is shown is a rendering of these."""

from collections import Counter
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import msgspec

from turncheck.adapters.protocol import Implementation, Profile
from turncheck.model.cycles import Projection
from turncheck.model.policies import Policies
from turncheck.model.stimuli import Step, Stimulus, Word

Verdict: TypeAlias = Literal["pass", "fail", "inconclusive", "skipped", "error"]
VERDICTS: Final[tuple[Verdict, ...]] = ("pass", "fail", "inconclusive", "skipped", "error")
INTERRUPTED: Final = "interrupted"
"""Why a run was cut that Ctrl-C ended."""


class Evidence(msgspec.Struct, frozen=True):
    """How often a law could have broken: on what the implementation said, and on what its adapter inferred."""

    observed: int = 0
    adapter: int = 0


class Input(msgspec.Struct, frozen=True, rename="camel"):
    """What a projector was given: one session's events, the policies, and where the log was cut."""

    events: list[Any]
    policies: Policies
    cuts: list[int] = []


class Counterexample(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="of", tag="log"):
    """The smallest log found on which a projector breaks a law (file format version 1): no time, no path.

    ``position`` is the event that the finding points at, None where it is about the whole; ``observed_log`` is the
    projection of the input, None where there was none.
    """

    schema: Literal[1]
    target: str
    profile: Profile
    seed: int
    law: str
    clauses: tuple[str, ...]
    message: str
    input: Input
    position: int | None = None
    expected: Any = None
    observed: Any = None
    projection: Projection | None = None


class WordCounterexample(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="of", tag="word"):
    """The shortest word found on which a runtime breaks a law (file format version 1): no time, no path.

    ``word`` is what has to be applied; ``applied`` is that and the environment's closing answers, ``steps`` what each
    led to; ``position`` indexes the log of all steps' events.
    """

    schema: Literal[1]
    target: str
    profile: Profile
    seed: int
    law: str
    clauses: tuple[str, ...]
    message: str
    word: Word
    applied: tuple[Stimulus, ...]
    steps: tuple[Step, ...]
    position: int | None = None
    expected: Any = None
    observed: Any = None


AnyCounterexample: TypeAlias = Counterexample | WordCounterexample


class LawResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict of one law, with its evidence; ``why`` for all but a pass, ``counterexample`` names the file."""

    law: str
    kind: str
    clauses: tuple[str, ...]
    verdict: Verdict
    evidence: Evidence
    why: str | None = None
    counterexample: str | None = None


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `verify --json` prints. ``cut`` says why a run ended before its examples were used up."""

    turncheck: str
    target: str
    implementation: Implementation
    profile: Profile
    seed: int
    laws: tuple[LawResult, ...]
    coverage: dict[str, Any]
    summary: dict[str, int]
    cut: str | None = None

    @property
    def exit_code(self) -> int:
        """130 when interrupted, else 1 when a law is broken, else 2 when one could not be judged or none passed."""
        if self.cut == INTERRUPTED:
            return 130
        if self.summary["fail"]:
            return 1
        return 2 if self.summary["error"] or not self.summary["pass"] else 0


def summary(laws: tuple[LawResult, ...]) -> dict[str, int]:
    """Verdict → how many laws."""
    counted = Counter(law.verdict for law in laws)
    return {verdict: counted[verdict] for verdict in VERDICTS}


def write(counterexample: AnyCounterexample, folder: Path) -> Path:
    """Write the file, named by its target and law. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    target = "".join(character if character.isalnum() else "-" for character in counterexample.target).strip("-")
    path = folder / f"{target[-60:]}.{counterexample.law}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(counterexample), indent=2) + b"\n")
    return path


def read(path: Path) -> AnyCounterexample:
    """Read a counterexample file. Raises OSError, msgspec.MsgspecError."""
    return msgspec.json.decode(path.read_bytes(), type=Counterexample | WordCounterexample)


def plain(value: Any) -> Any:
    """*value* as JSON values."""
    return msgspec.json.decode(msgspec.json.encode(value))
