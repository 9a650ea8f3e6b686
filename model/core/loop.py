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
    between,
)
from .events import (
    AgentOutput,
    Event,
    Fault,
    Malformed,
    ModelRequest,
    Native,
    RunPause,
    RunResume,
    RunStop,
    ToolResult,
    UserMessage,
)
from .session_state import NO_RESPONSE, LoopState, Progress, State, ViewState


def feed(state: LoopState, events: Sequence[Event], first: int, progress: Progress) -> int:
    """Run the machine of the unnamed session over events at consecutive positions from *first* on.

    Stops before the first event of a named session; returns the number of events taken. O(events). Cycles closed and
    anomalies revealed are added to *progress*.
    """
    if not events:
        return 0
    active, queue, calls, root = state.active, state.queue, state.calls, state.root
    kind, name, dropped, places = state.kind, state.name, state.dropped, state.places
    while_active, queue_fate = state.while_active, state.queue_fate
    closed, anomalies = progress
    begin = at = first  # from begin on, this batch is the open cycle's, skips aside
    skips: list[int] = []
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in enumerate(events, first):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        if struct is AgentOutput:
            if event.session_id is not None:
                break
            if event.kind == "tool-call":
                call_id = event.call_id
                if call_id is None or event.tool is None:
                    anomalies.append((name, Anomaly("malformed", at)))
                    skips.append(at)
                elif active:
                    if call_id not in calls:
                        calls[call_id] = at
                    else:
                        anomalies.append((name, Anomaly("duplicate-call", at)))
                        skips.append(at)
                else:
                    anomalies.append((name, Anomaly("outside-run", at)))
                    skips.append(at)
            else:
                if event.text is None:
                    anomalies.append((name, Anomaly("malformed", at)))
                    skips.append(at)
                elif not active:
                    anomalies.append((name, Anomaly("outside-run", at)))
                    skips.append(at)
        elif struct is ToolResult:
            if event.session_id is not None:
                break
            call_id = event.call_id
            if active:
                calls_call_id = calls.get(call_id)
                if calls_call_id is None:
                    anomalies.append((name, Anomaly("unknown-call", at)))
                    skips.append(at)
                elif calls_call_id == -1:
                    anomalies.append((name, Anomaly("duplicate-result", at)))
                    skips.append(at)
                else:
                    calls[call_id] = -1
            else:
                anomalies.append((name, Anomaly("outside-run", at)))
                skips.append(at)
        elif struct is UserMessage:
            if event.session_id is not None:
                break
            if (event.text is None) == (event.content is None):
                anomalies.append((name, Anomaly("malformed", at)))
                skips.append(at)
            elif active:
                if (event.delivery or while_active) == "steer":
                    pass
                else:
                    queue.append(at)
                    skips.append(at)
            else:
                root = at
                kind = "direct"
                skips.clear()
                begin = at + 1
                active = True
        elif struct is RunStop:
            if event.session_id is not None:
                break
            reason = event.reason
            if active:
                queue_fate_reason = queue_fate.get(reason)
                if queue_fate_reason == "promote" and queue:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append((name, Anomaly("unanswered-call", entry)))
                    assert kind is not None
                    if places or skips:
                        closed.append((name, Cycle(root, kind, at, reason, begin, tuple(places), tuple(skips))))
                        places.clear()
                    else:
                        closed.append((name, Cycle(root, kind, at, reason, begin)))
                    kind = None
                    calls.clear()
                    root = queue.popleft()
                    kind = "followUp"
                    skips.clear()
                    begin = at + 1
                elif queue_fate_reason == "promote" and not queue:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append((name, Anomaly("unanswered-call", entry)))
                    assert kind is not None
                    if places or skips:
                        closed.append((name, Cycle(root, kind, at, reason, begin, tuple(places), tuple(skips))))
                        places.clear()
                    else:
                        closed.append((name, Cycle(root, kind, at, reason, begin)))
                    kind = None
                    calls.clear()
                    active = False
                elif queue_fate_reason == "drop":
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append((name, Anomaly("unanswered-call", entry)))
                    assert kind is not None
                    if places or skips:
                        closed.append((name, Cycle(root, kind, at, reason, begin, tuple(places), tuple(skips))))
                        places.clear()
                    else:
                        closed.append((name, Cycle(root, kind, at, reason, begin)))
                    kind = None
                    calls.clear()
                    dropped.extend(queue)
                    queue.clear()
                    active = False
                else:
                    for entry in calls.values():
                        if entry != -1:
                            anomalies.append((name, Anomaly("unanswered-call", entry)))
                    assert kind is not None
                    if places or skips:
                        closed.append((name, Cycle(root, kind, at, reason, begin, tuple(places), tuple(skips))))
                        places.clear()
                    else:
                        closed.append((name, Cycle(root, kind, at, reason, begin)))
                    kind = None
                    calls.clear()
                    active = False
            else:
                anomalies.append((name, Anomaly("outside-run", at)))
                skips.append(at)
        elif struct is ModelRequest or struct is Fault or struct is Native or struct is RunPause or struct is RunResume:
            if event.session_id is not None:
                break
            skips.append(at)
        elif struct is Malformed:
            if event.session_id is not None:
                break
            anomalies.append((name, Anomaly("malformed", at)))
            skips.append(at)
        else:
            if event.session_id is not None:
                break
            anomalies.append((name, Anomaly("unknown-type", at)))
            skips.append(at)
    else:
        at += 1
    if kind is not None:
        places += between(begin, at, skips) if skips else range(begin, at)
    state.active, state.kind, state.root = active, kind, root
    return at - first


