"""The hot path, generated from the rows of request_cycle: run `make generate`, do not edit."""

from collections.abc import Callable, Sequence
from typing import Any

from .cycles import (
    GROUPS,
    OTHER,
    AiBlock,
    Anomaly,
    Call,
    Cycle,
    CycleViews,
    Group,
    RootStep,
    Round,
    SteerStep,
    Step,
)
from .events import (
    AgentOutput,
    Event,
    Fault,
    Malformed,
    ModelRequest,
    Native,
    RunStop,
    ToolResult,
    UserMessage,
)
from .state import NO_RESPONSE, LoopState, ViewState, joined

IDLE = 0
ACTIVE = 1


def feed(state: LoopState, events: tuple[Event, ...], first: int) -> int:
    """Run the machine of the session without a name over events that stand without a gap from position *first* on.

    Ends before the first event of a session with a name; returns how many events it took. O(events). What it closes
    and reveals is added to the state.
    """
    if not events:
        return 0
    state.settle()
    control, queue, calls, root = state.control, state.queue, state.calls, state.root
    kind, anomalies, dropped, closed = state.kind, state.anomalies, state.dropped, state.closed
    parts = state.parts
    while_active, queue_fate = state.while_active, state.queue_fate
    mark = 0  # where the open cycle's share of this batch begins
    skips: list[int] = []  # what in that share is no part of the cycle, counted from mark
    at = first
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in enumerate(events, first):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        if struct is AgentOutput:
            if event.session_id is not None:
                break
            if event.kind == "tool-call":
                call_id = event.call_id
                if call_id is None or event.tool is None:
                    anomalies.append(Anomaly("malformed", at))
                    skips.append(at - first - mark)
                elif control == ACTIVE:
                    if call_id not in calls:
                        calls[call_id] = at
                    else:
                        anomalies.append(Anomaly("duplicate-call", at))
                        skips.append(at - first - mark)
                else:
                    anomalies.append(Anomaly("outside-run", at))
                    skips.append(at - first - mark)
            else:
                if event.text is None:
                    anomalies.append(Anomaly("malformed", at))
                    skips.append(at - first - mark)
                elif control == IDLE:
                    anomalies.append(Anomaly("outside-run", at))
                    skips.append(at - first - mark)
        elif struct is ToolResult:
            if event.session_id is not None:
                break
            call_id = event.call_id
            if control == ACTIVE:
                calls_call_id = calls.get(call_id)
                if calls_call_id is None:
                    anomalies.append(Anomaly("unknown-call", at))
                    skips.append(at - first - mark)
                elif calls_call_id == -1:
                    anomalies.append(Anomaly("duplicate-result", at))
                    skips.append(at - first - mark)
                else:
                    calls[call_id] = -1
            else:
                anomalies.append(Anomaly("outside-run", at))
                skips.append(at - first - mark)
        elif struct is UserMessage:
            if event.session_id is not None:
                break
            if (event.text is None) == (event.content is None):
                anomalies.append(Anomaly("malformed", at))
                skips.append(at - first - mark)
            elif control == ACTIVE:
                if (event.delivery or while_active) == "steer":
                    pass
                else:
                    queue.append(at)
                    skips.append(at - first - mark)
            else:
                root = at
                kind = "direct"
                skips.clear()
                mark = at - first + 1
                control = ACTIVE
        elif struct is RunStop:
            if event.session_id is not None:
                break
            reason = event.reason
            if control == ACTIVE:
                queue_fate_reason = queue_fate.get(reason)
                if queue_fate_reason == "promote" and queue:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append(Anomaly("unanswered-call", entry))
                    assert kind is not None
                    share = events[mark : at - first]
                    if parts:
                        parts.append((share, tuple(skips), range(first + mark, at)))
                        closed.append(Cycle(root, kind, at, reason, *joined(parts)))
                        parts.clear()
                    else:
                        closed.append(Cycle(root, kind, at, reason, share, tuple(skips), None))
                    kind = None
                    calls.clear()
                    root = queue.popleft()
                    kind = "followUp"
                    skips.clear()
                    mark = at - first + 1
                elif queue_fate_reason == "promote" and not queue:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append(Anomaly("unanswered-call", entry))
                    assert kind is not None
                    share = events[mark : at - first]
                    if parts:
                        parts.append((share, tuple(skips), range(first + mark, at)))
                        closed.append(Cycle(root, kind, at, reason, *joined(parts)))
                        parts.clear()
                    else:
                        closed.append(Cycle(root, kind, at, reason, share, tuple(skips), None))
                    kind = None
                    calls.clear()
                    control = IDLE
                elif queue_fate_reason == "drop":
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append(Anomaly("unanswered-call", entry))
                    assert kind is not None
                    share = events[mark : at - first]
                    if parts:
                        parts.append((share, tuple(skips), range(first + mark, at)))
                        closed.append(Cycle(root, kind, at, reason, *joined(parts)))
                        parts.clear()
                    else:
                        closed.append(Cycle(root, kind, at, reason, share, tuple(skips), None))
                    kind = None
                    calls.clear()
                    dropped.extend(queue)
                    queue.clear()
                    control = IDLE
                else:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append(Anomaly("unanswered-call", entry))
                    assert kind is not None
                    share = events[mark : at - first]
                    if parts:
                        parts.append((share, tuple(skips), range(first + mark, at)))
                        closed.append(Cycle(root, kind, at, reason, *joined(parts)))
                        parts.clear()
                    else:
                        closed.append(Cycle(root, kind, at, reason, share, tuple(skips), None))
                    kind = None
                    calls.clear()
                    control = IDLE
            else:
                anomalies.append(Anomaly("outside-run", at))
                skips.append(at - first - mark)
        elif struct is ModelRequest or struct is Fault or struct is Native:
            if event.session_id is not None:
                break
            skips.append(at - first - mark)
        elif struct is Malformed:
            if event.session_id is not None:
                break
            anomalies.append(Anomaly("malformed", at))
            skips.append(at - first - mark)
        else:
            if event.session_id is not None:
                break
            anomalies.append(Anomaly("unknown-type", at))
            skips.append(at - first - mark)
    else:
        at += 1
    if kind is not None:
        parts.append((events[mark : at - first], tuple(skips), range(first + mark, at)))
    state.control, state.kind, state.root = control, kind, root
    return at - first


