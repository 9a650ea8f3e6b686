"""The session files by row: a log is so many runs, one behind the other."""

import json
from collections.abc import Callable, Iterator, Mapping

from .claude import claude_code, claude_stream
from .clients import acp, messages, pi_session
from .codex import codex, codex_exec
from .contents import Line
from .spans import openinference, otlp

FILES: Mapping[str, Callable[[int], Iterator[Line]]] = {
    "claude-code": claude_code,
    "claude-code-stream": claude_stream,
    "codex": codex,
    "codex-exec": codex_exec,
    "acp": acp,
    "otlp": otlp,
    "openinference": openinference,
    "pi-session": pi_session,
    "messages": messages,
}
"""Row → the lines of a run; a row is called like its format, unless it is one of several dialects."""
DIALECTS: Mapping[str, str] = {"openinference": "otlp"}
"""Row of another dialect → its format."""


_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def log(name: str, least: int) -> bytes:
    """A log of *least* lines or a few more, of whole runs."""
    lines: list[bytes] = []
    number = 0
    while len(lines) < least:
        number += 1
        lines += (_JSON.encode(line).encode() + b"\n" for line in FILES[name](number))
    return b"".join(lines)
