"""The lesson of a law, for `explain`: its story, the smallest example that breaks it, and the right behaviour.

The stories are prose (``laws/stories.toml``). ``tests/static/teaching_examples.py`` makes the examples from wrong
implementations, each with a fault that its law names; a test judges each by that law.
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from ..verify.outcome.results import AnyCounterexample

STORIES: Final = Path(__file__).parents[1] / "laws" / "stories.toml"
EXAMPLES: Final = Path(__file__).parents[1] / "laws" / "examples.json"


class LinesExample(msgspec.Struct, frozen=True, tag_field="of", tag="lines"):
    """The lines of a recorded log that breaks the law in `check`; ``right`` is the same log without the fault."""

    lines: tuple[str, ...]
    right: tuple[str, ...]


AnyExample: TypeAlias = AnyCounterexample | LinesExample


class Lesson(msgspec.Struct, frozen=True, omit_defaults=True):
    """The fault of a wrong implementation in a sentence, and its smallest example.

    ``right`` is the log of a conforming runtime for the same word; empty if the example itself holds it.
    """

    fault: str
    wrong: AnyExample
    right: tuple[dict[str, Any], ...] = ()


@cache
def stories() -> dict[str, str]:
    """Law → its story: the reason for the law, in a few sentences."""
    return {law: " ".join(text.split()) for law, text in tomllib.loads(STORIES.read_text("utf-8")).items()}


@cache
def lessons() -> dict[str, Lesson]:
    """Map each law to its example."""
    return msgspec.json.decode(EXAMPLES.read_bytes(), type=dict[str, Lesson])