def feed_sessions(
    states: dict[str | None, LoopState],
    new: Callable[[str | None], LoopState],
    events: Sequence[Event],
    ats: Sequence[int],
) -> list[LoopState]:
    """Run each event's session over it; *new* makes the state of one that is not there.

    Events stand at *ats*, ascending; several may share a position. Returns the states to which something closed or
    revealed was added, some more than once. O(events).
    """
    news: list[LoopState] = []
    if not events:
        return news
    name = events[0].session_id
    state = states[name] = states.get(name) or new(name)
    while_active, queue_fate = state.while_active, state.queue_fate
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in zip(ats, events, strict=True):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        if struct is AgentOutput:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            if event.kind == "tool-call":
                call_id = event.call_id
                if call_id is None or event.tool is None:
                    state.anomalies.append(Anomaly("malformed", at))
                    news.append(state)
                elif state.control == ACTIVE:
                    if call_id not in state.calls:
                        state.calls[call_id] = at
                        state.items.append(event)
                        state.places.append(at)
                    else:
                        state.anomalies.append(Anomaly("duplicate-call", at))
                        news.append(state)
                else:
                    state.anomalies.append(Anomaly("outside-run", at))
                    news.append(state)
            else:
                if event.text is None:
                    state.anomalies.append(Anomaly("malformed", at))
                    news.append(state)
                elif state.control == ACTIVE:
                    state.items.append(event)
                    state.places.append(at)
                else:
                    state.anomalies.append(Anomaly("outside-run", at))
                    news.append(state)
        elif struct is ToolResult:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            call_id = event.call_id
            if state.control == ACTIVE:
                calls_call_id = state.calls.get(call_id)
                if calls_call_id is None:
                    state.anomalies.append(Anomaly("unknown-call", at))
                    news.append(state)
                elif calls_call_id == -1:
                    state.anomalies.append(Anomaly("duplicate-result", at))
                    news.append(state)
                else:
                    state.calls[call_id] = -1
                    state.items.append(event)
                    state.places.append(at)
            else:
                state.anomalies.append(Anomaly("outside-run", at))
                news.append(state)
        elif struct is UserMessage:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            if (event.text is None) == (event.content is None):
                state.anomalies.append(Anomaly("malformed", at))
                news.append(state)
            elif state.control == ACTIVE:
                if (event.delivery or while_active) == "steer":
                    state.items.append(event)
                    state.places.append(at)
                else:
                    state.queue.append(at)
            else:
                state.root = at
                state.kind = "direct"
                state.items.clear()
                state.places.clear()
                state.control = ACTIVE
        elif struct is RunStop:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            reason = event.reason
            if state.control == ACTIVE:
                queue_fate_reason = queue_fate.get(reason)
                if queue_fate_reason == "promote" and state.queue:
                    for entry in state.calls.values():
                        if entry != -1:
                            state.anomalies.append(Anomaly("unanswered-call", entry))
                    assert state.kind is not None
                    share = tuple(state.items)
                    if state.parts:
                        state.parts.append((share, (), tuple(state.places)))
                        state.closed.append(Cycle(state.root, state.kind, at, reason, *joined(state.parts)))
                        state.parts.clear()
                    else:
                        state.closed.append(Cycle(state.root, state.kind, at, reason, share, (), tuple(state.places)))
                    state.kind = None
                    news.append(state)
                    state.calls.clear()
                    state.root = state.queue.popleft()
                    state.kind = "followUp"
                    state.items.clear()
                    state.places.clear()
                elif queue_fate_reason == "promote" and not state.queue:
                    for entry in state.calls.values():
                        if entry != -1:
                            state.anomalies.append(Anomaly("unanswered-call", entry))
                    assert state.kind is not None
                    share = tuple(state.items)
                    if state.parts:
                        state.parts.append((share, (), tuple(state.places)))
                        state.closed.append(Cycle(state.root, state.kind, at, reason, *joined(state.parts)))
                        state.parts.clear()
                    else:
                        state.closed.append(Cycle(state.root, state.kind, at, reason, share, (), tuple(state.places)))
                    state.kind = None
                    news.append(state)
                    state.calls.clear()
                    state.control = IDLE
                elif queue_fate_reason == "drop":
                    for entry in state.calls.values():
                        if entry != -1:
                            state.anomalies.append(Anomaly("unanswered-call", entry))
                    assert state.kind is not None
                    share = tuple(state.items)
                    if state.parts:
                        state.parts.append((share, (), tuple(state.places)))
                        state.closed.append(Cycle(state.root, state.kind, at, reason, *joined(state.parts)))
                        state.parts.clear()
                    else:
                        state.closed.append(Cycle(state.root, state.kind, at, reason, share, (), tuple(state.places)))
                    state.kind = None
                    news.append(state)
                    state.calls.clear()
                    state.dropped.extend(state.queue)
                    state.queue.clear()
                    state.control = IDLE
                else:
                    for entry in state.calls.values():
                        if entry != -1:
                            state.anomalies.append(Anomaly("unanswered-call", entry))
                    assert state.kind is not None
                    share = tuple(state.items)
                    if state.parts:
                        state.parts.append((share, (), tuple(state.places)))
                        state.closed.append(Cycle(state.root, state.kind, at, reason, *joined(state.parts)))
                        state.parts.clear()
                    else:
                        state.closed.append(Cycle(state.root, state.kind, at, reason, share, (), tuple(state.places)))
                    state.kind = None
                    news.append(state)
                    state.calls.clear()
                    state.control = IDLE
            else:
                state.anomalies.append(Anomaly("outside-run", at))
                news.append(state)
        elif struct is ModelRequest or struct is Fault or struct is Native:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            pass
        elif struct is Malformed:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            state.anomalies.append(Anomaly("malformed", at))
            news.append(state)
        else:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            state.anomalies.append(Anomaly("unknown-type", at))
            news.append(state)
    return news


