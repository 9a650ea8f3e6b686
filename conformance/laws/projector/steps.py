"""Laws on the two views of a cycle: its steps with blocks, groups and results, and its rounds."""

from itertools import pairwise

from turncheck.model.checking.reference_views import rounds as rounds_by_definition
from turncheck.model.core.cycles import AiBlock, UserStep, group_of
from turncheck.model.core.events import AgentOutput, Event, ToolResult

from ...observe.projector_trace import ProjectorTrace, Stretch, blocks_of, calls_of, positions_of
from ..law import WITNESS, Finding, Judgement
from .subject import log_law


@log_law("RC-6.3", "RC-6.5", "RC-D1", evidence="an ai-block", needs=("steps",))
def one_text_per_block(trace: ProjectorTrace) -> Judgement:
    """An ai-block has exactly one AI text, absent only for a call right after the root or a steer."""
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
        expected = _kept(trace, stretch, "text")
        if texts != expected:
            yield Finding(stretch.cycle.root, "each AI text has a block of its own", expected, texts)


@log_law("RC-6.4", "RC-D2", evidence="a block with two calls", needs=("steps",))
def groups_maximal(trace: ProjectorTrace) -> Judgement:
    """Adjacent calls of one class form one group, and a group holds one class."""
    for root, block in [(cycle.root, block) for cycle in trace.observed.cycles for block in blocks_of(cycle)]:
        if sum(len(group.calls) for group in block.groups) > 1:
            yield WITNESS
        for first, second in pairwise(block.groups):
            if first.type == second.type and second.calls:
                yield Finding(second.calls[0].at, f"two adjacent groups are both {first.type}: they are one")
        for group in block.groups:
            if not group.calls:
                yield Finding(root, f"a {group.type} is empty")
            for call in group.calls:
                event = _event(trace, call.at, "tool-call")
                if not isinstance(event, AgentOutput):
                    yield Finding(call.at, "a group holds what is no call", "tool-call", trace.symbol(call.at))
                elif (kind := group_of(event.tool)) != group.type:
                    yield Finding(call.at, f"the tool {event.tool!r} is in the wrong group", kind, group.type)


@log_law("RC-6.5", evidence="an attached result", needs=("steps",))
def results_attached(trace: ProjectorTrace) -> Judgement:
    """A tool result is no step: it is attached to its call."""
    for stretch in trace.stretches:
        attached = [(call.result, call.at) for call in calls_of(stretch.cycle) if call.result is not None]
        for at, call in attached:
            yield WITNESS
            result, made = _event(trace, at, "tool-result"), _event(trace, call, "tool-call")
            if not isinstance(result, ToolResult) or not isinstance(made, AgentOutput):
                yield Finding(at, "what is attached is no result", "tool-result", trace.symbol(at))
            elif result.call_id != made.call_id:
                yield Finding(at, "a result is attached to another's call", result.call_id, made.call_id)
        expected, found = _kept(trace, stretch, "tool-result"), sorted(at for at, _ in attached)
        if found != expected:
            yield Finding(stretch.cycle.root, "each result of the run is attached once", expected, found)


@log_law("RC-6.1", "RC-D3", evidence="a cycle of two rounds", needs=("rounds",))
def rounds(trace: ProjectorTrace) -> Judgement:
    """A round is the model's input and the output that follows, as its responses divide them."""
    for cycle in trace.observed.cycles:
        view = "steps" if "steps" in trace.views else "rounds"
        inside = sorted(set(positions_of(cycle, view)) - {cycle.root})
        items = [(at, trace.events[at]) for at in inside if 0 <= at < len(trace.events)]
        expected = rounds_by_definition(cycle.root, items)
        if len(expected) > 1:
            yield WITNESS
        if expected != cycle.rounds:
            message = "the rounds are not the model's responses with their inputs"
            yield Finding(cycle.root, message, expected, cycle.rounds)


@log_law("RC-5.2", "RC-6.1", evidence="a cycle with both views", needs=("steps", "rounds"))
def views_agree(trace: ProjectorTrace) -> Judgement:
    """Both views show the same events of a cycle."""
    for cycle in trace.observed.cycles:
        yield WITNESS
        steps, fed = sorted(positions_of(cycle, "steps")), sorted(positions_of(cycle, "rounds"))
        if steps != fed:
            yield Finding(cycle.root, "the steps and the rounds of a cycle hold different events", steps, fed)


def _event(trace: ProjectorTrace, at: int, symbol: str) -> Event | None:
    return trace.events[at] if trace.symbol(at) == symbol else None


def _kept(trace: ProjectorTrace, stretch: Stretch, symbol: str) -> list[int]:
    """The positions of a letter while a cycle ran, without the rejected ones."""
    return [at for at in trace.inside(stretch) if trace.symbols[at] == symbol and at not in trace.rejected]
