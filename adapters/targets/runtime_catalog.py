"""The known runtimes, by the name that is a target: the single place to add one.

A runtime is a package at an exact version, the lock file of an environment that has it, and an adapter that speaks the
protocol of docs/protocol.md. ``tests/adapters/targets/test_environments.py`` holds each lock file to the version
named here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..protocol.errors import BadTargetError
from .environments import Command, Environment, NodeEnvironment, PythonEnvironment, Say

_RUNTIMES: Final = Path(__file__).parents[1] / "runtimes"
SERVER: Final = PythonEnvironment("pydantic-ai-server-2.68.0", _RUNTIMES / "pydantic_ai_server/requirements.lock")
"""The environment of the server in docs/http.md: its target is an address, so it is no known runtime."""
_PYDANTIC_AI: Final = PythonEnvironment("pydantic-ai-2.68.0", _RUNTIMES / "pydantic_ai/requirements.lock")


@dataclass(frozen=True)
class KnownRuntime:
    """A runtime whose adapter comes with this package.

    ``package`` is the package under test, by its name in the registry; ``adapter`` the script that drives it in
    ``environment``. Two adapters of one package share an environment.
    """

    name: str
    version: str
    description: str
    package: str
    adapter: Path
    environment: Environment

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


def known() -> Mapping[str, KnownRuntime]:
    """Return every known runtime by its full name, the versions of one in their order."""
    return _KNOWN


def find(text: str) -> KnownRuntime | None:
    """Return the runtime that *text* names, the newest one without a version; None where no runtime has that name.

    Raises BadTargetError for an unknown version of a known name.
    """
    name, _, version = text.partition("@")
    versions = {runtime.version: runtime for runtime in known().values() if runtime.name == name}
    if not versions:
        return None
    if text == name:
        return list(versions.values())[-1]
    if version not in versions:
        there = ", ".join(f"{name}@{known_version}" for known_version in versions)
        raise BadTargetError(f"no target {text!r}: of {name} there is {there}")
    return versions[version]


def command_of(runtime: KnownRuntime, say: Say) -> Command:
    """Return the arguments and additional variables that start *runtime*; its environment is made if needed.

    *say* is called with a line before each slow step. Raises StartError where the environment cannot be made.
    """
    runtime.environment.make(say)
    return runtime.environment.command(runtime.adapter)


_KNOWN: Final[Mapping[str, KnownRuntime]] = {
    str(runtime): runtime
    for runtime in (
        KnownRuntime(
            name="pi",
            version="0.73.1",
            description="pi's agent core: steering, follow-ups, abort",
            package="@mariozechner/pi-agent-core",
            adapter=_RUNTIMES / "pi/adapter.mjs",
            environment=NodeEnvironment("pi-0.73.1", _RUNTIMES / "pi/0.73.1/package-lock.json"),
        ),
        KnownRuntime(
            name="pi",
            version="0.87.1",
            description="pi's agent core, continued under another name",
            package="@earendil-works/pi-agent-core",
            adapter=_RUNTIMES / "pi/adapter.mjs",
            environment=NodeEnvironment("pi-0.87.1", _RUNTIMES / "pi/0.87.1/package-lock.json"),
        ),
        KnownRuntime(
            name="ai-sdk",
            version="6.0.326",
            description="the AI SDK's streamText",
            package="ai",
            adapter=_RUNTIMES / "ai_sdk/adapter.mjs",
            environment=NodeEnvironment("ai-sdk-6.0.326", _RUNTIMES / "ai_sdk/package-lock.json"),
        ),
        KnownRuntime(
            name="pydantic-ai",
            version="2.68.0",
            description="pydantic-ai's native events",
            package="pydantic-ai-slim",
            adapter=_RUNTIMES / "pydantic_ai/adapter.py",
            environment=_PYDANTIC_AI,
        ),
        KnownRuntime(
            name="pydantic-ai-ag-ui",
            version="2.68.0",
            description="pydantic-ai over AG-UI",
            package="pydantic-ai-slim",
            adapter=_RUNTIMES / "pydantic_ai/ag_ui.py",
            environment=_PYDANTIC_AI,
        ),
        KnownRuntime(
            name="openai-agents",
            version="0.24.0",
            description="the OpenAI Agents SDK's streamed runs, with a session",
            package="openai-agents",
            adapter=_RUNTIMES / "openai_agents/adapter.py",
            environment=PythonEnvironment("openai-agents-0.24.0", _RUNTIMES / "openai_agents/requirements.lock"),
        ),
        KnownRuntime(
            name="langgraph",
            version="1.2.22",
            description="LangGraph's create_agent on a checkpointed thread",
            package="langgraph",
            adapter=_RUNTIMES / "langgraph/adapter.py",
            environment=PythonEnvironment("langgraph-1.2.22", _RUNTIMES / "langgraph/requirements.lock"),
        ),
    )
}
