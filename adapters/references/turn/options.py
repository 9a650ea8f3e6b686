"""How a session is run: its queue policy, tools, what policy denies, and its bounds (TM-3.3, TM-5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from turncheck.model.machines.turn import DEFAULTS

LOCK_SECONDS: Final = 5.0
"""How long a turn waits for its lock before it fails as ``timeout``: whoever copies the folder is done by then."""


@dataclass(frozen=True)
class Options:
    """A bound that is None is the machine's default; of time and text there is none.

    ``queue`` is what a message without delivery does in a turn: ``followUp`` (collect) or ``steer``. ``tools`` are
    ``{name, schema}``. The model is shown ``contracts`` (the workspace's rules) and ``memory_pointers`` (where to find
    what is kept), an entry each. ``max_tokens`` is for a turn, ``max_seconds`` too; ``max_text`` is in characters.
    """

    queue: str = "followUp"
    tools: Sequence[Mapping[str, Any]] = ()
    denied_tools: Sequence[str] = ()
    denied_chats: Sequence[str] = ()
    contracts: Sequence[str] = ()
    memory_pointers: Sequence[str] = ()
    max_calls: int | None = None
    max_rounds: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None
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


PLAIN: Final = Options()
