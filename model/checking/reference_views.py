"""The two views as the clauses define them: the reference for the fast ones, and for laws."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from ..core.cycles import AiBlock, Call, Cycle, CycleViews, Group, GroupKind, RootStep, Round, SteerStep, Step, group_of
from ..core.events import AgentOutput, Event, ToolResult, UserMessage


def steps(root: int, items: list[tuple[int, Event]]) -> list[Step]:
    """Return the ResolutionStep view by definition: RC-6.2 to RC-6.5 with RC-D1 and RC-D2."""
    results: dict[str | None, int] = {event.call_id: at for at, event in items if isinstance(event, ToolResult)}
    found: list[Step] = [RootStep(root)]
    blocks: list[list[tuple[int, AgentOutput]]] = []
    visible = [(at, event) for at, event in items if not isinstance(event, ToolResult)]
    for steer, stretch in groupby(visible, key=lambda item: isinstance(item[1], UserMessage)):
        if steer:
            found.extend(SteerStep(at) for at, _ in stretch)
            continue
        blocks = []
        for at, event in stretch:
            assert isinstance(event, AgentOutput)
            if event.kind != "tool-call" or not blocks:
                blocks.append([])
            blocks[-1].append((at, event))
        found.extend(_block(block, results) for block in blocks)
    return found


def _block(items: list[tuple[int, AgentOutput]], results: Mapping[str | None, int]) -> AiBlock:
    text = next((at for at, event in items if event.kind != "tool-call"), None)
    calls = [(at, event) for at, event in items if event.kind == "tool-call"]
    by_class = groupby(calls, key=_class)
    groups = (Group(kind, [Call(at, results.get(event.call_id)) for at, event in group]) for kind, group in by_class)
    return AiBlock(text, list(groups))


def _class(call: tuple[int, AgentOutput]) -> GroupKind:
    return group_of(call[1].tool)


def rounds(root: int, items: list[tuple[int, Event]]) -> list[Round]:
    """Return the InferenceLoop view by definition: RC-6.1 with RC-D3."""
    ats = [root, *(at for at, _ in items)]  # several may be equal: what follows speaks of places in this list
    outputs = [(place, event) for place, (_, event) in enumerate(items, 1) if isinstance(event, AgentOutput)]
    inputs = [0, *(place for place, (_, event) in enumerate(items, 1) if not isinstance(event, AgentOutput))]
    parts: list[list[int]] = []
    for index, (place, event) in enumerate(outputs):
        before, last = outputs[index - 1] if index else (0, None)
        apart = event.response_id is None and any(before < given < place for given in inputs)
        if last is None or last.response_id != event.response_id or apart:
            parts.append([])
        parts[-1].append(place)
    found: list[Round] = []
    for part in parts:
        fed = [ats[place] for place in inputs if place < part[0]]
        found.append(Round(fed, [ats[place] for place in part]))
        inputs = [place for place in inputs if place > part[0]]
    return [*found, Round([ats[place] for place in inputs], [])] if inputs else found


def views(cycle: Cycle, events: Sequence[Event]) -> CycleViews:
    """Return a cycle of the session's log *events* with both views; the cycle's positions index *events*."""
    items = [(at, events[at]) for at in cycle.items]
    shown, made = steps(cycle.root, items), rounds(cycle.root, items)
    return CycleViews(cycle.root, cycle.kind, cycle.stop, cycle.reason, shown, made)
