"""Near misses of the words that a machine compares with: what only looks like a type, a reason, a tool or an id."""

from collections.abc import Iterator
from typing import Any, Final, get_args

from turncheck.model.core.cycles import GROUPS
from turncheck.model.core.events import Delivery, OutputKind, StopReason

_ALIKE: Final = str.maketrans("aceops", "асеорѕ")  # noqa: RUF001 - Cyrillic letters, which look the same
_TYPES: Final = ("user-message", "agent-output", "tool-result", "run-stop")
_RIGHT: Final[dict[str, dict[str, Any]]] = {
    "user-message": {"text": "red"},
    "agent-output": {"kind": "assistant", "text": "red"},
    "tool-result": {"callId": "near", "output": "ok"},
    "run-stop": {"reason": "completed"},
}
"""Type → the fields of such an event that is right."""


def near(word: str) -> tuple[str, ...]:
    """Return words that differ from *word* in case, by a space, by a prefix, and by a letter that looks alike.

    >>> near("steer")[:5]
    ('STEER', ' steer', 'steer ', 'stee', 'steers')
    """
    other = word.swapcase() if word.swapcase() != word else ""
    found = (other, f" {word}", f"{word} ", word[:-1], f"{word}s", word.replace("-", "_"), word.translate(_ALIKE))
    return tuple(dict.fromkeys(one for one in found if one not in ("", word)))


def near_events() -> Iterator[dict[str, Any]]:
    """Yield events that differ from one of the core's by one near miss."""
    for name in _TYPES:
        yield from ({"type": one, **_RIGHT[name]} for one in near(name))
    for kind in get_args(OutputKind):
        own = {"callId": "near", "tool": "read"} if kind == "tool-call" else {"text": "red"}
        yield from ({"type": "agent-output", "kind": one, **own} for one in near(kind))
    for delivery in get_args(Delivery):
        yield from ({"type": "user-message", "text": "red", "delivery": one} for one in near(delivery))
    for reason in get_args(StopReason):
        yield from ({"type": "run-stop", "reason": one} for one in near(reason))


def near_tools() -> tuple[str, ...]:
    """Return names of tools that only look like those of a group of their own."""
    return tuple(dict.fromkeys(one for tool in GROUPS for one in near(tool) if one not in GROUPS))


def near_logs() -> Iterator[list[Any]]:
    """Yield small logs with near misses: of each kind of event, of tools, and of the ids of calls and responses."""
    root, stop = {"type": "user-message", "text": "red"}, {"type": "run-stop", "reason": "completed"}
    events = [*near_events()]
    for first in range(0, len(events), 8):
        yield [root, *events[first : first + 8], stop]
    tools = near_tools()
    for first in range(0, len(tools), 12):
        yield [root, *(_call(f"t{place}", tool) for place, tool in enumerate(tools[first : first + 12])), stop]
    names = ("call", *near("call"))
    results = [{"type": "tool-result", "callId": name, "output": "ok"} for name in names]
    yield [root, _call("call", "read"), *reversed(results), stop]
    yield [root, *(_call(name, "read") for name in names), *results, stop]
    yield [
        root,
        *({"type": "agent-output", "kind": "assistant", "text": "red", "responseId": one} for one in names),
        stop,
    ]


def _call(name: str, tool: str) -> dict[str, Any]:
    return {"type": "agent-output", "kind": "tool-call", "callId": name, "tool": tool, "arguments": {}}
