"""Log laws on a projector: small functions over the cycles that it yields. None of them asks another implementation."""

from collections import Counter
from itertools import pairwise

from turncheck.model.core.cycles import AiBlock, RootStep, UserStep, group_of
from turncheck.model.core.events import AgentOutput, RunStop, ToolResult
from turncheck.model.core.reference_views import rounds as rounds_by_definition

from ..observe.projector_trace import ProjectorTrace, blocks_of, calls_of, positions_of, steers_of
from .law import WITNESS, Finding, Judgement


def one_terminal(trace: ProjectorTrace) -> Judgement:
    """A cycle ends at the first run-stop and holds exactly one; nothing of it comes later (RC-5.3, RC-7.4, X-3)."""
    for place, stretch in enumerate(trace.stretches):
        cycle = stretch.cycle
        if cycle.stop is None:
            if place != len(trace.stretches) - 1:
                yield Finding(cycle.root, "a cycle without stop is followed by another cycle")
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


def one_root(trace: ProjectorTrace) -> Judgement:
    """One root a cycle: direct when idle, else a promoted follow-up (RC-3.1, RC-5.1, RC-5.4, RC-7.1, RC-7.2)."""
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


def order(trace: ProjectorTrace) -> Judgement:
    """What a cycle holds stands in the log's order, and so do cycles and the queue (RC-5.2, X-7)."""
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


def conservation(trace: ProjectorTrace) -> Judgement:
    """Every event is in exactly one cycle, queued, dropped, or rejected; an observation nowhere (RC-D4, X-7)."""
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


def steer_stays(trace: ProjectorTrace) -> Judgement:
    """A steer belongs to the cycle it was sent to, and is never a root (RC-3.2, RC-4.2)."""
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


def follow_up_fifo(trace: ProjectorTrace) -> Judgement:
    """A queued follow-up becomes the next root at once, first in first out, one per cycle (RC-4.1, RC-7.5)."""
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
        after = trace.stretches[place + 1].cycle if place + 1 < len(trace.stretches) else None
        if after is None or after.kind != "followUp":
            yield Finding(
                waiting[0], "a queued follow-up did not become the next root", waiting[0], after and after.root
            )
            return
        if after.root != waiting[0]:
            yield Finding(after.root, "the next root is not the follow-up that waited longest", waiting[0], after.root)
        waiting = [at for at in waiting if at != after.root]
    if list(trace.observed.queued) != waiting:
        yield Finding(
            None, "what waits at the end is not what was queued and not promoted", waiting, trace.observed.queued
        )


def queue_fate(trace: ProjectorTrace) -> Judgement:
    """After an interrupted or failed run the queue is promoted, held or dropped, as declared (RC-D6)."""
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
        after = trace.stretches[place + 1].cycle if place + 1 < len(trace.stretches) else None
        kind = after.kind if after is not None else None
        if fate == "promote" and kind != "followUp":
            yield Finding(stretch.end, f"the queue was not promoted after {reason}", "followUp", kind)
        if fate != "promote" and kind == "followUp":
            yield Finding(stretch.end, f"the queue was promoted after {reason}", fate, kind)
    if held and sorted(trace.observed.queued) != waiting:
        yield Finding(None, "what was held does not wait until it is promoted", waiting, trace.observed.queued)
    if list(trace.observed.dropped) != dropped:
        yield Finding(None, "what was dropped is not what the policy drops", dropped, trace.observed.dropped)


def one_text_per_block(trace: ProjectorTrace) -> Judgement:
    """An ai-block has exactly one AI text, absent only for a call right after the root or a steer (RC-6.3, RC-D1)."""
    for stretch in trace.stretches:
        for before, step in pairwise(stretch.cycle.steps):
            if not isinstance(step, AiBlock):
                continue
            yield WITNESS
            if step.text is None and not isinstance(before, UserStep):
                yield Finding(stretch.cycle.root, "a block without text follows another block")
            if step.text is not None and trace.symbol(step.text) != "text":
                yield Finding(step.text, "the block's text is no AI text", "text", trace.symbol(step.text))
            if step.text is None and not step.groups:
                yield Finding(stretch.cycle.root, "a block has neither text nor calls")
        texts = [block.text for block in blocks_of(stretch.cycle) if block.text is not None]
        expected = [at for at in trace.inside(stretch) if trace.symbols[at] == "text" and at not in trace.rejected]
        if texts != expected:
            yield Finding(stretch.cycle.root, "each AI text has a block of its own", expected, texts)


