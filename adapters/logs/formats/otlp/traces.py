"""From the spans of one trace to its runs: which spans belong together, and when the trace is whole."""

from collections.abc import Iterator
from typing import Final

from msgspec import structs

from turncheck.model.core.events import Event

from .runs import agent_run, model_runs
from .steps import Step

_SHORT: Final = 64
"""Spans of a trace that is looked at whenever one comes."""


class Trace:
    """The steps of one trace, by their spans; ``touched`` is the line that brought the last one."""

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self.touched = self._looked = 0
        self._missing: set[str] = set()  # parents that no line has brought

    def take(self, step: Step, line: int) -> None:
        """Add a span; one that is there already, as an exporter repeats it, means nothing."""
        self.touched = line
        if step.span in self.steps:
            return
        self.steps[step.span] = step
        self._missing.discard(step.span)
        if step.parent and step.parent not in self.steps:
            self._missing.add(step.parent)

    @property
    def whole(self) -> bool:
        """Whether every parent is there."""
        return not self._missing

    def complete(self) -> bool:
        """Whether nothing is missed: each run ends in a response of its model, and each call has its result.

        A long trace is not looked at again before it grew by a quarter: in all that costs no more than its length.
        """
        if _SHORT < len(self.steps) < self._looked * 5 // 4:
            return False
        self._looked = len(self.steps)
        owners = self._owners()
        last: dict[str, Step] = {}
        for span, step in self.steps.items():
            if step.kind in ("model", "tool") and (owners[span] not in last or last[owners[span]].start <= step.start):
                last[owners[span]] = step
        agents = {span for span, step in self.steps.items() if step.kind == "agent"}
        ends = all(step.kind == "model" for owner, step in last.items() if owner in agents)
        return bool(last) and ends and agents <= last.keys() and self._answered

    @property
    def _answered(self) -> bool:
        """Whether each call has its tool or an answer in a later request, and each of these, if captured, its call."""
        steps = self.steps.values()
        parts = [part for step in steps if not step.failed for part in step.outputs or ()]
        made = {part.call_id for part in parts if part.kind == "call"}
        ran = {step.call_id for step in steps if step.kind == "tool"}
        brought = {own for step in steps for own in step.answers or ()}
        captured = any(step.outputs is not None for step in steps)
        return ("" in ran or made <= ran | brought) and (not captured or (ran - {""}) | brought <= made)

    def events(self) -> Iterator[Event]:
        """Yield the events of all runs, one behind the other: agents' in the order of their starts, then models'."""
        owners = self._owners()
        groups: dict[str, list[Step]] = {}
        for span, step in self.steps.items():
            if step.kind in ("model", "tool"):
                groups.setdefault(owners[span], []).append(step)
        agents = [step for step in self.steps.values() if step.kind == "agent"]
        for agent in sorted(agents, key=lambda step: step.start):
            yield from _in_session(agent_run(agent, groups.pop(agent.span, [])), self._session(agent, owners))
        for owner, group in groups.items():
            models = [step for step in group if step.kind == "model"]
            tools = [step for step in group if step.kind == "tool"]
            trace = group[0].trace
            if owner and owner not in self.steps:
                yield from _in_session(agent_run(None, group), f"{trace}/{owner}")
            elif owner:
                yield from _in_session(model_runs(models, tools, over=True), f"{trace}/{owner}")
            else:
                for session in dict.fromkeys(step.session or trace for step in models):
                    own = [step for step in models if (step.session or trace) == session]
                    yield from _in_session(model_runs(own, tools, over=True), session)

    def _owners(self) -> dict[str, str]:
        """Span → the span of the agent or tool that it is within; "" for none, or the one that is missing.

        A missing parent of another process is none: its spans may be written elsewhere.
        """
        owners: dict[str, str] = {}
        for span in self.steps:
            path: dict[str, None] = {}
            while span not in owners and span not in path:
                path[span] = None
                owner = self._nearest(self.steps[span])
                if owner is not None:
                    owners[span] = owner
                else:
                    span = self.steps[span].parent  # noqa: PLW2901 - up, as far as nothing is known
            owners.update(dict.fromkeys(path, owners.get(span, "")))  # a ring of parents has no owner
        return owners

    def _nearest(self, step: Step) -> str | None:
        """What a step's own parent tells of its owner, None where that has the same."""
        if not step.parent:
            return ""
        above = self.steps.get(step.parent)
        if above is None:
            return "" if step.remote else step.parent
        return above.span if above.kind in ("agent", "tool") else None

    def _session(self, agent: Step, owners: dict[str, str]) -> str:
        """An agent's conversation, or else the trace; one within another agent has a session of its own."""
        above = self.steps.get(owners[agent.span])
        outer = above.session if above is not None else None
        if above is None or (agent.session and agent.session != outer):
            return agent.session or agent.trace
        return f"{agent.session or agent.trace}/{agent.span}"


def _in_session(events: Iterator[Event], session: str) -> Iterator[Event]:
    return (structs.replace(event, session_id=session) for event in events)
