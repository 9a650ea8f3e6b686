"""Judge a counterexample file again: by what it stores, or by asking a target."""

from turncheck.adapters.errors import TargetError
from turncheck.adapters.projector import ProjectorTarget
from turncheck.adapters.runtime import RuntimeTarget

from .driving import observing, perform, recorded
from .judging import HASH_SEED, Judge, traced
from .laws.law import Finding, Judgement
from .laws.play import Play
from .laws.registry import LAWS, PLAY_LAWS, RERUN_LAWS, TRACE_LAWS
from .laws.run_relations import Rerun
from .needs import missing
from .results import AnyCounterexample, Counterexample, WordCounterexample


def stored_finding(found: AnyCounterexample) -> bool | None:
    """Whether what is stored breaks the law; None where one observation cannot tell."""
    if isinstance(found, WordCounterexample):
        law = PLAY_LAWS.get(found.law)
        return None if law is None else _breaks(law(_play(found)))
    judge = TRACE_LAWS.get(found.law)
    if judge is None or found.projection is None:
        return None
    return _breaks(judge(traced(found.input, found.profile, found.projection)))


def asked_projector(found: Counterexample, projector: ProjectorTarget) -> bool:
    """Whether *projector* breaks the law on the file's input. Raises TargetError where that cannot be told."""
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
        return True
    if projection is None:
        raise TargetError("the projector fails on the file's input, so that this law cannot be judged", see="")
    if not judge.observed[law.name]:
        raise TargetError(f"there was no evidence: the law needs {law.evidence}", see="")
    return False


def asked_runtime(found: WordCounterexample, runtime: RuntimeTarget) -> bool:
    """Whether *runtime* breaks the law on the file's word. Raises TargetError where that cannot be told."""
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
            items = [*RERUN_LAWS[law.name](Rerun(driver.play(), observing(runtime), observing(twin)))]
    if not items:
        raise TargetError(f"there was no evidence: the law needs {law.evidence}", see="")
    return _breaks(iter(items))


def _play(found: WordCounterexample) -> Play:
    closing = [place >= len(found.word.stimuli) for place in range(len(found.applied))]
    return recorded(found.applied, found.steps, closing, found.word.options, found.profile)


def _breaks(judgement: Judgement) -> bool:
    return any(isinstance(item, Finding) for item in judgement)
