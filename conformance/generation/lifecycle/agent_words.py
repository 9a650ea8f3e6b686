"""Words with sub-agents: the session's agent calls a tool that needs an agent, and each agent follows a script.

Directed words end a sub-agent in each way, interleave two of them, and stop one or all at each place; others are drawn.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from turncheck.model.core.stimuli import (
    Abort,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Stimulus,
    Text,
    ToolAwaited,
    ToolCall,
    ToolReturn,
    User,
)

from ...observe.driver import Driver
from ...observe.parts.agents import agent_of
from ..situations import COLOURS

What: TypeAlias = Literal["user", "delegate", "text", "call", "stop", "return", "break", "halt"]
DELEGATE: Final = "delegate"
"""The tool whose calls start a sub-agent."""


class Deed(NamedTuple):
    """A stimulus of one agent: the session's own is 0, its sub-agents are numbered from 1 in their order."""

    agent: int
    what: What


_ANSWERS: Final[Sequence[What]] = ("text", "stop")
_CALLS: Final[Sequence[What]] = ("call", "stop", "return", "text", "stop")
_BREAKS: Final[Sequence[What]] = ("text", "break")
_HALTS: Final[Sequence[What]] = ("text", "halt")
_HALTS_AMID_A_TOOL: Final[Sequence[What]] = ("call", "stop", "halt")


def delegating(options: ResetOptions) -> ResetOptions:
    """Return the options with the tool that starts a sub-agent.

    >>> delegating(ResetOptions()).spawns("delegate")
    True
    """
    return replace(options, tools=(*options.tools, {"name": DELEGATE, "needs": "agent"}))


def scripts(capabilities: frozenset[str]) -> Sequence[Sequence[What]]:
    """Return what a sub-agent can do: answer, call a tool before it answers, fail, and be stopped alone."""
    needs = ((_BREAKS, "model-failure"), (_HALTS, "abort"), (_HALTS_AMID_A_TOOL, "abort"))
    return (_ANSWERS, _CALLS, *(script for script, need in needs if need in capabilities))


def directed_delegations(capabilities: frozenset[str]) -> Iterator[tuple[Deed, ...]]:
    """Yield words of one sub-agent and of two, with each end of each; and, where that is possible, aborts of all."""
    one, two = _begin(1), _begin(2)
    rest = _of(0, ("text", "stop"))
    halt = _of(0, ("halt",) if "abort" in capabilities else ())
    for script in scripts(capabilities):
        yield (*one, *_of(1, script), *rest)
        for place in range(len(script) if halt else 0):
            yield (*one, *_of(1, script[:place]), *halt)
        for other in scripts(capabilities):
            first, second = _of(1, script), _of(2, other)
            for place in range(len(first)):
                yield (*two, *first[:place], *second, *first[place:], *rest)
        if halt:
            yield (*two, *_of(1, script[:1]), *_of(2, script[:1]), *halt)


def drawn_delegation(seed: int, capabilities: frozenset[str]) -> tuple[Deed, ...]:
    """Return a word of up to three sub-agents, in an order that *seed* decides."""
    draw = random.Random(seed)  # noqa: S311 - words have to come again from their seed
    count = draw.randint(1, 3)
    left = [[*_of(agent, draw.choice(scripts(capabilities)))] for agent in range(1, count + 1)]
    word = [*_begin(count)]
    while any(left):
        word.append(draw.choice([one for one in left if one]).pop(0))
    if "abort" in capabilities and draw.random() < _HALTED:
        return (*word[: draw.randint(count + 2, len(word))], Deed(0, "halt"))
    return (*word, *_of(0, ("text", "stop")))


_HALTED: Final = 0.25
"""Share of drawn words in which the session's agent is aborted."""


class Delegation:
    """A word under way. A deed for which its agent does not wait is left out: a sub-agent may begin later."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._called: set[int] = set()
        self._made = 0

    def follow(self, word: Sequence[Deed]) -> None:
        """Apply *word* as far as its agents wait for it. Raises the driver's errors."""
        for deed in word:
            stimulus = self._stimulus(deed)
            if stimulus is not None:
                self._driver.apply(stimulus)

    def _stimulus(self, deed: Deed) -> Stimulus | None:
        self._made += 1
        number, colour = self._made, COLOURS[deed.agent % 2]
        name = self._name(deed.agent)
        if deed.agent and name is None:
            return None
        waits = [one for one in self._driver.awaiting if one.agent_id == name]
        tool = next((one for one in waits if isinstance(one, ToolAwaited)), None)
        request = next((one.request_id for one in waits if isinstance(one, ModelAwaited)), None)
        match deed.what:
            case "user":
                return User(id=f"u{number}", text=f"say {number} {colour}")
            case "halt":
                return Abort(agent_id=name) if waits or not deed.agent else None
            case "return":
                output = f"result {number} {colour}"
                if tool is None:
                    return None
                return ToolReturn(call_id=tool.call_id, output=output, execution=tool.execution, agent_id=name)
            case _:
                return None if request is None else self._said(deed, request, name, f"{number} {colour}")

    def _said(self, deed: Deed, request: str, name: str | None, words: str) -> Stimulus:
        common: dict[str, Any] = {"request_id": request, "agent_id": name}
        match deed.what:
            case "stop":
                called = deed.agent in self._called
                self._called.discard(deed.agent)
                return ModelStop(reason="tool-use" if called else "end-turn", **common)
            case "break":
                return ModelFail(failure="stream", **common)
            case "text":
                return ModelOutput(item=Text(text=f"answer {words}."), **common)
            case _:
                self._called.add(deed.agent)
                to_agent = deed.what == "delegate"
                tool, arguments = (DELEGATE, {"task": f"do {words}"}) if to_agent else ("read", {"path": words})
                return ModelOutput(item=ToolCall(call_id=f"c{self._made}", tool=tool, arguments=arguments), **common)

    def _name(self, agent: int) -> str | None:
        """The name of the sub-agent with a number, None for the session's own or where there are not so many."""
        named = (name for name in map(agent_of, self._driver.log) if name is not None)
        names = [None, *dict.fromkeys(named)]
        return names[agent] if agent < len(names) else None


def _begin(count: int) -> tuple[Deed, ...]:
    calls: Sequence[What] = ["delegate" for _ in range(count)]
    return _of(0, ("user", *calls, "stop"))


def _of(agent: int, script: Sequence[What]) -> tuple[Deed, ...]:
    return tuple(Deed(agent, what) for what in script)
