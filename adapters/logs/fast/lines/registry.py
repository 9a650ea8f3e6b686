"""The formats whose files are read fast, a line at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from ...chunks import Chunk
from ...framing import Block
from . import acp, claude_code, codex, messages, otlp, pi_session
from .reading import LineLoop, read

Read: TypeAlias = Callable[[Iterable[Block], int, Any], Iterator[Chunk]]
"""From the blocks of a log, the line that they begin with, and the format's mapper to the events."""

LINES: Final[Mapping[str, LineLoop]] = {
    "acp": acp.UPDATES,
    "claude-code": claude_code.FILE,
    "claude-code-stream": claude_code.STREAM,
    "codex": codex.ROLLOUT,
    "codex-exec": codex.EXEC,
    "messages": messages.MESSAGES,
    "otlp": otlp.SPANS,
}
"""Name of a format whose lines tell their events at once → what reads them."""
READS: Final[Mapping[str, Read]] = {
    **{name: partial(read, loop) for name, loop in LINES.items()},
    "pi-session": pi_session.read,
}
"""Name of a format → its fast reading."""
