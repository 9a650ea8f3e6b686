"""From what a model says to the letters of the machine, whoever plays the model."""

from collections.abc import Collection, Iterator

from msgspec import to_builtins

from turncheck.model.core.provider_limits import tokens
from turncheck.model.core.stimuli import Item, ModelStop, ToolCall
from turncheck.model.machines.conversation import Input

from ..provider.port import Failed
from .own_tools import SPAWN


def letters(
    number: int, said: Item | ModelStop | Failed, spawns: Collection[str] = (SPAWN,)
) -> Iterator[tuple[str, Input]]:
    """Yield the letters with their data; *number* is that of the request which is answered.

    *spawns* are the tools that start a sub-agent.

    >>> [letter for letter, _ in letters(1, ModelStop(reason="end-turn", usage={"total": 7}))]
    ['usage', 'model-stop']
    """
    match said:
        case ModelStop(reason=reason, usage=usage):
            if (used := tokens(usage)) is not None:
                yield "usage", Input(answers=number, tokens=used, payload={"usage": usage})
            yield "model-stop", Input(answers=number, reason=reason)
        case Failed(retryable, message):
            yield "retryable-failure" if retryable else "fatal-failure", Input(answers=number, message=message)
        case item:
            letter = "text"
            if isinstance(item, ToolCall):
                letter = "spawn-call" if item.tool in spawns else "tool-call"
            fields = {name: value for name, value in to_builtins(item).items() if name != "type"}
            yield letter, Input(answers=number, payload=fields)
