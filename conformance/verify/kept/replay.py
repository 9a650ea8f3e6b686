"""Judge a counterexample file again: by what it stores, or by asking a target."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from turncheck.adapters.protocol.collator import CollatorTarget
from turncheck.adapters.protocol.errors import OverdueError, TargetError
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.stimuli import Word

from ...laws.law import Finding, Law, first_finding
from ...laws.registry import LAWS
from ...laws.runtime.subject import Modelled
from ...observe.driver import recorded
from ...observe.projector_trace import ProjectorTrace
from ...observe.runtime_trace import RuntimeTrace
from ..outcome.results import BREAKS, AnyCounterexample, Counterexample, FlowCounterexample, WordCounterexample
from ..subjects.collator import CollatorSubject
from ..subjects.projector import ProjectorSubject, traced
from ..subjects.runtime import RuntimeSubject
from ..subjects.subject import HASH_SEED, C, Observation, Subject, judged, missing

T = TypeVar("T", ProjectorTarget, RuntimeTarget, CollatorTarget)
Outcome: TypeAlias = Literal["FIXED", "STILL FAILS", "CANNOT RUN"]
EXIT: Final[dict[Outcome, int]] = {"FIXED": 0, "STILL FAILS": 1, "CANNOT RUN": 2}
"""Outcome of a replay → exit code."""
KILLS: Final = 5
"""Tries of a word with a kill: a kill within a stimulus hits another moment each time. On a machine whose
cores were taken, one try of LangGraph's `restart-serves` held, which failed in six of six on a quiet one."""


class Replay(msgspec.Struct, frozen=True, omit_defaults=True):
    """The output of `replay --json`. ``judged``: what the file stores, or what ``target`` answers to the file's input.

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
    """Return how the stored observation breaks the law, None where it keeps it.

    Raises TargetError where one observation cannot tell.
    """
    if found.law == BREAKS:
        raise TargetError("no stored observation shows how a target breaks: --run starts it again", see="")
    law = LAWS[found.law]
    trace: ProjectorTrace | RuntimeTrace | None = None
    if isinstance(found, WordCounterexample):
        closing = [place >= len(found.word.stimuli) for place in range(len(found.applied))]
        profile = replace(found.profile, policies={**found.inferred, **found.profile.policies})
        trace = recorded(found.applied, found.steps, closing, found.word.options, profile)
    elif isinstance(found, Counterexample) and found.projection is not None:
        trace = traced(found.input, found.profile, found.projection)
    if law.kind == "relation" or trace is None:
        raise TargetError("one stored observation cannot tell: --run starts the target that the file names", see="")
    return first_finding(judged(law, Observation(None, trace)))


def asked_projector(found: Counterexample, projector: ProjectorTarget) -> Finding | None:
    """Return how *projector* breaks the law on the file's input, None where it keeps it.

    Raises TargetError where that cannot be told.
    """
    if found.input.policies != projector.profile.projection_policies() and not projector.profile.can("policies"):
        raise TargetError("the file's policies are not the target's own, and it takes no others", see="")
    if found.law == BREAKS:
        return _broken(found.input, ProjectorSubject(projector, projector))
    with _twin(found.law, projector) as twin:
        return _asked(found.law, found.input, ProjectorSubject(projector, twin))


def asked_runtime(found: WordCounterexample, runtime: RuntimeTarget, model: Modelled | None = None) -> Finding | None:
    """Return how *runtime* breaks the law on the file's word, None where it keeps it; a law on suites needs *model*.

    Raises TargetError where that cannot be told.
    """
    if found.law == BREAKS:
        return _broken(found.word, RuntimeSubject(runtime, runtime))
    with _twin(found.law, runtime) as twin:
        subject = RuntimeSubject(runtime, twin, model)
        subject.inferred = found.inferred
        return _asked(found.law, found.word, subject)


def asked_collator(found: FlowCounterexample, collator: CollatorTarget) -> Finding | None:
    """Return how *collator* breaks the law on the file's flow, None where it keeps it.

    Raises TargetError where that cannot be told.
    """
    if found.law == BREAKS:
        return _broken(found.flow, CollatorSubject(collator, collator))
    with _twin(found.law, collator) as twin:
        return _asked(found.law, found.flow, CollatorSubject(collator, twin))


def _twin(law: str, target: T) -> AbstractContextManager[T]:
    """Start another process with another hash seed for a relation law; any other law does not look at it."""
    again: AbstractContextManager[T] = target.again(HASH_SEED) if LAWS[law].kind == "relation" else nullcontext(target)
    return again


def _asked(name: str, case: C, subject: Subject[C]) -> Finding | None:
    law = LAWS[name]
    absent = missing(law, subject.target.profile)
    if absent:
        raise TargetError(f"the target does not declare {', '.join(absent)}, which {law.name} needs", see="")
    found = (_tried(law, case, subject) for _ in range(KILLS if "persistence" in law.needs else 1))
    return next(filter(None, found), None)


def _tried(law: Law, case: C, subject: Subject[C]) -> Finding | None:
    observation = subject.observe(case)
    if observation is None:
        whose = "the word did not settle within the adapter's patience"
        invalid = "the file's input is invalid, and the target declares that its input never is"
        raise TargetError(whose if isinstance(case, Word) else invalid, see="")
    items = [*judged(law, observation)]
    if observation.failed is not None and not items:
        raise TargetError("it fails on the file's input, so that this law cannot be judged", see="")
    if not items and not _alive(observation):
        raise TargetError(f"there was no evidence: the law needs {law.evidence}", see="")
    return first_finding(items)


def _alive(observation: Observation[Any]) -> bool:
    """True where enough took place for a law without evidence to be kept: a mend may take away what it looked at.

    A runtime has accepted a message and asked its model; a projector has told as many cycles as the model does. A
    collation has evidence wherever there are frames.
    """
    trace = observation.trace
    if isinstance(trace, RuntimeTrace):
        return bool(trace.messages and trace.requests)
    return isinstance(trace, ProjectorTrace) and 0 < len(trace.expected.cycles) == len(trace.observed.cycles)


def _broken(case: C, subject: Subject[C]) -> Finding | None:
    """Return how the target breaks on the case. Raises TargetError where it does so by hanging the whole run."""
    try:
        subject.observe(case)
    except OverdueError:
        raise
    except TargetError as error:
        return Finding(None, error.problem)
    return None
