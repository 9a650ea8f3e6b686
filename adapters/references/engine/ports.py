"""The parts that a user of the server supplies, and their values: a model's provider, a flow of tools, a storage."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias
from urllib.parse import quote

import msgspec

from turncheck.model.writing import write_file

from .session import Message, Session
from .wire import Data


@dataclass(frozen=True)
class Delta:
    """A piece of text; ``begins`` where it begins a text item."""

    text: str
    begins: bool = False


@dataclass(frozen=True)
class Call:
    """The model calls a tool; ``arguments`` are JSON text as the model wrote it."""

    call_id: str
    tool: str
    arguments: str


@dataclass(frozen=True)
class Done:
    """The model's response is whole; the reason and the usage are the provider's own."""

    finish_reason: str
    usage: Any = None


Chunk: TypeAlias = Delta | Call | Done


@dataclass(frozen=True)
class ToolOutput:
    """A tool's output: content for the model, and perhaps data for the client and metadata for the session."""

    content: Any
    data: Data | None = None
    metadata: dict[str, Any] | None = None


class Provider(Protocol):
    """A model."""

    async def stream(self, messages: Sequence[Message]) -> AsyncIterator[Chunk]:
        """Open a response. Its errors become ``llm_error``, those of the iteration ``stream_error``."""
        ...


class Flow(Protocol):
    """The tools."""

    async def execute(self, tool: str, arguments: dict[str, Any], session: Session) -> ToolOutput:
        """Execute a call. Its errors become ``tool_error``, and go to the model as the tool's content."""
        ...


class Compactor(Protocol):
    """Summarises a long history."""

    async def compact(self, messages: Sequence[Message]) -> str:
        """Return the summary of *messages*. After an error they are dropped, without a word to the client."""
        ...


class Storage(Protocol):
    """Keeps sessions between requests."""

    def load(self, session_id: str) -> Session | None:
        """The session, None where there is none."""
        ...

    def save(self, session: Session) -> None:
        """Keep it."""
        ...


class Files:
    """A storage: one JSON file per session, replaced as a whole."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def load(self, session_id: str) -> Session | None:
        """The session, None where there is none. Raises OSError, msgspec.MsgspecError where it cannot be read."""
        try:
            return msgspec.json.decode(self._file(session_id).read_bytes(), type=Session)
        except FileNotFoundError:
            return None

    def save(self, session: Session) -> None:
        """Put it in the place of the old one. Raises OSError."""
        write_file(self._file(session.session_id), msgspec.json.encode(session))

    def _file(self, session_id: str) -> Path:
        return self._directory / f"{quote(session_id, safe='')}.json"
