"""Laws on the log's positions in a projection: their order, their number, and the anomalies."""

from collections import Counter
from itertools import pairwise

from turncheck.model.core.cycles import UserStep

from ...observe.projector_trace import ProjectorTrace, positions_of
from ..law import WITNESS, Finding, Judgement
from .subject import log_law


@log_law("RC-5.2", "X-7", evidence="two positions in one list")
def order(trace: ProjectorTrace) -> Judgement:
    """The events of a cycle stand in the log's order, and so do cycles and the queue."""
    ends = [end for _, _, end in trace.stretches]
    lists = [
        ("the cycles' stops", ends),
        ("queued", list(trace.observed.queued)),
        ("dropped", list(trace.observed.dropped)),
    ]
    for cycle in trace.observed.cycles:
        lists.append(("the rounds' outputs", [at for part in cycle.rounds for at in part.outputs]))
        lists.append(("the rounds' inputs", [at for part in cycle.rounds for at in part.inputs]))
        shown: list[int] = []
        for step in cycle.steps:
            if isinstance(step, UserStep):
                shown.append(step.at)
            else:
                shown += [] if step.text is None else [step.text]
                shown += [call.at for group in step.groups for call in group.calls]
        lists.append(("the steps", shown))
    for name, positions in lists:
        if len(positions) > 1:
            yield WITNESS
        if any(first >= second for first, second in pairwise(positions)):
            yield Finding(positions[0], f"{name} are not in the log's order", sorted(set(positions)), positions)


@log_law("RC-7.3", "X-7", evidence="an event", needs=("steps or rounds",))
def conservation(trace: ProjectorTrace) -> Judgement:
    """Every event is in exactly one cycle, queued, dropped, or rejected; an observation nowhere."""
    if not trace.views:
        return
    view = "rounds" if "rounds" in trace.views else "steps"
    places: Counter[int] = Counter()
    for cycle in trace.observed.cycles:
        own = positions_of(cycle, view)
        places.update(own if cycle.stop is None else [*own, cycle.stop])
    places.update(trace.observed.queued)
    places.update(trace.observed.dropped)
    places.update(trace.rejected)
    for at in sorted(places.keys() - set(range(len(trace.events)))):
        yield Finding(None, "the projection names a position that the log does not have", len(trace.events), at)
    for at, symbol in enumerate(trace.symbols):
        yield WITNESS
        wanted = 0 if symbol == "observation" else 1
        if places[at] != wanted:
            found = "lost" if places[at] < wanted else "in more places than it may be"
            yield Finding(at, f"the {symbol} is {found}", wanted, places[at])


@log_law("RC-1", "RC-D4", "RC-D5", evidence="a log with an anomaly", needs=("input any",))
def anomalies_exact(trace: ProjectorTrace) -> Judgement:
    """The anomalies are the machine's own, no more and no fewer, in the order in which they show."""
    if trace.expected.anomalies:
        yield WITNESS
    if trace.observed.anomalies != trace.expected.anomalies:
        wrong = set(trace.observed.anomalies) ^ set(trace.expected.anomalies)
        at = min((anomaly.at for anomaly in wrong), default=None)
        yield Finding(at, "the anomalies differ", trace.expected.anomalies, trace.observed.anomalies)
