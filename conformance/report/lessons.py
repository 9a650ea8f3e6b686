"""What `explain` teaches of a law: its story, the smallest example that breaks it, and what would have been right.

The stories are prose (``laws/stories.toml``). The examples are made by ``tests/static/teaching_examples.py`` of wrong
implementations, each with a fault that its law names; a test judges each by that law.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from ..verify.results import Counterexample, WordCounterexample

STORIES: Final = Path(__file__).parents[1] / "laws" / "stories.toml"
EXAMPLES: Final = Path(__file__).parents[1] / "laws" / "examples.json"


class LinesExample(msgspec.Struct, frozen=True, tag_field="of", tag="lines"):
    """A recorded log, line by line, that `check` finds the law broken in; ``right`` is the same log without it."""

    lines: tuple[str, ...]
    right: tuple[str, ...]


class FlowExample(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="of", tag="flow"):
    """Frames that a wrong collation shows as other blocks than it should; ``position`` is the frame it shows at."""

    frames: tuple[dict[str, Any], ...]
    message: str
    expected: Any = None
    observed: Any = None
    position: int | None = None


AnyExample: TypeAlias = Counterexample | WordCounterexample | LinesExample | FlowExample


class Lesson(msgspec.Struct, frozen=True, omit_defaults=True):
    """A wrong implementation's fault in a sentence, and the smallest example of it.

    ``right`` is the log of a conforming runtime that is told the same; empty where the example says it otherwise.
    """

    fault: str
    wrong: AnyExample
    right: tuple[dict[str, Any], ...] = ()


@cache
def stories() -> dict[str, str]:
    """Law → why it matters, in a few sentences."""
    return {law: " ".join(text.split()) for law, text in tomllib.loads(STORIES.read_text("utf-8")).items()}


@cache
def lessons() -> dict[str, Lesson]:
    """Law → its example."""
    return msgspec.json.decode(EXAMPLES.read_bytes(), type=dict[str, Lesson])
