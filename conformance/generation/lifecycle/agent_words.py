"""Words with sub-agents: an agent calls a tool that needs an agent, and each agent follows a script.

Directed words end a sub-agent in each way, interleave two of them, and let one call another. At each place of each
script an agent is stopped, and messages come: to the sub-agent, to its caller, to one that never was. Others are drawn.
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
    ToolFail,
    ToolReturn,
    User,
)

from ...observe.driver import Driver
from ...observe.parts.agents import agent_of
from ..situations import COLOURS

What: TypeAlias = Literal["user", "delegate", "text", "call", "stop", "return", "fail", "break", "halt"]
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
_TOOL_FAILS: Final[Sequence[What]] = ("call", "stop", "fail", "text", "stop")
_CALLS_ANOTHER: Final[Sequence[What]] = ("delegate", "stop")
_NOBODY: Final = 9
"""The number of a sub-agent that no word has."""


def delegating(options: ResetOptions) -> ResetOptions:
    """Return the options with the tool that starts a sub-agent.

    >>> delegating(ResetOptions()).spawns("delegate")
    True
    """
    return replace(options, tools=(*options.tools, {"name": DELEGATE, "needs": "agent"}))


def scripts(capabilities: frozenset[str]) -> Sequence[Sequence[What]]:
    """Return what a sub-agent can do: answer, call a tool before it answers, fail, and be stopped alone."""
    needs = (
        *((_TOOL_FAILS, "tool-failure"), (_BREAKS, "model-failure")),
        *((_HALTS, "abort"), (_HALTS_AMID_A_TOOL, "abort")),
    )
    return (_ANSWERS, _CALLS, *(script for script, need in needs if need in capabilities))


def directed_delegations(capabilities: frozenset[str], depth: int | None = None) -> Iterator[tuple[Deed, ...]]:
    """Yield words of one sub-agent and of two, with each end of each, and what comes at each place of the one.

    *depth* is the declared one, None where none is.
    """
    one, two = _begin(1), _begin(2)
    able = scripts(capabilities)
    for script in able:
        yield (*one, *_of(1, script), *_REST)
        for other in able:
            first, second = _of(1, script), _of(2, other)
            middle = len(first) // 2
            yield (*two, *first[:middle], *second, *first[middle:], *_REST)
        for place in range(len(script) + 1):
            before, after = _of(1, script[:place]), _of(1, script[place:])
            yield (*one, *before, Deed(1, "user"), *after, *_REST)
            yield (*one, *before, Deed(0, "user"), *after, *_REST)
        if "abort" in capabilities:
            yield (*two, *_of(1, script[:1]), *_of(2, script[:1]), _HALT)
    for place in range(len(_CALLS) + 1 if "abort" in capabilities else 0):
        for halted in (0, 1):
            yield (*one, *_of(1, _CALLS[:place]), Deed(halted, "halt"), *_REST)
    if "model-failure" in capabilities:
        yield (*one, *_of(1, _ANSWERS), Deed(0, "break"))
    yield (*one, Deed(_NOBODY, "user"), *_of(1, _ANSWERS), *_REST)
    for place in range(len(_ANSWERS) + 1 if "tool-failure" in capabilities else 0):
        before, after = _of(1, _ANSWERS[:place]), _of(1, _ANSWERS[place:])
        yield (*_of(0, ("user", "delegate", "call", "stop")), *before, Deed(0, "fail"), *after, *_REST)
    yield from _deeper(capabilities, depth)


def open_delegations(capabilities: frozenset[str], depth: int | None = None) -> Iterator[tuple[Deed, ...]]:
    """Yield words behind which a runtime is killed: a sub-agent has begun or ended, and its caller's run is open.

    A sub-agent's model is asked, or its tool runs, alone, beside one that has ended, or below another.

    >>> [*open_delegations(frozenset())]
    []
    """
    if "persistence" not in capabilities:
        return
    amid_a_tool = _CALLS[:2]
    for script in ((), _CALLS[:1], amid_a_tool, _CALLS[:3], _ANSWERS):
        yield (*_begin(1), *_of(1, script))
    yield (*_begin(2), *_of(1, _ANSWERS), *_of(2, amid_a_tool))
    if (depth or 1) > 1:
        yield (*_begin(1), *_of(1, _CALLS_ANOTHER), *_of(2, amid_a_tool))


def _deeper(capabilities: frozenset[str], depth: int | None) -> Iterator[tuple[Deed, ...]]:
    """Yield words of a sub-agent that calls another, and of one that calls another at the declared *depth*."""
    if depth is None:
        return
    chain = tuple(deed for agent in range(1, depth + 1) for deed in _of(agent, _CALLS_ANOTHER))
    back = tuple(deed for agent in range(depth + 1, 0, -1) for deed in _of(agent, _ANSWERS))
    yield (*_begin(1), *chain, *back, *_REST)
    if depth == 1:
        return
    begun = (*_begin(1), *_of(1, _CALLS_ANOTHER))
    rest = (*_of(1, _ANSWERS), *_REST)
    for script in scripts(capabilities):
        yield (*begun, *_of(2, script), *rest)
    for place in range(len(_CALLS)):
        amid = _of(2, _CALLS[:place])
        if "abort" in capabilities:
            yield (*begun, *amid, _HALT)
            yield (*begun, *amid, Deed(1, "halt"), *_REST)
        told = (Deed(agent, "user") for agent in (0, 1, 2))
        yield (*begun, *amid, *told, *_of(2, _CALLS[place:]), *rest)


def drawn_delegation(seed: int, capabilities: frozenset[str], depth: int | None = None) -> tuple[Deed, ...]:
    """Return a word of up to three sub-agents, and one more that the first calls, in an order that *seed* decides."""
    draw = random.Random(seed)  # noqa: S311 - words have to come again from their seed
    count = draw.randint(1, 3)
    left = [[*_of(agent, draw.choice(scripts(capabilities)))] for agent in range(1, count + 1)]
    if (depth or 1) > 1 and draw.random() < _DEEPER:
        left[0] = [*_of(1, _CALLS_ANOTHER), *_of(count + 1, draw.choice(scripts(capabilities))), *left[0]]
    word = [*_begin(count)]
    while any(left):
        word.append(draw.choice([one for one in left if one]).pop(0))
    if "abort" in capabilities and draw.random() < _HALTED:
        return (*word[: draw.randint(count + 2, len(word))], _HALT)
    return (*word, *_REST)


_DEEPER: Final = 0.5
"""Share of drawn words in which a sub-agent calls another, where one may."""
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
        name = "nobody" if deed.agent == _NOBODY else self._name(deed.agent)
        if deed.agent and name is None:
            return None
        waits = [one for one in self._driver.awaiting if one.agent_id == name]
        tool = next((one for one in waits if isinstance(one, ToolAwaited)), None)
        request = next((one.request_id for one in waits if isinstance(one, ModelAwaited)), None)
        match deed.what:
            case "user":
                return User(id=f"u{number}", text=f"say {number} {colour}", agent_id=name)
            case "halt":
                return Abort(agent_id=name) if not deed.agent or self._runs(name) else None
            case "return" | "fail":
                return None if tool is None else self._ended(deed, tool, f"{number} {colour}")
            case _:
                return None if request is None else self._said(deed, request, name, f"{number} {colour}")

    def _ended(self, deed: Deed, tool: ToolAwaited, words: str) -> Stimulus:
        common: dict[str, Any] = {"call_id": tool.call_id, "execution": tool.execution, "agent_id": tool.agent_id}
        if deed.what == "return":
            return ToolReturn(output=f"result {words}", **common)
        return ToolFail(message=f"failure {words}", **common)

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

    def _runs(self, name: str | None) -> bool:
        """Return whether the run of a sub-agent is open by the log."""
        own = [event for event in self._driver.log if agent_of(event) == name]
        return bool(own) and own[-1].get("type") != "run-stop"

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


_REST: Final = _of(0, _ANSWERS)
_HALT: Final = Deed(0, "halt")
