"""The registry of log formats: those that turncheck brings, and those that other distributions add."""

import importlib
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Final

from .acp import ACP
from .ag_ui import AG_UI
from .ai_sdk import AI_SDK
from .anthropic import ANTHROPIC
from .claude_code import CLAUDE_CODE, CLAUDE_STREAM
from .codex import CODEX, CODEX_EXEC
from .mapping import Format
from .messages import MESSAGES
from .openai_chat import OPENAI_CHAT
from .openai_responses import OPENAI_RESPONSES
from .otlp import OTLP
from .own import OWN
from .pi import PI
from .pi_session import PI_SESSION

_BUILT_IN: Final = (
    *(AG_UI, AI_SDK, PI, PI_SESSION, CLAUDE_CODE, CLAUDE_STREAM, CODEX, CODEX_EXEC),
    *(ACP, ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, OTLP, MESSAGES, OWN),
)
FORMATS: Final[Mapping[str, Format]] = {form.name: form for form in _BUILT_IN}
"""Name → format, of those that turncheck brings."""
GROUP: Final = "turncheck.formats"
"""The entry point group in which a distribution names its formats: name → a ``Format``."""
SCHEME: Final = "python:"
"""The beginning of ``--format`` where it names an object of the user's own: ``python:module:NAME``."""


class UnsupportedFormatError(ValueError):
    """The log is in no format that is read, or the format that is named cannot be had."""


@cache
def every_format() -> Mapping[str, Format]:
    """Name → format: those that turncheck brings, and those of the entry point group ``turncheck.formats``.

    Raises UnsupportedFormatError for an entry point that gives no format.
    """
    return {**FORMATS, **{point.name: _added(point) for point in entry_points(group=GROUP)}}


def _added(point: EntryPoint) -> Format:
    try:
        found = point.load()
    except Exception as error:
        raise UnsupportedFormatError(f"the entry point {point.name} of {GROUP} cannot be loaded: {error}") from error
    return _a_format(found, f"the entry point {point.name} of {GROUP}")


def own_format(text: str) -> Format:
    """Return the format ``python:module:NAME``. The working directory is importable. Raises UnsupportedFormatError."""
    module, colon, name = text.removeprefix(SCHEME).partition(":")
    if not (module and colon and name):
        raise UnsupportedFormatError(f"{text} names no format: write {SCHEME}MODULE:NAME")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), name)
    except Exception as error:
        raise UnsupportedFormatError(f"{text} cannot be imported: {type(error).__name__}: {error}") from error
    return _a_format(found, text)


def _a_format(found: object, named: str) -> Format:
    if isinstance(found, Format):
        return found
    raise UnsupportedFormatError(f"{named} is no Format, but of the type {type(found).__name__}")
