"""The one result of a verification, and the counterexample: everything that is shown is a rendering of these."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from turncheck.adapters.protocol.messages import Implementation, Profile
from turncheck.model.core.cycles import Projection
from turncheck.model.core.policies import Policies
from turncheck.model.core.stimuli import Step, Stimulus, Word
from turncheck.model.machines.blocks import Block

from ...generation.flows import Flow
from ...observe.runtime_trace import Applied
from .covered import Covered, FloorItem

Verdict: TypeAlias = Literal["pass", "fail", "inconclusive", "skipped", "error"]
State: TypeAlias = Literal["known", "flaky", "stale", "expired"]
VERDICTS: Final[tuple[Verdict, ...]] = ("pass", "fail", "inconclusive", "skipped", "error")
MISSED: Final = "the evidence floor is missed"
INTERRUPTED: Final = "interrupted"
"""Why a run was cut that Ctrl-C ended."""


class Evidence(msgspec.Struct, frozen=True):
    """Counts of how often a law could have broken: on what the implementation said, and on what its adapter inferred.

    ``after`` counts the latter by what came before: where only some runs end without a word, they show here.
    """

    observed: int = 0
    adapter: int = 0
    after: dict[str, int] | msgspec.UnsetType = msgspec.UNSET

    def __str__(self) -> str:
        """Say how often, and which part of it rests on the adapter's word.

        >>> str(Evidence(2091))
        '2,091 times'
        >>> str(Evidence(2091, 384, {"an empty response": 384}))
        '2,091 times, and 384 more inferred by the adapter, all after an empty response'
        >>> str(Evidence(0, 5, {"an abort": 2, "a response": 3}))
        '0 times, and 5 more inferred by the adapter, 3 after a response, 2 after an abort'
        """
        if not self.adapter:
            return f"{self.observed:,} times"
        after: dict[str, int] = {} if self.after is msgspec.UNSET else self.after
        parts = sorted(after.items(), key=lambda part: (-part[1], part[0]))
        said = [f", {'all' if len(parts) == 1 else f'{count:,}'} after {what}" for what, count in parts]
        return f"{self.observed:,} times, and {self.adapter:,} more inferred by the adapter{''.join(said)}"


class Input(msgspec.Struct, frozen=True, rename="camel"):
    """The input of a projector: one session's events, the policies, and where the log was cut."""

    events: list[Any]
    policies: Policies
    cuts: list[int] = []


Case: TypeAlias = Input | Word | Flow
"""The input of a projector, a runtime or a collator."""


