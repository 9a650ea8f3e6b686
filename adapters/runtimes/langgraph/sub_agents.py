# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""Sub-agents of LangGraph: an agent of its own that is called in a tool, as its documentation has subagents.

The nested run is streamed by ``astream_events`` within the tool; its configuration, callbacks and checkpointer come
from its caller's run, as for any subgraph. What it raises the tool raises. Nobody but the caller can stop it, and it
takes no further message. Approvals within one are not driven.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

from langchain.agents import create_agent
from langchain_core.tools import InjectedToolCallId, StructuredTool
from pydantic import create_model
from scripted import ScriptedModel, scripted_tool
from voice import Voice

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH = 2
"""The depth to which agents call agents: the deepest ones lack the tool."""


def agent_of(voice: Voice, numbers: Iterator[int], stored: int, **more: Any) -> Any:
    """Return an agent with the tools of the options; those that need an agent call one a level deeper."""
    env, session = voice.env, voice.session
    tools: list[Any] = []
    for declared in env.options.get("tools") or []:
        if declared.get("needs") != "agent":
            tools.append(scripted_tool(env, session, declared, voice.name))
        elif voice.depth < DEPTH:
            tools.append(_calling(voice, declared["name"], numbers, stored))
    model = ScriptedModel(env=env, session=session, stored=stored, agent=voice.name, parent=voice.call)
    return create_agent(model, tools, **more)


def _calling(voice: Voice, name: str, numbers: Iterator[int], stored: int) -> StructuredTool:
    """A tool that calls an agent."""

    async def execute(turncheck_call: str, task: str) -> str:
        number = next(numbers)
        child = Voice(voice.env, voice.session, f"agent{number}", turncheck_call, voice.depth + 1)
        child.log({"type": "user-message", "id": f"task{number}", "text": task})
        stop: dict[str, Any] = {"reason": "completed"}
        try:
            return await _answer(child, agent_of(child, numbers, stored), task)
        except asyncio.CancelledError:
            stop = {"reason": "interrupted"}
            raise
        except Exception as error:
            stop = {"reason": "error", "detail": f"{type(error).__name__}: {error}"}
            raise
        finally:
            child.stop(**stop)

    arguments = create_model("Arguments", turncheck_call=Annotated[str, InjectedToolCallId], task=str)
    return StructuredTool.from_function(coroutine=execute, name=name, description="scripted", args_schema=arguments)


async def _answer(child: Voice, agent: Any, task: str) -> str:
    """Run the agent to the end of its events; return the text of its last message."""
    limit = (child.env.options.get("limits") or {}).get("maxRounds")
    config: Any = {"recursion_limit": 2 * limit} if limit else {}
    given: Any = {"messages": [{"role": "user", "content": task}]}
    messages: list[Any] = []
    async for event in agent.astream_events(given, config, version="v2", stream_mode="updates"):
        child.show(event)
        if event["event"] == "on_chain_end" and len(event["parent_ids"]) == child.level:
            messages = event["data"]["output"]["messages"]
    return messages[-1].text