def groups_maximal(trace: ProjectorTrace) -> Judgement:
    """Adjacent calls of one class form one group, and a group holds one class (RC-6.4, RC-D2)."""
    for cycle in trace.observed.cycles:
        for block in blocks_of(cycle):
            if sum(len(group.calls) for group in block.groups) > 1:
                yield WITNESS
            for first, second in pairwise(block.groups):
                if first.type == second.type and second.calls:
                    yield Finding(second.calls[0].at, f"two adjacent groups are both {first.type}: they are one")
            for group in block.groups:
                if not group.calls:
                    yield Finding(cycle.root, f"a {group.type} is empty")
                for call in group.calls:
                    event = trace.events[call.at] if trace.symbol(call.at) == "tool-call" else None
                    if not isinstance(event, AgentOutput):
                        yield Finding(call.at, "a group holds what is no call", "tool-call", trace.symbol(call.at))
                    elif (kind := group_of(event.tool)) != group.type:
                        yield Finding(call.at, f"the tool {event.tool!r} is in the wrong group", kind, group.type)


def results_attached(trace: ProjectorTrace) -> Judgement:
    """A tool result is no step: it is attached to its call (RC-6.5)."""
    for stretch in trace.stretches:
        attached: list[int] = []
        for call in calls_of(stretch.cycle):
            if call.result is None:
                continue
            yield WITNESS
            attached.append(call.result)
            result = trace.events[call.result] if trace.symbol(call.result) == "tool-result" else None
            made = trace.events[call.at] if trace.symbol(call.at) == "tool-call" else None
            if not isinstance(result, ToolResult) or not isinstance(made, AgentOutput):
                yield Finding(call.result, "what is attached is no result", "tool-result", trace.symbol(call.result))
            elif result.call_id != made.call_id:
                yield Finding(call.result, "a result is attached to another's call", result.call_id, made.call_id)
        expected = [
            at for at in trace.inside(stretch) if trace.symbols[at] == "tool-result" and at not in trace.rejected
        ]
        if sorted(attached) != expected:
            yield Finding(stretch.cycle.root, "each result of the run is attached once", expected, sorted(attached))


def rounds(trace: ProjectorTrace) -> Judgement:
    """A round is what the model was fed and what it then made, as its responses divide it (RC-6.1, RC-D3)."""
    for cycle in trace.observed.cycles:
        view = "steps" if "steps" in trace.views else "rounds"
        inside = sorted(set(positions_of(cycle, view)) - {cycle.root})
        items = [(at, trace.events[at]) for at in inside if 0 <= at < len(trace.events)]
        expected = rounds_by_definition(cycle.root, items)
        if len(expected) > 1:
            yield WITNESS
        if expected != cycle.rounds:
            yield Finding(
                cycle.root, "the rounds are not the model's responses with their inputs", expected, cycle.rounds
            )


def views_agree(trace: ProjectorTrace) -> Judgement:
    """Both views show the same events of a cycle (RC-5.2, RC-6.1, RC-6.2)."""
    for cycle in trace.observed.cycles:
        yield WITNESS
        steps, fed = sorted(positions_of(cycle, "steps")), sorted(positions_of(cycle, "rounds"))
        if steps != fed:
            yield Finding(cycle.root, "the steps and the rounds of a cycle hold different events", steps, fed)


def anomalies_exact(trace: ProjectorTrace) -> Judgement:
    """Exactly what the machine does not permit is an anomaly, in the order in which it shows (RC-1, RC-D4, RC-D5)."""
    if trace.expected.anomalies:
        yield WITNESS
    if trace.observed.anomalies != trace.expected.anomalies:
        wrong = set(trace.observed.anomalies) ^ set(trace.expected.anomalies)
        at = min((anomaly.at for anomaly in wrong), default=None)
        yield Finding(at, "the anomalies differ", trace.expected.anomalies, trace.observed.anomalies)


def equals_reference(trace: ProjectorTrace) -> Judgement:
    """The projection is the model's, to the letter (RC-7, RC-D9)."""
    if trace.expected.cycles:
        yield WITNESS
    for part in ("cycles", "queued", "dropped", "anomalies"):
        expected, observed = getattr(trace.expected, part), getattr(trace.observed, part)
        if expected != observed:
            yield Finding(None, f"{part} differ from the model's", expected, observed)
