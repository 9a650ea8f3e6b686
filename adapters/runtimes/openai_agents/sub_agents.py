# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""Sub-agents of OpenAI Agents: agents as tools (``Agent.as_tool``), their nested runs streamed by ``on_stream``.

A handoff is no sub-agent: the agent that takes over goes on with the conversation. The runtime's own function for
failures stands, which tells the caller's model of an error in its own words. Nobody but the caller can stop a nested
run, and a nested run takes no further message. Approvals within one are not driven.

The call is known where the tool is invoked; what runs within it finds its sub-agent in a context variable. Its input is
known where the arguments were read: there the sub-agent begins. The runtime cancels the calls of a run that is stopped
in the order of a set, which differs from process to process: what that *cut* is logged when the run ends, the innermost
first.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agents import Agent, FunctionTool, Model, RunContextWrapper
from agents.tool import default_tool_error_function
from scripted import CALLED, Observer, Voice, scripted_tool
from turncheck_kit import Environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents.tool_context import ToolContext

DEPTH = 2
"""The depth to which agents are tools of agents: the deepest lack the tool, since each level is an agent of its own."""


@dataclass
class Task:
    """The arguments of a call."""

    task: str


class Team:
    """The agents of one session: its own, and those that are tools. *numbers* name the sub-agents as they begin."""

    def __init__(self, env: Environment, session: str | None, model: Model, numbers: Iterator[int]) -> None:
        self.env, self.session, self.model, self.numbers = env, session, model, numbers
        self.cut: list[Voice] = []
        """Sub-agents that were cancelled, whose ends are not logged."""

    def agent(self, depth: int = 0) -> Agent[Any]:
        """Return an agent with the tools of the options; those that need an agent are agents one level deeper."""
        tools: list[Any] = []
        for declared in self.env.options.get("tools") or []:
            if declared.get("needs") != "agent":
                tools.append(scripted_tool(self.env, self.session, declared))
            elif depth < DEPTH:
                tools.append(self._as_tool(declared["name"], self.agent(depth + 1)))
        return Agent(name="agent", model=self.model, tools=tools)

    def end(self) -> None:
        """Log the ends of those that were cancelled."""
        for child in sorted(self.cut, key=lambda child: -child.number):
            child.stop(reason="interrupted")
        self.cut.clear()

    def _as_tool(self, name: str, agent: Agent[Any]) -> FunctionTool:
        tool = agent.as_tool(
            name,
            "scripted",
            parameters=Task,
            input_builder=self._begin,
            on_stream=lambda event: CALLED.get().show(event["event"]),
            failure_error_function=_fail,
            hooks=Observer(self.env),
            max_turns=(self.env.options.get("limits") or {}).get("maxRounds"),
        )
        invoke = tool.on_invoke_tool

        async def invoked(context: ToolContext[Any], arguments: str) -> Any:
            child = Voice(self.env, self.session, None, context.tool_call_id)
            CALLED.set(child)
            try:
                result = await invoke(context, arguments)
            except asyncio.CancelledError:
                self.cut += [child] if child.name else []
                raise
            if child.name is not None:  # else its arguments were none
                reason = "completed" if child.failure is None else "error"
                child.stop(reason=reason, detail=child.failure)
            return result

        tool.on_invoke_tool = invoked
        return tool

    def _begin(self, options: Any) -> str:
        child, task = CALLED.get(), str(options["params"]["task"])
        child.number = next(self.numbers)
        child.name = f"agent{child.number}"
        child.log({"type": "user-message", "id": f"task{child.number}", "text": task})
        return task


def _fail(context: RunContextWrapper[Any], error: Exception) -> str:
    CALLED.get().failure = f"{type(error).__name__}: {error}"
    return default_tool_error_function(context, error)
