"""The law that compares a whole projection with the model's. It comes last: it finds faults, and cannot name them."""

from ...observe.projector_trace import ProjectorTrace
from ..law import WITNESS, Finding, Judgement
from .subject import log_law


@log_law("RC-7", evidence="a log whose projection is not empty")
def equals_reference(trace: ProjectorTrace) -> Judgement:
    """The projection is the model's, to the letter."""
    parts = ("cycles", "queued", "dropped", "anomalies")
    if any(getattr(trace.expected, part) for part in parts):
        yield WITNESS
    for part in parts:
        expected, observed = getattr(trace.expected, part), getattr(trace.observed, part)
        if expected != observed:
            yield Finding(None, f"{part} differ from the model's", expected, observed)
