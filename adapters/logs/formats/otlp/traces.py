"""From the spans of one trace to its runs: which spans belong together, and when the trace is whole."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from turncheck.model.core.events import Event

from .runs import tell_agent, tell_models
from .steps import Step

_SHORT: Final = 64
"""Spans of a trace that is looked at whenever one comes."""
_OWNERS: Final = ("agent", "tool")
_OWNED: Final = ("model", "tool")
_start: Final = attrgetter("start")


class Trace:
    """The steps of one trace, by their spans; ``touched`` is the line that brought the last one.

    ``missing`` has the parents that no line has brought. As steps come, it is kept which calls models made, which ran
    as tools, and of which the results were brought to a model: that decides if the trace is complete.
    """

    __slots__ = (
        *("_agents", "_brought", "_captured", "_children", "_looked", "_made", "_ran"),
        *("missing", "steps", "touched"),
    )

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self.missing: set[str] = set()
        self.touched = self._looked = 0
        self._agents: list[Step] = []
        self._children: dict[str, list[Step]] = {}  # parent → its models and tools
        self._made: set[str] = set()
        self._ran: set[str] = set()
        self._brought: set[str] = set()
        self._captured = False

    def take(self, step: Step, line: int) -> None:
        """Add a span; one that is there already, as an exporter repeats it, means nothing."""
        self.touched = line
        steps, span, parent, kind = self.steps, step.span, step.parent, step.kind
        if span in steps:
            return
        steps[span] = step
        self.missing.discard(span)
        if parent and parent not in steps:
            self.missing.add(parent)
        if kind == "agent":
            self._agents.append(step)
        elif kind != "other":
            if parent in self._children:
                self._children[parent].append(step)
            else:
                self._children[parent] = [step]
            if kind == "tool":
                self._ran.add(step.call_id)
            else:
                self._note(step)

    def _note(self, model: Step) -> None:
        outputs = model.outputs
        if outputs is not None:
            self._captured = True
            if not model.failed:
                for part in outputs:
                    if part.kind == "call":
                        self._made.add(part.call_id)
        if model.answers:
            self._brought.update(model.answers)

    def complete(self) -> bool:
        """Return whether nothing is missed: each run ends in a response of its model, and each call has its result.

        A long trace is not looked at again before it grew by a quarter: in all that costs no more than its length.
        """
        if _SHORT < len(self.steps) < self._looked * 5 // 4:
            return False
        self._looked = len(self.steps)
        if not self._children or not self._answered:
            return False
        groups = self._groups({})
        for agent in self._agents:
            group = groups.get(agent.span)
            if group is None or _latest(group).kind != "model":
                return False
        return True

    @property
    def _answered(self) -> bool:
        """True if each call has its tool or an answer in a later request, and each of these, if captured, its call."""
        made, ran = self._made, self._ran
        done = ran | self._brought
        return ("" in ran or made <= done) and (not self._captured or done - {""} <= made)

    def events(self) -> list[Event]:
        """Return the events of all runs, one behind the other: agents' in the order of their starts, then models'."""
        told: list[Event] = []
        owners: dict[str, str] = {}
        groups, agents = self._groups(owners), self._agents
        for agent in sorted(agents, key=_start):
            tell_agent(told, self._session(agent, owners), agent, groups.get(agent.span, ()))
        ran = {agent.span for agent in agents}
        for owner, group in groups.items():
            if owner in ran:
                continue
            trace = group[0].trace
            if owner and owner not in self.steps:
                tell_agent(told, f"{trace}/{owner}", None, group)
                continue
            models = [step for step in group if step.kind == "model"]
            tools = [step for step in group if step.kind == "tool"]
            if owner:
                tell_models(told, f"{trace}/{owner}", models, tools)
                continue
            for session in dict.fromkeys(step.session or trace for step in models):
                own = [step for step in models if (step.session or trace) == session]
                tell_models(told, session, own, tools)
        return told

    def _groups(self, owners: dict[str, str]) -> dict[str, list[Step]]:
        """Owner → its models and tools, in the order in which they came."""
        steps, children = self.steps, self._children
        if all(parent in steps and steps[parent].kind in _OWNERS for parent in children):
            return children
        groups: dict[str, list[Step]] = {}
        for step in steps.values():
            if step.kind in _OWNED:
                groups.setdefault(self._owner(step, owners), []).append(step)
        return groups

    def _owner(self, step: Step, owners: dict[str, str]) -> str:
        """The span of the agent or tool that a step is within; "" for none, or the one that is missing.

        A missing parent of another process is none: its spans may be written elsewhere. What is known of other spans is
        in *owners*, and so is what is found.
        """
        steps = self.steps
        path: dict[str, None] = {}
        owner = ""  # that of a ring of parents
        while step.span not in path:
            path[step.span] = None
            above = steps.get(step.parent)
            if above is None:
                owner = "" if step.remote else step.parent
                break
            if above.kind in _OWNERS:
                owner = step.parent
                break
            if step.span in owners:
                owner = owners[step.span]
                break
            step = above
        owners.update(dict.fromkeys(path, owner))
        return owner

    def _session(self, agent: Step, owners: dict[str, str]) -> str:
        """An agent's conversation, or else the trace; one within another agent has a session of its own."""
        if not agent.parent:
            return agent.session or agent.trace
        above = self.steps.get(self._owner(agent, owners))
        outer = above.session if above is not None else None
        if above is None or (agent.session and agent.session != outer):
            return agent.session or agent.trace
        return f"{agent.session or agent.trace}/{agent.span}"


def _latest(group: Sequence[Step]) -> Step:
    """The step that started last, of several at once the one that came last."""
    latest = group[0]
    for step in group:
        if latest.start <= step.start:
            latest = step
    return latest
