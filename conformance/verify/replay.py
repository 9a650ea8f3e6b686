"""Judge a counterexample file again: by what it stores, or by asking a target."""

from typing import Final, Literal, TypeAlias

import msgspec

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.references.registry import reference_of

from ..laws.law import Finding, first_finding
from ..laws.registry import LAWS, PLAY_LAWS, RERUN_LAWS, TRACE_LAWS
from ..laws.run_relations import Rerun
from ..laws.runtime_trace import RuntimeTrace
from ..n_complete.reference import modelled
from .driving import observing, perform, recorded
from .judging import HASH_SEED, Judge, traced
from .needs import missing
from .results import AnyCounterexample, Counterexample, WordCounterexample

Outcome: TypeAlias = Literal["FIXED", "STILL FAILS", "CANNOT RUN"]
EXIT: Final[dict[Outcome, int]] = {"FIXED": 0, "STILL FAILS": 1, "CANNOT RUN": 2}
"""What a replay says → exit code."""


class Replay(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `replay --json` prints. ``judged`` is what the file stores, or what ``target`` answers to the file's input.

    ``FIXED``: the law holds there. ``STILL FAILS``: ``why`` is what the law finds now. ``CANNOT RUN``: it cannot be
    told, and ``why`` says what is in the way.
    """

    file: str
    law: str
    clauses: tuple[str, ...]
    judged: Literal["stored", "target"]
    target: str
    outcome: Outcome
    why: str | None = None


def stored(found: AnyCounterexample) -> Finding | None:
    """How what is stored breaks the law, None where it doesn't. Raises TargetError where that cannot be told."""
    if isinstance(found, WordCounterexample):
        law = PLAY_LAWS.get(found.law)
        if law is not None:
            return first_finding(law(_play(found)))
    elif (judge := TRACE_LAWS.get(found.law)) is not None and found.projection is not None:
        return first_finding(judge(traced(found.input, found.profile, found.projection)))
    raise TargetError("one stored observation cannot tell: --run starts the target that the file names", see="")


def asked_projector(found: Counterexample, projector: ProjectorTarget) -> Finding | None:
    """How *projector* breaks the law on the file's input, None where it doesn't.

    Raises TargetError where that cannot be told.
    """
    law = LAWS[found.law]
    absent = missing(law, projector.profile)
    if absent:
        raise TargetError(f"the target does not declare {', '.join(absent)}, which {law.name} needs", see="")
    if found.input.policies != projector.profile.projection_policies() and not projector.profile.can("policies"):
        raise TargetError("the file's policies are not the target's own, and it takes no others", see="")
    with projector.again(HASH_SEED) as twin:
        judge = Judge(projector, twin, [law])
        broken, projection = judge.case(found.input)
    if law.name in broken:
        return broken[law.name]
    if projection is None:
        raise TargetError("the projector fails on the file's input, so that this law cannot be judged", see="")
    if not judge.observed[law.name]:
        raise TargetError(f"there was no evidence: the law needs {law.evidence}", see="")
    return None


def asked_runtime(found: WordCounterexample, runtime: RuntimeTarget) -> Finding | None:
    """How *runtime* breaks the law on the file's word, None where it doesn't.

    Raises TargetError where that cannot be told.
    """
    law = LAWS[found.law]
    absent = missing(law, runtime.profile)
    if absent:
        raise TargetError(f"the target does not declare {', '.join(absent)}, which {law.name} needs", see="")
    driver = perform(runtime, found.word.stimuli, found.word.options)
    if driver.unsettled:
        raise TargetError("the word did not settle within the adapter's patience", see="")
    if law.name in PLAY_LAWS:
        items = [*PLAY_LAWS[law.name](driver.play())]
    else:
        with runtime.again(HASH_SEED) as twin:
            known = reference_of(runtime.profile)
            reference = None if known is None else observing(known)
            again, elsewhere, model = observing(runtime), observing(twin), modelled(runtime.profile)
            items = [*RERUN_LAWS[law.name](Rerun(driver.play(), again, elsewhere, reference, model))]
    if not items:
        raise TargetError(f"there was no evidence: the law needs {law.evidence}", see="")
    return first_finding(iter(items))


def _play(found: WordCounterexample) -> RuntimeTrace:
    closing = [place >= len(found.word.stimuli) for place in range(len(found.applied))]
    return recorded(found.applied, found.steps, closing, found.word.options, found.profile)
