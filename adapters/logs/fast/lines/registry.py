"""The formats whose files are read fast, a line at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from ...chunks import Chunk
from ...framing import Block
from . import acp, claude_code, codex, messages, otlp, pi_session
from .reading import read

Read: TypeAlias = Callable[[Iterable[Block], int, Any], Iterator[Chunk]]
"""From the blocks of a log, the line that they begin with, and the format's mapper to the events."""

READS: Final[Mapping[str, Read]] = {
    "acp": partial(read, acp.UPDATES),
    "claude-code": partial(read, claude_code.FILE),
    "claude-code-stream": partial(read, claude_code.STREAM),
    "codex": partial(read, codex.ROLLOUT),
    "codex-exec": partial(read, codex.EXEC),
    "messages": partial(read, messages.MESSAGES),
    "otlp": partial(read, otlp.SPANS),
    "pi-session": pi_session.read,
}
"""Name of a format → its fast reading."""
