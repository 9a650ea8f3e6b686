"""The known runtimes, by their names as targets: the single place to add one.

A runtime is a package at an exact version, the lock file of an environment that has it, and an adapter that speaks the
protocol of docs/protocol.md. ``tests/adapters/targets/test_environments.py`` compares each lock file with the version
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
    """Return the runtime that *text* names, without a version the newest; None if no runtime has that name.

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

    *say* is called with a line before each slow step. Raises StartError if the environment cannot be made.
    """
    runtime.environment.make(say)
    return runtime.environment.command(runtime.adapter)


def _known(name: str, description: str, package: str, adapter: str, lock: str = "") -> KnownRuntime:
    """Return the entry for *name* with its version; *lock* is the lock file's folder, if not the adapter's."""
    name, _, version = name.partition("@")
    path = _RUNTIMES / adapter
    locks = _RUNTIMES / lock if lock else path.parent
    made = f"{path.parent.name.replace('_', '-')}-{version}"
    environment = (
        NodeEnvironment(made, locks / "package-lock.json")
        if path.suffix == ".mjs"
        else PythonEnvironment(made, locks / "requirements.lock")
    )
    return KnownRuntime(name, version, description, package, path, environment)


_PI: Final = "pi/adapter.mjs"
_KNOWN: Final[Mapping[str, KnownRuntime]] = {
    str(runtime): runtime
    for runtime in (
        _known(
            "pi@0.73.1", "pi's agent core: steering, follow-ups, abort", "@mariozechner/pi-agent-core", _PI, "pi/0.73.1"
        ),
        _known(
            "pi@0.87.1",
            "pi's agent core, continued under another name",
            "@earendil-works/pi-agent-core",
            _PI,
            "pi/0.87.1",
        ),
        _known(
            "pi-harness@0.87.1",
            "pi's harness: sessions on disk, compaction, retries",
            "@earendil-works/pi-agent-core",
            "pi/harness.mjs",
            "pi/0.87.1",
        ),
        _known("ai-sdk@6.0.326", "the AI SDK's streamText", "ai", "ai_sdk/adapter.mjs"),
        _known(
            "ai-sdk-resumable@6.0.326",
            "the AI SDK's resumable streams, and its chat clients",
            "ai",
            "ai_sdk/resumable.mjs",
        ),
        _known("pydantic-ai@2.68.0", "pydantic-ai's native events", "pydantic-ai-slim", "pydantic_ai/adapter.py"),
        _known("pydantic-ai-ag-ui@2.68.0", "pydantic-ai over AG-UI", "pydantic-ai-slim", "pydantic_ai/ag_ui.py"),
        _known(
            "openai-agents@0.24.0",
            "the OpenAI Agents SDK's streamed runs, with a session",
            "openai-agents",
            "openai_agents/adapter.py",
        ),
        _known(
            "langgraph@1.2.22", "LangGraph's create_agent on a checkpointed thread", "langgraph", "langgraph/adapter.py"
        ),
    )
}
