"""Laws on a projector's answers: it gives one on every log, and the same one each time."""

from collections.abc import Iterator

from turncheck.model.core.cycles import Projection

from ..law import WITNESS, Finding, Judgement
from .subject import Experiment, relation_law


def same(expected: Projection, observed: Projection, message: str) -> Iterator[Finding]:
    """Find the first part of a projection that differs from the *expected* one."""
    for part in ("cycles", "queued", "dropped", "anomalies"):
        if getattr(expected, part) != getattr(observed, part):
            yield Finding(None, f"{message}: {part} differ", getattr(expected, part), getattr(observed, part))
            return


@relation_law("RC-D4", evidence="an answer")
def total(_: Experiment) -> Judgement:
    """The projection is total: it answers on every input.

    The engine judges it: where the projector refuses, there is no experiment to look at.
    """
    yield WITNESS


@relation_law("RC-7.6", "X-2", evidence="a log asked twice")
def deterministic(experiment: Experiment) -> Judgement:
    """The same log twice gives the same projection twice."""
    if experiment.log:
        yield WITNESS
    yield from same(experiment.first, experiment.observe(experiment.log), "asked again")


@relation_law("RC-7.6", "X-2", evidence="a log asked in two processes")
def hash_seed(experiment: Experiment) -> Judgement:
    """A new process under another hash seed gives the same projection."""
    if experiment.log:
        yield WITNESS
    yield from same(experiment.first, experiment.elsewhere(experiment.log), "asked in another process")