def feed_sessions(
    states: dict[str | None, LoopState],
    new: Callable[[str | None], LoopState],
    events: Sequence[Event],
    ats: Sequence[int],
    progress: Progress,
) -> None:
    """Run each event through its session's machine; *new* makes the state of a session at its first event.

    *ats* are the events' positions, ascending; several events may share one. Cycles closed and anomalies revealed are
    added to *progress*. O(events).
    """
    if not events:
        return
    name = events[0].session_id
    state = states[name] = states.get(name) or new(name)
    while_active, queue_fate = state.while_active, state.queue_fate
    closed, anomalies = progress
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
                    anomalies.append((state.name, Anomaly("malformed", at)))
                elif state.active:
                    if call_id not in state.calls:
                        state.calls[call_id] = at
                        state.places.append(at)
                    else:
                        anomalies.append((state.name, Anomaly("duplicate-call", at)))
                else:
                    anomalies.append((state.name, Anomaly("outside-run", at)))
            else:
                if event.text is None:
                    anomalies.append((state.name, Anomaly("malformed", at)))
                elif state.active:
                    state.places.append(at)
                else:
                    anomalies.append((state.name, Anomaly("outside-run", at)))
        elif struct is ToolResult:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            call_id = event.call_id
            if state.active:
                calls_call_id = state.calls.get(call_id)
                if calls_call_id is None:
                    anomalies.append((state.name, Anomaly("unknown-call", at)))
                elif calls_call_id == -1:
                    anomalies.append((state.name, Anomaly("duplicate-result", at)))
                else:
                    state.calls[call_id] = -1
                    state.places.append(at)
            else:
                anomalies.append((state.name, Anomaly("outside-run", at)))
        elif struct is UserMessage:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            if (event.text is None) == (event.content is None):
                anomalies.append((state.name, Anomaly("malformed", at)))
            elif state.active:
                if (event.delivery or while_active) == "steer":
                    state.places.append(at)
                else:
                    state.queue.append(at)
            else:
                state.root = at
                state.kind = "direct"
                state.active = True
        elif struct is RunStop:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            reason = event.reason
            if state.active:
                queue_fate_reason = queue_fate.get(reason)
                if queue_fate_reason == "promote" and state.queue:
                    for entry in state.calls.values():
                        if entry != -1:
                            anomalies.append((state.name, Anomaly("unanswered-call", entry)))
                    assert state.kind is not None
                    closed.append((state.name, Cycle(state.root, state.kind, at, reason, at, tuple(state.places))))
                    state.places.clear()
                    state.kind = None
                    state.calls.clear()
                    state.root = state.queue.popleft()
                    state.kind = "followUp"
                elif queue_fate_reason == "promote" and not state.queue:
                    for entry in state.calls.values():
                        if entry != -1:
                            anomalies.append((state.name, Anomaly("unanswered-call", entry)))
                    assert state.kind is not None
                    closed.append((state.name, Cycle(state.root, state.kind, at, reason, at, tuple(state.places))))
                    state.places.clear()
                    state.kind = None
                    state.calls.clear()
                    state.active = False
                elif queue_fate_reason == "drop":
                    for entry in state.calls.values():
                        if entry != -1:
                            anomalies.append((state.name, Anomaly("unanswered-call", entry)))
                    assert state.kind is not None
                    closed.append((state.name, Cycle(state.root, state.kind, at, reason, at, tuple(state.places))))
                    state.places.clear()
                    state.kind = None
                    state.calls.clear()
                    state.dropped.extend(state.queue)
                    state.queue.clear()
                    state.active = False
                else:
                    for entry in state.calls.values():
                        if entry != -1:
                            anomalies.append((state.name, Anomaly("unanswered-call", entry)))
                    assert state.kind is not None
                    closed.append((state.name, Cycle(state.root, state.kind, at, reason, at, tuple(state.places))))
                    state.places.clear()
                    state.kind = None
                    state.calls.clear()
                    state.active = False
            else:
                anomalies.append((state.name, Anomaly("outside-run", at)))
        elif struct is ModelRequest or struct is Fault or struct is Native or struct is RunPause or struct is RunResume:
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
            anomalies.append((state.name, Anomaly("malformed", at)))
        else:
            try:
                state = states[event.session_id]
            except KeyError:
                state = states[event.session_id] = new(event.session_id)
            anomalies.append((state.name, Anomaly("unknown-type", at)))


