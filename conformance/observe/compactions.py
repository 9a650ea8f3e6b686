"""The parts of a word that belong to a compaction: requests for a summary, and the stimuli that answer them."""

from collections.abc import Mapping, Sequence
from typing import Any

from turncheck.model.core.stimuli import Awaited, ModelAwaited, ModelFail, ModelOutput, ModelStop, Stimulus


def for_compaction(event: Mapping[str, Any]) -> bool:
    """Return whether an event is the request for a summary of the history."""
    return event.get("type") == "model-request" and event.get("purpose") is not None


def answers_compaction(stimulus: Stimulus, before: Sequence[Awaited]) -> str | None:
    """Return the id of the compaction's request that *stimulus* answers, by what was awaited *before*; else None."""
    if not isinstance(stimulus, ModelOutput | ModelStop | ModelFail):
        return None
    waiting = [one for one in before if isinstance(one, ModelAwaited)]
    meant = [one for one in waiting if stimulus.request_id in {None, one.request_id}]
    return meant[0].request_id if meant and summarises(meant[0]) else None


def summarises(awaited: Awaited) -> bool:
    """Return whether a summary is awaited: nothing of a run."""
    return isinstance(awaited, ModelAwaited) and awaited.purpose is not None
