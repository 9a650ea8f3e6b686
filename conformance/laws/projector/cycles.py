"""Laws on the cycles of a projection: where each begins and ends, and where waiting messages go."""

from collections import Counter

from turncheck.model.core.cycles import CycleViews, RootStep
from turncheck.model.core.events import RunStop

from ...observe.projector_trace import ProjectorTrace, positions_of, steers_of
from ..law import WITNESS, Finding, Judgement
from .subject import log_law


@log_law("RC-5.3", "RC-7.4", "X-3", evidence="a closed cycle")
def one_terminal(trace: ProjectorTrace) -> Judgement:
    """A cycle ends at the first run-stop and holds exactly one; nothing of it comes later."""
    for place, stretch in enumerate(trace.stretches):
        cycle = stretch.cycle
        if cycle.stop is None:
            if place != len(trace.stretches) - 1:
                ends = (at for at in range(cycle.root + 1, len(trace.events)) if trace.symbols[at] == "run-stop")
                at = next(ends, trace.stretches[place + 1].cycle.root)
                yield Finding(at, "a cycle without stop is followed by another cycle")
            if cycle.reason is not None:
                yield Finding(cycle.root, "a cycle without stop has a reason", None, cycle.reason)
            continue
        yield WITNESS
        event = trace.events[cycle.stop] if 0 <= cycle.stop < len(trace.events) else None
        if not isinstance(event, RunStop):
            yield Finding(cycle.stop, "the cycle's stop is no run-stop", "run-stop", trace.symbol(cycle.stop))
        elif event.reason != cycle.reason:
            yield Finding(cycle.stop, "the cycle's reason is not its run-stop's", event.reason, cycle.reason)
        for at in trace.inside(stretch):
            if trace.symbols[at] == "run-stop":
                yield Finding(at, "a run-stop stands inside the cycle: it ends at the first one", at, cycle.stop)
        for at in (at for view in trace.views for at in positions_of(cycle, view)):
            if at >= cycle.stop:
                yield Finding(at, "an event of the cycle stands after its stop", f"before {cycle.stop}", at)


@log_law("RC-3.1", "RC-5.1", "RC-7.1", "RC-7.2", evidence="a cycle")
def one_root(trace: ProjectorTrace) -> Judgement:
    """One root per cycle: direct when idle, else a promoted follow-up."""
    roots = Counter(cycle.root for cycle in trace.observed.cycles)
    before = -1
    for cycle, _, end in trace.stretches:
        yield WITNESS
        if trace.symbol(cycle.root) != "user-message":
            yield Finding(cycle.root, "the root is no user message", "user-message", trace.symbol(cycle.root))
        if roots[cycle.root] > 1:
            yield Finding(cycle.root, "one message is the root of several cycles", 1, roots[cycle.root])
        kind = "direct" if cycle.root > before else "followUp"
        if cycle.kind != kind:
            yield Finding(cycle.root, "the root's kind does not fit where it came", kind, cycle.kind)
        others = [step.at for step in cycle.steps if isinstance(step, RootStep)]
        if "steps" in trace.views and others != [cycle.root]:
            yield Finding(cycle.root, "the root, and it alone, is the cycle's non-steer step", [cycle.root], others)
        if "steps" in trace.views and not (cycle.steps and cycle.steps[0] == RootStep(cycle.root)):
            yield Finding(cycle.root, "the first step is not the root")
        before = end


@log_law("RC-3.2", "RC-4.2", "RC-6.2", evidence="a steer")
def steer_stays(trace: ProjectorTrace) -> Judgement:
    """A steer belongs to the cycle it was sent to, and is never a root."""
    roots = {cycle.root for cycle in trace.observed.cycles}
    for stretch in trace.stretches:
        shown = steers_of(stretch.cycle)
        fed = [at for part in stretch.cycle.rounds for at in part.inputs]
        expected = list(trace.messages(stretch, steers=True))
        for at in expected:
            yield WITNESS
            if at in roots:
                yield Finding(at, "a steer became a root")
            if "steps" in trace.views and at not in shown:
                yield Finding(at, "a steer is missing from the steps of the cycle that it was sent to", expected, shown)
            if "rounds" in trace.views and at not in fed:
                yield Finding(at, "a steer is missing from the rounds of the cycle that it was sent to", expected, fed)
        for at in shown:
            if at not in expected:
                yield Finding(at, "a steer step is no steer that was sent to this cycle", expected, shown)


@log_law("RC-4.1", "RC-5.4", "RC-7.5", evidence="a promotion while two follow-ups wait")
def follow_up_fifo(trace: ProjectorTrace) -> Judgement:
    """A queued follow-up becomes the next root at once, first in first out, one per cycle."""
    waiting: list[int] = []
    for place, stretch in enumerate(trace.stretches):
        arrived = list(trace.messages(stretch, steers=False))
        fate = trace.fate(stretch.cycle.reason)
        inside = [at for view in trace.views for at in positions_of(stretch.cycle, view)]
        for at in arrived:
            if at in inside:
                yield Finding(at, "a queued follow-up is part of the running cycle")
        waiting += arrived
        if fate == "drop":
            waiting = []
        if fate != "promote" or not waiting:
            continue
        if len(waiting) > 1:
            yield WITNESS
        after = _next(trace, place)
        if after is None or after.kind != "followUp":
            message = "a queued follow-up did not become the next root"
            yield Finding(waiting[0], message, waiting[0], after and after.root)
            return
        if after.root != waiting[0]:
            yield Finding(after.root, "the next root is not the follow-up that waited longest", waiting[0], after.root)
        waiting = [at for at in waiting if at != after.root]
    if list(trace.observed.queued) != waiting:
        message = "what waits at the end is not what was queued and not promoted"
        yield Finding(None, message, waiting, trace.observed.queued)


@log_law("RC-D6", evidence="an interrupted or failed stop while a follow-up waits")
def queue_fate(trace: ProjectorTrace) -> Judgement:
    """After an interrupted or failed run the queue is promoted, held or dropped, as declared."""
    waiting: list[int] = []
    dropped: list[int] = []
    held = False
    for place, stretch in enumerate(trace.stretches):
        if stretch.cycle.kind == "followUp" and waiting:
            waiting.remove(stretch.cycle.root) if stretch.cycle.root in waiting else waiting.pop(0)
        waiting += trace.messages(stretch, steers=False)
        reason = stretch.cycle.reason
        if reason in (None, "completed") or not waiting:
            continue
        yield WITNESS
        fate = trace.fate(reason)
        held = held or fate == "hold"
        if fate == "drop":
            dropped, waiting = dropped + waiting, []
        after = _next(trace, place)
        kind = after and after.kind
        if fate == "promote" and kind != "followUp":
            yield Finding(stretch.end, f"the queue was not promoted after {reason}", "followUp", kind)
        if fate != "promote" and kind == "followUp":
            yield Finding(stretch.end, f"the queue was promoted after {reason}", fate, kind)
    if held and sorted(trace.observed.queued) != waiting:
        yield Finding(None, "what was held does not wait until it is promoted", waiting, trace.observed.queued)
    if list(trace.observed.dropped) != dropped:
        yield Finding(None, "what was dropped is not what the policy drops", dropped, trace.observed.dropped)


def _next(trace: ProjectorTrace, place: int) -> CycleViews | None:
    return next((stretch.cycle for stretch in trace.stretches[place + 1 :]), None)