class _Broken(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The beginning of a counterexample file (file format version 1): a target breaks a law.

    At its end stands the ``variant`` of the target that does, where it has several.
    """

    schema: Literal[1]
    target: str
    profile: Profile
    seed: int
    law: str
    clauses: tuple[str, ...]
    message: str


class Counterexample(_Broken, frozen=True, tag_field="of", tag="log"):
    """The smallest log found on which a projector breaks a law (file format version 1): no time, no path.

    ``position`` is the event that the finding points at, None where it is about the whole; ``observed_log`` is the
    projection of the input, None where there was none.
    """

    input: Input
    position: int | None = None
    expected: Any = None
    observed: Any = None
    projection: Projection | None = None
    variant: str | None = None


class WordCounterexample(_Broken, frozen=True, tag_field="of", tag="word"):
    """The shortest word found on which a runtime breaks a law (file format version 1): no time, no path.

    ``word`` is what has to be applied; ``applied`` is that and the environment's closing answers, ``steps`` what each
    led to; ``position`` indexes the log of all steps' events. ``inferred`` are the policies that the profile leaves
    out, as ``Result`` has them. ``again`` is what a relation law applied then, the
    word once more or something else, until it broke: it is empty where ``steps`` alone show the fault.
    """

    word: Word
    applied: tuple[Stimulus, ...]
    steps: tuple[Step, ...]
    position: int | None = None
    expected: Any = None
    observed: Any = None
    inferred: dict[str, str | int] = {}
    again: tuple[Applied, ...] = ()
    variant: str | None = None


class FlowCounterexample(_Broken, frozen=True, tag_field="of", tag="flow"):
    """The smallest flow found on which a collator breaks a law (file format version 1): no time, no path.

    ``frames`` are what was collated, and ``flow`` says how a backend came to send them; ``blocks`` is what was shown,
    None where nothing was. ``position`` is the frame at which the fault shows, None where it is about the whole.
    """

    flow: Flow
    frames: tuple[dict[str, Any], ...]
    blocks: tuple[Block, ...] | None = None
    position: int | None = None
    expected: Any = None
    observed: Any = None
    variant: str | None = None


AnyCounterexample: TypeAlias = Counterexample | WordCounterexample | FlowCounterexample


class Expectation(msgspec.Struct, frozen=True):
    """The baseline's word on a law: the ``entry`` (a law or a glob) that fits it, with its reason and its issue.

    ``known`` and ``flaky`` excuse a failure. ``stale``: the law passes, and nothing needs the entry any more.
    ``expired``: the law fails, and the entry has run out.
    """

    state: State
    entry: str
    reason: str
    issue: str


class LawResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The verdict of one law, with its evidence; ``why`` for all but a pass, ``counterexample`` names the file.

    ``baseline`` is there where a baseline was given and says something of the law. ``others`` are the files of further
    counterexamples, which have other causes. ``variants`` are those of the target's that have this verdict, where not
    all do.
    """

    law: str
    kind: str
    clauses: tuple[str, ...]
    verdict: Verdict
    evidence: Evidence
    why: str | None = None
    counterexample: str | None = None
    baseline: Expectation | None = None
    others: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def excused(self) -> bool:
        """True for a failure that the baseline expects."""
        return self.verdict == "fail" and self.baseline is not None and self.baseline.state in {"known", "flaky"}

    @property
    def wrong(self) -> bool:
        """True for an unexcused failure or a stale baseline entry."""
        stale = self.baseline is not None and self.baseline.state == "stale"
        return stale or (self.verdict == "fail" and not self.excused)


BREAKS: Final = "target-breaks"
"""The name that stands in the place of a law in the file of a case on which the target breaks."""


UNDECIDED: Final = "the target broke before this was decided"
"""Why there is no verdict on a law; how the target broke is said once."""
BROKE: Final = "the target broke"
"""Why a run was cut, up to a colon, that ended because its target broke."""


class Crash(msgspec.Struct, frozen=True, omit_defaults=True):
    """The target broke: it crashed, hung, raised, or answered rubbish. It is one failure, and stands before the laws.

    ``exit`` is the exit code of its process, negative for a signal's number, where the process ended. The smallest case
    on which it broke is a ``word`` (a runtime), a ``log`` (a projector) or a ``flow`` (a collator), where that is
    known, and ``counterexample`` its file; ``variant`` is the one that broke, where the target has several.
    """

    message: str
    exit: int | None = None
    word: Word | None = None
    log: Input | None = None
    flow: Flow | None = None
    counterexample: str | None = None
    variant: str | None = None


class CauseFailure(msgspec.Struct, frozen=True, omit_defaults=True):
    """A law's failure: what was found, and which of the law's counterexamples shows it (the first has the number 1)."""

    law: str
    message: str
    number: int = 1
    counterexample: str | None = None


class CauseResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """Failures with one root: their shrunk cases are the same, or differ from the model in the same way.

    ``laws`` are all that it breaks, the root first; ``failures`` has a counterexample each, the smallest first. A law
    that has none here breaks on the root's case too. ``known`` names the entries of the baseline whose counterexamples
    have this cause, and ``baseline`` is what that says of it. ``variants`` are those that show it, where not all do.
    """

    laws: tuple[str, ...]
    failures: tuple[CauseFailure, ...]
    known: tuple[str, ...] = ()
    baseline: Expectation | None = None
    variants: tuple[str, ...] = ()

    @property
    def root(self) -> CauseFailure:
        """The smallest failure: the one to look at first."""
        return self.failures[0]


class Variant(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of a target's variants that were verified: what it declares, and what came of it, law by law."""

    name: str
    profile: Profile
    summary: dict[str, int]
    coverage: Covered
    inferred: dict[str, str | int] = {}
    verdicts: dict[str, Verdict] = {}


class Result(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The output of `verify --json`. ``cut`` says why a run ended before its examples were used up.

    ``incomplete`` is true where something else than the caller's own bounds (a budget, the first failure) cut it: the
    target broke or got no quiet three times, the time of the whole run was over, or a signal came.
    ``inferred`` are the policies on a history that the runtime's profile does not declare, and that it was held to.
    ``crash`` is there where the target broke, before the laws. ``causes`` group the failures, the smallest first.
    ``replayed`` has for each counterexample of the baseline that could be applied the laws that it breaks.
    ``variants`` are those of the target's that were verified; then ``laws`` and ``causes`` are those of all together,
    ``profile`` and the shares of ``coverage`` are the first one's, and ``inferred`` is what all agree on.
    ``timings`` are the seconds of each phase, where they were asked for: all else is the same each time.
    """

    turncheck: str
    target: str
    implementation: Implementation
    profile: Profile
    seed: int
    crash: Crash | None = None
    laws: tuple[LawResult, ...]
    coverage: Covered
    summary: dict[str, int]
    cut: str | None = None
    incomplete: bool = False
    floor: tuple[FloorItem, ...] = ()
    inferred: dict[str, str | int] = {}
    causes: tuple[CauseResult, ...] = ()
    replayed: dict[str, tuple[str, ...]] = {}
    timings: dict[str, float] = {}
    variants: tuple[Variant, ...] = ()

    def cause_of(self, law: str) -> int | None:
        """Return the place among ``causes`` of the cause of a law's smallest counterexample; None without one."""
        places = {
            one.law: place for place, cause in enumerate(self.causes) for one in cause.failures if one.number == 1
        }
        return places.get(law)

    @property
    def missed(self) -> tuple[str, ...]:
        """The missing parts of the evidence floor: what never happened, and what is declared and was not exercised.

        Nothing, where the run is incomplete: what had not happened yet says nothing.
        """
        if self.incomplete:
            return ()
        never = [item.what for item in self.floor if not item.count and not item.declared]
        unused = [item.what for item in self.floor if not item.count and item.declared]
        return (
            *([f"it never happened that {', that '.join(never)}"] if never else ()),
            *([f"declared, and not exercised: {', '.join(unused)}"] if unused else ()),
        )

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """Notes for a reader beside the verdicts, each with its title: a cut, a floor that is missed.

        The error by which the target broke is no note: reports say that first.
        """
        title = "the run is incomplete" if self.incomplete else "the run was cut short"
        cut = [] if self.cut is None else [(title, BROKE if self._broke else self.cut)]
        return (*cut, *((MISSED, said) for said in self.missed))

    @property
    def exchange(self) -> tuple[str, ...]:
        """The lines on the messages amid which the target broke: sent, expected, came, what it logged."""
        if self.crash is None or self.cut is None or not self._broke:
            return ()
        return tuple(self.cut.split("\n")[1 + self.crash.message.count("\n") :])

    @property
    def _broke(self) -> bool:
        return self.crash is not None and self.cut is not None and self.cut.startswith(f"{BROKE}: ")

    @property
    def exit_code(self) -> int:
        """130 when interrupted, else 1 when a law is broken, else 2 when one could not be judged, or too little was.

        Too little: no law passed or failed, the evidence floor is missed, or the run is incomplete.
        A failure that the baseline excuses is no broken law, and an entry of it that is stale is one.
        """
        if self.cut == INTERRUPTED:
            return 130
        if any(law.wrong for law in self.laws):
            return 1
        judged = self.summary["pass"] + self.summary["fail"]
        return 2 if self.summary["error"] or not judged or self.missed or self.incomplete else 0


def summary(laws: tuple[LawResult, ...]) -> dict[str, int]:
    """Verdict → how many laws."""
    counted = Counter(law.verdict for law in laws)
    return {verdict: counted[verdict] for verdict in VERDICTS}


def cut_of(results: Sequence[Result]) -> str | None:
    """Say why one of *results* was cut: interrupted, or else because its target broke, or else the first."""
    cuts = [(one.cut != INTERRUPTED, one.crash is None, one.cut) for one in results if one.cut]
    return min(cuts, key=lambda cut: cut[:2])[2] if cuts else None


def only(variants: Sequence[str]) -> str:
    """Say which variants alone show something.

    >>> only(["abort=task", "durable"])
    'only in abort=task and durable'
    """
    return f"only in {' and '.join(variants)}"


def case_of(found: AnyCounterexample) -> Case:
    """Return what the target was given."""
    if isinstance(found, FlowCounterexample):
        return found.flow
    return found.input if isinstance(found, Counterexample) else found.word


class Counterexamples(dict[str, AnyCounterexample]):
    """Law → its smallest counterexample. ``every`` has all of a law, the smallest first.

    ``crash`` is the smallest case on which the target breaks, where it does.
    """

    def __init__(self, every: Mapping[str, Sequence[AnyCounterexample]]) -> None:
        super().__init__({law: found[0] for law, found in every.items() if found})
        self.every: Final = {law: tuple(found) for law, found in every.items() if found}
        self.crash: AnyCounterexample | None = None


def plain(value: Any) -> Any:
    """*value* as JSON values."""
    return msgspec.json.decode(msgspec.json.encode(value))
