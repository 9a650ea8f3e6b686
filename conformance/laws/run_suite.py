"""The law of an n-complete suite: over its finite alphabet, a runtime does what the model does."""

from .law import WITNESS, Finding, Judgement
from .run_relations import Rerun


def equals_model(rerun: Rerun) -> Judgement:
    """Over a finite alphabet, every settled step shows what the model's shows (X-1, X-2)."""
    if rerun.model is None:
        return
    for move, expected, observed in rerun.model(rerun.play):
        yield WITNESS
        if observed != expected:
            at = move.end - 1 if move.end > move.first else None
            yield Finding(at, "the step is not the model's, over the alphabet of the suite", expected, observed)
            return