def feed_views(
    state: ViewState, show: Callable[[CycleViews], object], events: Sequence[Event], ats: Sequence[int]
) -> None:
    """Run one session's machine over its next events, and build both views as it goes; session ids are not looked at.

    Events stand at *ats*, ascending; several may share a position. O(events). Each cycle that closes is handed to
    *show* at once: who does not keep it spares the collector its lists. What is revealed is added to the state.
    """
    steps: list[Step]
    groups: list[Group] | None
    control, queue, calls, root = state.control, state.queue, state.calls, state.root
    kind, anomalies, dropped = state.kind, state.anomalies, state.dropped
    while_active, queue_fate = state.while_active, state.queue_fate
    steps, rounds, fed, made = state.steps, state.rounds, state.fed, state.made
    response, apart, groups, group = state.response, state.apart, state.groups, state.group
    calls_of_group, answers = state.calls_of_group, state.answers
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in zip(ats, events, strict=True):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        if struct is AgentOutput:
            if event.kind == "tool-call":
                call_id = event.call_id
                tool = event.tool
                if call_id is None or tool is None:
                    anomalies.append(Anomaly("malformed", at))
                elif control == ACTIVE:
                    if call_id not in calls:
                        calls[call_id] = at
                        identity = event.response_id
                        if identity != response or (apart and identity is None):
                            made = [at]
                            rounds.append(Round(fed, made))
                            fed, response = [], identity
                        else:
                            made.append(at)
                        apart = False
                        call = answers[call_id] = Call(at)
                        of_tool = GROUPS[tool] if tool in GROUPS else OTHER
                        if of_tool == group:
                            calls_of_group.append(call)
                        else:
                            if groups is None:
                                groups = []
                                steps.append(AiBlock(None, groups))
                            group, calls_of_group = of_tool, [call]
                            groups.append(Group(of_tool, calls_of_group))
                    else:
                        anomalies.append(Anomaly("duplicate-call", at))
                else:
                    anomalies.append(Anomaly("outside-run", at))
            else:
                if event.text is None:
                    anomalies.append(Anomaly("malformed", at))
                elif control == ACTIVE:
                    identity = event.response_id
                    if identity != response or (apart and identity is None):
                        made = [at]
                        rounds.append(Round(fed, made))
                        fed, response = [], identity
                    else:
                        made.append(at)
                    apart = False
                    groups = []
                    group = None
                    steps.append(AiBlock(at, groups))
                else:
                    anomalies.append(Anomaly("outside-run", at))
        elif struct is ToolResult:
            call_id = event.call_id
            if control == ACTIVE:
                calls_call_id = calls.get(call_id)
                if calls_call_id is None:
                    anomalies.append(Anomaly("unknown-call", at))
                elif calls_call_id == -1:
                    anomalies.append(Anomaly("duplicate-result", at))
                else:
                    calls[call_id] = -1
                    answers[call_id].result = at
                    fed.append(at)
                    apart = True
            else:
                anomalies.append(Anomaly("outside-run", at))
        elif struct is UserMessage:
            if (event.text is None) == (event.content is None):
                anomalies.append(Anomaly("malformed", at))
            elif control == ACTIVE:
                if (event.delivery or while_active) == "steer":
                    fed.append(at)
                    apart = True
                    steps.append(SteerStep(at))
                    groups, group = None, None
                else:
                    queue.append(at)
            else:
                root = at
                kind = "direct"
                steps = [RootStep(root)]
                rounds, fed, answers = [], [root], {}
                response, apart, groups, group = NO_RESPONSE, False, None, None
                control = ACTIVE
        elif struct is RunStop:
            reason = event.reason
            if control == ACTIVE:
                queue_fate_reason = queue_fate.get(reason)
                if queue_fate_reason == "promote" and queue:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append(Anomaly("unanswered-call", entry))
                    assert kind is not None
                    if fed:
                        rounds.append(Round(fed, []))
                    show(CycleViews(root, kind, at, reason, steps, rounds))
                    kind = None
                    calls.clear()
                    root = queue.popleft()
                    kind = "followUp"
                    steps = [RootStep(root)]
                    rounds, fed, answers = [], [root], {}
                    response, apart, groups, group = NO_RESPONSE, False, None, None
                elif queue_fate_reason == "promote" and not queue:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append(Anomaly("unanswered-call", entry))
                    assert kind is not None
                    if fed:
                        rounds.append(Round(fed, []))
                    show(CycleViews(root, kind, at, reason, steps, rounds))
                    kind = None
                    calls.clear()
                    control = IDLE
                elif queue_fate_reason == "drop":
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append(Anomaly("unanswered-call", entry))
                    assert kind is not None
                    if fed:
                        rounds.append(Round(fed, []))
                    show(CycleViews(root, kind, at, reason, steps, rounds))
                    kind = None
                    calls.clear()
                    dropped.extend(queue)
                    queue.clear()
                    control = IDLE
                else:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append(Anomaly("unanswered-call", entry))
                    assert kind is not None
                    if fed:
                        rounds.append(Round(fed, []))
                    show(CycleViews(root, kind, at, reason, steps, rounds))
                    kind = None
                    calls.clear()
                    control = IDLE
            else:
                anomalies.append(Anomaly("outside-run", at))
        elif struct is ModelRequest or struct is Fault or struct is Native:
            pass
        elif struct is Malformed:
            anomalies.append(Anomaly("malformed", at))
        else:
            anomalies.append(Anomaly("unknown-type", at))
    state.control, state.kind, state.root = control, kind, root
    state.steps, state.rounds, state.fed, state.made = steps, rounds, fed, made
    state.response, state.apart, state.groups, state.group = response, apart, groups, group
    state.calls_of_group, state.answers = calls_of_group, answers


def finish(state: LoopState) -> list[Anomaly]:
    """What the log's end reveals; the state is left as it is."""
    anomalies: list[Anomaly] = []
    control, root = state.control, state.root
    if control == ACTIVE:
        anomalies.append(Anomaly("truncated", root))
    return anomalies
