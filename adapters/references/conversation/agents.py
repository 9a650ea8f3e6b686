"""A conversation outside its core: its directory, its parent, and what it waits for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turncheck.model.core.stimuli import Shown
from turncheck.model.machines.chat_log import response_id

from ..provider.port import Call
from .core import Conversation
from .tools import Program


@dataclass
class Request:
    """A request to the model that is in flight. *call* is None where the shell's driver plays the model."""

    session: str
    number: int
    input: tuple[Shown, ...]
    call: Call | None = None
    agent: str | None = None
    """The session, where it is a sub-agent's."""

    @property
    def id(self) -> str:
        """The request's id in the log."""
        return of_agent(self.agent, response_id(self.number))


@dataclass
class Run:
    """A running call of slot *number*, made at position *call*. *program* is None where the shell's driver runs it."""

    session: str
    number: int
    call: int
    call_id: str
    tool: str
    arguments: Mapping[str, Any]
    cancelled: bool = False
    program: Program | None = None


def of_agent(agent: str | None, name: str) -> str:
    """Return the name of a request or an execution: each conversation counts its own, a sub-agent's are told apart.

    >>> of_agent(None, "r1"), of_agent("/3", "r1")
    ('r1', '/3:r1')
    """
    return name if agent is None else f"{agent}:{name}"


@dataclass
class Agent:
    """A conversation with its directory and open requests. A sub-agent knows the run of its parent that started it."""

    core: Conversation
    directory: str
    parent: Run | None = None
    request: Request | None = None
    submitted: Any = None
    timed_out: bool = False
