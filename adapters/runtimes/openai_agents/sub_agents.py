# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""Sub-agents of OpenAI Agents: agents as tools (``Agent.as_tool``), their nested runs streamed by ``on_stream``.

A handoff is no sub-agent: the agent that takes over goes on with the conversation. The runtime's own function for
failures stands, which tells the caller's model of an error in its own words. Nobody but the caller can stop a nested
run, and a nested run takes no further message. Approvals within one are not driven.

The call is known where the tool is invoked; what runs within it finds its sub-agent in a context variable. Its input is
known where the arguments were read: there the sub-agent begins.
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

    from agents import AgentToolStreamEvent
    from agents.tool_context import ToolContext

DEPTH = 2
"""How deep agents are tools of agents: the deepest ones lack the tool, since each level is an agent of its own."""


@dataclass
class Task:
    """The arguments of a call."""

    task: str


def agent_with(
    env: Environment, session: str | None, model: Model, numbers: Iterator[int], depth: int = 0
) -> Agent[Any]:
    """Return an agent with the tools of the options; those that need an agent are agents one level deeper."""
    tools: list[Any] = []
    for declared in env.options.get("tools") or []:
        if declared.get("needs") != "agent":
            tools.append(scripted_tool(env, session, declared))
        elif depth < DEPTH:
            deeper = agent_with(env, session, model, numbers, depth + 1)
            tools.append(_as_tool(env, session, declared["name"], deeper, numbers))
    return Agent(name="agent", model=model, tools=tools)


def _as_tool(
    env: Environment, session: str | None, name: str, agent: Agent[Any], numbers: Iterator[int]
) -> FunctionTool:
    def begins(options: Any) -> str:
        child = CALLED.get()
        task = str(options["params"]["task"])
        number = next(numbers)
        child.name = f"agent{number}"
        child.log({"type": "user-message", "id": f"task{number}", "text": task})
        return task

    def streams(event: AgentToolStreamEvent) -> None:
        CALLED.get().show(event["event"])

    def fails(context: RunContextWrapper[Any], error: Exception) -> str:
        CALLED.get().failure = f"{type(error).__name__}: {error}"
        return default_tool_error_function(context, error)

    limit = (env.options.get("limits") or {}).get("maxRounds")
    tool = agent.as_tool(
        name,
        "scripted",
        parameters=Task,
        input_builder=begins,
        on_stream=streams,
        failure_error_function=fails,
        hooks=Observer(env),
        max_turns=limit,
    )
    invoke = tool.on_invoke_tool

    async def invoked(context: ToolContext[Any], arguments: str) -> Any:
        child = Voice(env, session, None, context.tool_call_id)
        CALLED.set(child)
        stop: dict[str, Any] = {"reason": "completed"}
        try:
            result = await invoke(context, arguments)
            if child.failure is not None:
                stop = {"reason": "error", "detail": child.failure}
        except asyncio.CancelledError:
            stop = {"reason": "interrupted"}
            raise
        finally:
            if child.name is not None:
                child.stop(**stop)
        return result

    tool.on_invoke_tool = invoked
    return tool
