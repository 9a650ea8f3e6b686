"""Lessons of `explain`: a law's story, the smallest example that breaks it, and the right log beside it.

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
    """Lines of a recorded log in which `check` finds the law broken; ``right`` is the same log, mended."""

    lines: tuple[str, ...]
    right: tuple[str, ...]


class FlowExample(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="of", tag="flow"):
    """Frames that a wrong collation turns into wrong blocks; ``position`` is the frame where that shows."""

    frames: tuple[dict[str, Any], ...]
    message: str
    expected: Any = None
    observed: Any = None
    position: int | None = None


AnyExample: TypeAlias = Counterexample | WordCounterexample | LinesExample | FlowExample


class Lesson(msgspec.Struct, frozen=True, omit_defaults=True):
    """A wrong implementation's fault in a sentence, and the smallest example of it.

    ``right`` is the log of a conforming runtime that gets the same stimuli; empty where the example itself has it.
    """

    fault: str
    wrong: AnyExample
    right: tuple[dict[str, Any], ...] = ()


@cache
def stories() -> dict[str, str]:
    """Map each law to the reason why it matters, in a few sentences."""
    return {law: " ".join(text.split()) for law, text in tomllib.loads(STORIES.read_text("utf-8")).items()}


@cache
def lessons() -> dict[str, Lesson]:
    """Map each law to its example."""
    return msgspec.json.decode(EXAMPLES.read_bytes(), type=dict[str, Lesson])