def feed_views(
    state: ViewState, show: Callable[[CycleViews], object], events: Sequence[Event], ats: Sequence[int]
) -> None:
    """Run one session's machine over its next events, and build both views meanwhile; session ids are ignored.

    *ats* are the events' positions, ascending; several events may share one. O(events). Each closed cycle is handed to
    *show* at once: a caller that does not keep it saves the collector its lists. Anomalies are added to the state.
    """
    steps: list[Step]
    groups: list[Group] | None
    made: list[int]
    calls_of_group: list[Call]
    active, queue, calls, root = state.active, state.queue, state.calls, state.root
    kind, anomalies, dropped = state.kind, state.anomalies, state.dropped
    while_active, queue_fate = state.while_active, state.queue_fate
    steps, rounds, fed, made = state.steps, state.rounds, state.fed, state.made
    response, groups, group, calls_of_group = state.response, state.groups, state.group, state.calls_of_group
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in zip(ats, events, strict=True):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        if struct is AgentOutput:
            if event.kind == "tool-call":
                call_id = event.call_id
                tool = event.tool
                if call_id is None or tool is None:
                    anomalies.append(Anomaly("malformed", at))
                elif active:
                    if call_id not in calls:
                        call = calls[call_id] = Call(at)
                        identity = event.response_id
                        if identity != response or (identity is None and fed):
                            made = []
                            rounds.append(Round(fed, made))
                            fed, response = [], identity
                        made.append(at)
                        of_tool = GROUPS[tool] if tool in GROUPS else OTHER
                        if of_tool is not group:
                            if groups is None:
                                groups = []
                                steps.append(AiBlock(None, groups))
                            group, calls_of_group = of_tool, []
                            groups.append(Group(of_tool, calls_of_group))
                        calls_of_group.append(call)
                    else:
                        anomalies.append(Anomaly("duplicate-call", at))
                else:
                    anomalies.append(Anomaly("outside-run", at))
            else:
                if event.text is None:
                    anomalies.append(Anomaly("malformed", at))
                elif active:
                    identity = event.response_id
                    if identity != response or (identity is None and fed):
                        made = []
                        rounds.append(Round(fed, made))
                        fed, response = [], identity
                    made.append(at)
                    groups = []
                    group = None
                    steps.append(AiBlock(at, groups))
                else:
                    anomalies.append(Anomaly("outside-run", at))
        elif struct is ToolResult:
            call_id = event.call_id
            if active:
                calls_call_id = calls.get(call_id)
                if calls_call_id is None:
                    anomalies.append(Anomaly("unknown-call", at))
                elif calls_call_id.result is not None:
                    anomalies.append(Anomaly("duplicate-result", at))
                else:
                    calls_call_id.result = at
                    fed.append(at)
            else:
                anomalies.append(Anomaly("outside-run", at))
        elif struct is UserMessage:
            if (event.text is None) == (event.content is None):
                anomalies.append(Anomaly("malformed", at))
            elif active:
                if (event.delivery or while_active) == "steer":
                    fed.append(at)
                    steps.append(SteerStep(at))
                    groups, group = None, None
                else:
                    queue.append(at)
            else:
                root = at
                kind = "direct"
                steps = [RootStep(root)]
                rounds, fed = [], [root]
                response, groups, group = NO_RESPONSE, None, None
                active = True
        elif struct is RunStop:
            reason = event.reason
            if active:
                queue_fate_reason = queue_fate.get(reason)
                if queue_fate_reason == "promote" and queue:
                    for entry in calls.values():
                        if entry.result is None:
                            anomalies.append(Anomaly("unanswered-call", entry.at))
                    assert kind is not None
                    if fed:
                        rounds.append(Round(fed, []))
                    show(CycleViews(root, kind, at, reason, steps, rounds))
                    kind = None
                    calls.clear()
                    root = queue.popleft()
                    kind = "followUp"
                    steps = [RootStep(root)]
                    rounds, fed = [], [root]
                    response, groups, group = NO_RESPONSE, None, None
                elif queue_fate_reason == "promote" and not queue:
                    for entry in calls.values():
                        if entry.result is None:
                            anomalies.append(Anomaly("unanswered-call", entry.at))
                    assert kind is not None
                    if fed:
                        rounds.append(Round(fed, []))
                    show(CycleViews(root, kind, at, reason, steps, rounds))
                    kind = None
                    calls.clear()
                    active = False
                elif queue_fate_reason == "drop":
                    for entry in calls.values():
                        if entry.result is None:
                            anomalies.append(Anomaly("unanswered-call", entry.at))
                    assert kind is not None
                    if fed:
                        rounds.append(Round(fed, []))
                    show(CycleViews(root, kind, at, reason, steps, rounds))
                    kind = None
                    calls.clear()
                    dropped.extend(queue)
                    queue.clear()
                    active = False
                else:
                    for entry in calls.values():
                        if entry.result is None:
                            anomalies.append(Anomaly("unanswered-call", entry.at))
                    assert kind is not None
                    if fed:
                        rounds.append(Round(fed, []))
                    show(CycleViews(root, kind, at, reason, steps, rounds))
                    kind = None
                    calls.clear()
                    active = False
            else:
                anomalies.append(Anomaly("outside-run", at))
        elif struct is ModelRequest or struct is Fault or struct is Native or struct is RunPause or struct is RunResume:
            pass
        elif struct is Malformed:
            anomalies.append(Anomaly("malformed", at))
        else:
            anomalies.append(Anomaly("unknown-type", at))
    state.active, state.kind, state.root = active, kind, root
    state.steps, state.rounds, state.fed, state.made = steps, rounds, fed, made
    state.response, state.groups, state.group, state.calls_of_group = response, groups, group, calls_of_group


def finish(state: State) -> list[Anomaly]:
    """Return the anomalies that the log's end reveals; the state does not change."""
    anomalies: list[Anomaly] = []
    active, root = state.active, state.root
    if active:
        anomalies.append(Anomaly("truncated", root))
    return anomalies
