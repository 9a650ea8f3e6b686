"""A projector that keeps the sub-agents of a session apart, one that keeps their events until asked, and wrong ones."""

from typing import Any, ClassVar

from breaking import breaks

from .plain import Plain


class Agents:
    """A projector of its own for the session's agent (None), and for each sub-agent."""

    profile: ClassVar = {"capabilities": ["policies", "feed", "repeats", "steps", "rounds", "sub-agents"]}

    def __init__(self, policies=None):
        self.policies = policies
        self.reset()

    def reset(self):
        self.at = -1
        self.agents: dict[Any, Any] = {None: Plain(self.policies)}

    def project(self, events, policies=None):
        if not events:
            return self.result()
        session = type(self)(policies)
        session.feed(events)
        return session.result()

    def feed(self, events, start=None):
        for event in events if start is None else events[self.at + 1 - start :]:
            self.at += 1
            self.take(self.agent(event), event)

    def agent(self, event):
        """The sub-agent that an event names."""
        name = event.get("agentId") if isinstance(event, dict) else None
        return name if isinstance(name, str) else None

    def take(self, agent, event):
        one = self.agents.setdefault(agent, Plain(self.policies))
        one.at = self.at - 1
        one.take(event)

    def result(self):
        own, *others = ((name, one.result()) for name, one in self.agents.items())
        return own[1] | {"agents": dict(others)}


class ProjectsWhenAsked(Agents):
    """It keeps each agent's events with their positions, and projects agent by agent, the last first."""

    def reset(self):
        self.at = -1
        self.kept: dict[Any, list[Any]] = {None: []}

    def take(self, agent, event):
        self.kept.setdefault(agent, []).append((self.at, event))

    def result(self):
        shown = {}
        for agent, events in reversed(self.kept.items()):
            one = Plain(self.policies)
            for at, event in events:
                one.at = at - 1
                one.take(event)
            shown[agent] = one.result()
        own = shown.pop(None)
        return own | {"agents": shown}


# ---- wrong ones ----


@breaks("agents-kept-apart", "L-S1")
class MixesAgents(Agents):
    """What a sub-agent does is shown as the work of the agent that called it."""

    def agent(self, event):
        return None


@breaks("agents-kept-apart", "L-S1")
class LastAgentWins(Agents):
    """A second sub-agent takes the place of the first, which is shown no more."""

    def result(self):
        shown = super().result()
        return shown | {"agents": dict([*shown["agents"].items()][-1:])}


@breaks("agents-kept-apart", "L-S1")
class DropsWhatSubAgentsDo(Agents):
    """The events of sub-agents are shown nowhere."""

    def take(self, agent, event):
        if agent is None:
            super().take(agent, event)


@breaks("agents-kept-apart", "L-S1")
class TheLastAgentSpeaks(Agents):
    """An event without an agent is attributed to the agent of the event before."""

    last = None

    def agent(self, event):
        self.last = super().agent(event) or self.last
        return self.last


@breaks("agents-kept-apart", "L-S1")
class ResultsByCallIdAlone(Agents):
    """A result goes to the first agent that has an open call of that id, whoever the result is for."""

    def take(self, agent, event):
        if isinstance(event, dict) and event.get("type") == "tool-result":
            agent = next((name for name, one in self.agents.items() if self.waits(one, event.get("callId"))), agent)
        super().take(agent, event)

    def waits(self, one, name):
        return one.cycle is not None and isinstance(name, str) and name in one.cycle.calls and not one.is_answered(name)


@breaks("agents-kept-apart", "L-S1")
class AStopEndsAllAgents(Agents):
    """When the session's agent stops, its sub-agents are shown as stopped."""

    def take(self, agent, event):
        super().take(agent, event)
        if agent is None and isinstance(event, dict) and event.get("type") == "run-stop":
            for name, one in self.agents.items():
                if name is not None and one.cycle is not None:
                    one.stop("interrupted")


@breaks("agents-kept-apart", "L-S1")
class SubAgentsCountFromZero(Agents):
    """The positions in a sub-agent's view count its own events alone."""

    def take(self, agent, event):
        if agent is None:
            super().take(agent, event)
        else:
            self.agents.setdefault(agent, Plain(self.policies)).take(event)
