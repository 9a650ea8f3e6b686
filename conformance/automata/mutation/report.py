"""The report of `turncheck mutants` on a machine: the kills of each method and each law, and the survivors."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec

from .killing import K0, K1, PLAIN0, PLAIN1, TOUR, Kills
from .mutants_as_targets import Judged

HYPOTHESIS = "hypothesis"
VERIFY = "verify"
NETS = frozenset({"equals-reference", "equals-machine"})
_BESIDE = frozenset({TOUR, PLAIN0, PLAIN1})
"""Methods that are compared with; what they let live is counted, and not named."""


class Rate(msgspec.Struct, frozen=True):
    """A method's kills among *mutants* (without equivalent ones); over several seeds, the median and the least."""

    method: str
    hidden: bool
    mutants: int
    killed: float
    least: int

    @property
    def share(self) -> float:
        """The median's share of the mutants, 1 where there are none."""
        return self.killed / self.mutants if self.mutants else 1.0


class Survivor(msgspec.Struct, frozen=True):
    """A mutant that a method does not kill; ``word`` is the shortest that distinguishes it from the machine."""

    method: str
    mutant: str
    row: str
    edit: str
    word: tuple[str, ...]


class LawKills(msgspec.Struct, frozen=True):
    """The number of mutants that break a law, by operator; and of those that all laws judged, how many break only it.

    ``equals-reference`` and ``equals-machine`` compare everything, and do not count as other laws.
    """

    law: str
    kills: int
    alone: int
    operators: dict[str, int]


class Report(msgspec.Struct, frozen=True):
    """One machine's mutants. ``laws`` counts kills by the first words and logs, else by the first generated one.

    ``broken`` is the kill matrix itself: mutant → the laws that it breaks.
    """

    machine: str
    mutants: int
    equivalent: int
    seeds: tuple[int, ...]
    rates: tuple[Rate, ...]
    survivors: tuple[Survivor, ...]
    laws: tuple[LawKills, ...] = ()
    broken: dict[str, tuple[str, ...]] = {}


def reported(
    machine: str, found: Sequence[Kills], judged: Mapping[str, Sequence[Judged]], seeds: Sequence[int]
) -> Report:
    """Return the report of *found*; *judged* holds the verdicts of `verify` per mutant, equivalent ones left out."""
    told = [one for one in found if not one.equivalent]
    verdicts = {name: [one.killed for one in verdict] for name, verdict in judged.items()}
    kills: dict[str, dict[str, list[bool]]] = {
        one.name: {
            **{method: [one.by[method]] for method in (TOUR, PLAIN0, K0, PLAIN1, K1) if method in one.by},
            HYPOTHESIS: [one.by[f"{HYPOTHESIS}, seed {seed}"] for seed in seeds],
            **({VERIFY: verdicts[one.name]} if one.name in verdicts else {}),
        }
        for one in told
    }
    methods = dict.fromkeys(method for answers in kills.values() for method in answers)
    return Report(
        machine=machine,
        mutants=len(found),
        equivalent=len(found) - len(told),
        seeds=tuple(seeds),
        rates=tuple(_rate(method, hidden, told, kills) for method in methods for hidden in (False, True)),
        survivors=tuple(_survivors(told, kills)),
        laws=_laws(told, judged),
        broken={name: tuple(sorted({law for one in some for law in one.laws})) for name, some in judged.items()},
    )


def _rate(method: str, hidden: bool, told: Sequence[Kills], kills: Mapping[str, Mapping[str, list[bool]]]) -> Rate:  # noqa: FBT001
    answers = [kills[one.name][method] for one in told if one.hidden == hidden and method in kills[one.name]]
    counts = [sum(column) for column in zip(*answers, strict=True)] or [0]
    return Rate(method, hidden, len(answers), median(counts), min(counts))


def _survivors(told: Sequence[Kills], kills: Mapping[str, Mapping[str, list[bool]]]) -> Iterable[Survivor]:
    """Yield survivors that a method should have killed: k=0 first-order ones, others all; Hypothesis under any seed."""
    for one in told:
        for method, answers in kills[one.name].items():
            if not all(answers) and method not in _BESIDE and not (method == K0 and one.hidden):
                yield Survivor(method, one.name, one.row, one.edit, one.difference or ())


def _laws(told: Sequence[Kills], judged: Mapping[str, Sequence[Judged]]) -> tuple[LawKills, ...]:
    kills, alone, operators = Counter[str](), Counter[str](), dict[str, Counter[str]]()
    for one in told:
        verdicts = judged.get(one.name, ())
        broken = {law for verdict in verdicts for law in verdict.laws}
        kills.update(broken)
        for law in broken:
            operators.setdefault(law, Counter())[one.operator] += 1
            alone[law] += all(verdict.whole for verdict in verdicts) and not broken - NETS - {law}
    often = sorted(kills.items(), key=lambda item: (-item[1], item[0]))
    return tuple(LawKills(law, count, alone[law], dict(operators[law])) for law, count in often)
