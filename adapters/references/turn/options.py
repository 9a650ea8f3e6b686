"""A session's options: its queue policy, its tools, the policy on their calls, and its bounds (TM-3.3, TM-5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from turncheck.model.machines.turn import DEFAULTS

from .policy import Policy

LOCK_SECONDS: Final = 5.0
"""Seconds for which a turn waits for its lock before it fails as ``timeout``: enough for a copy of the folder."""


@dataclass(frozen=True)
class Options:
    """A session's options. A bound of None is the machine's default; time and text are then unbounded.

    ``queue`` is the delivery of a message that names none and comes in a turn: ``followUp`` (collect) or ``steer``.
    ``tools`` are ``{name, schema}``; ``policy`` decides on their calls (TM-2.4, TM-4.1). The model is shown
    ``contracts`` (the workspace's rules) and ``memory_pointers`` (paths of stored memory), one entry each, and the
    turn's ``objective``. ``max_tokens`` and ``max_seconds`` are per turn, ``max_tool_seconds`` is per run of a tool;
    ``max_text`` counts characters.
    """

    queue: str = "followUp"
    tools: Sequence[Mapping[str, Any]] = ()
    policy: Policy = field(default_factory=Policy)
    contracts: Sequence[str] = ()
    memory_pointers: Sequence[str] = ()
    max_calls: int | None = None
    max_rounds: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
    max_tool_seconds: float | None = None
    max_text: int | None = None
    lock_seconds: float = LOCK_SECONDS

    def tables(self) -> dict[str, Any]:
        """The machine's tables."""
        given = {
            "while_active": self.queue,
            "max_calls": self.max_calls,
            "max_rounds": self.max_rounds,
            "token_bound": None if self.max_tokens is None else self.max_tokens + 1,
        }
        return {name: DEFAULTS[name] if value is None else value for name, value in given.items()}

    @property
    def objective(self) -> str:
        """The objective of a turn: to answer its message, within its bounds (TM-2.3).

        >>> Options(max_calls=2, max_rounds=3, max_tool_seconds=1.5).objective
        'objective: answer the message within 2 tool calls, 3 model requests, 1.5 s per tool'
        """
        bounds = {
            "{} tool calls": self.tables()["max_calls"],
            "{} model requests": self.tables()["max_rounds"],
            "{} tokens": self.max_tokens,
            "{:g} s": self.max_seconds,
            "{:g} s per tool": self.max_tool_seconds,
        }
        within = ", ".join(form.format(bound) for form, bound in bounds.items() if bound is not None)
        return f"objective: answer the message within {within}"


PLAIN: Final = Options()
