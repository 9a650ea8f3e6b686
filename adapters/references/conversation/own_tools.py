"""The tools that the shell runs itself, and who is offered which (BED-009b, BED-009c)."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

SPAWN: Final = "spawn_agent"
"""The tool that starts a sub-agent; its argument ``task`` is the sub-agent's first message.

So does each tool that ``needs`` an agent.
"""
SUBMIT: Final = "submit_result"
"""The tool with which a sub-agent submits its ``result``; nobody else has it (BED-009c)."""

Declarations: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Name of a tool → its declaration: ``name``, and perhaps ``description``, ``schema``, ``command``."""

_TASK: Final[Mapping[str, Any]] = {"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]}
_RESULT: Final[Mapping[str, Any]] = {"type": "object", "properties": {"result": {}}, "required": ["result"]}
_SPAWNS: Final[Mapping[str, Any]] = {
    "name": SPAWN,
    "description": "Start a sub-agent, which works on a task and submits its result.",
    "schema": _TASK,
}
_SUBMITS: Final[Mapping[str, Any]] = {
    "name": SUBMIT,
    "description": "Submit the result of your task. Without it, your work is lost.",
    "schema": _RESULT,
}


def spawning(tools: Declarations) -> frozenset[str]:
    """Return the names of the tools that start a sub-agent.

    >>> sorted(spawning({"read": {}, SPAWN: {}, "delegate": {"needs": "agent"}}))
    ['delegate', 'spawn_agent']
    """
    return frozenset(name for name, tool in tools.items() if name == SPAWN or tool.get("needs") == "agent")


def offered(tools: Declarations, kind: str) -> Declarations:
    """Return the tools of a conversation of *kind*, ``user`` or ``sub-agent``; *tools* are those of a user's.

    >>> [*offered({"read": {"name": "read"}, SPAWN: {"name": SPAWN}}, "sub-agent")]
    ['read', 'submit_result']
    """
    spawns = spawning(tools)
    if kind == "user":
        return {name: {**_SPAWNS, **tool} if name in spawns else tool for name, tool in tools.items()}
    return {name: tool for name, tool in tools.items() if name not in spawns} | {SUBMIT: _SUBMITS}
