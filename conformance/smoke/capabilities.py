"""The steps that exercise each capability of a runtime once, by the smallest word that shows it."""

import json
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, cast

from turncheck.adapters.protocol.messages import (
    encode,
)
from turncheck.model.core.provider_limits import NOTICE, WINDOW
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    ResetOptions,
    Stimulus,
    StoreFail,
    Together,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from ..generation.classic_words import PIXEL, USAGE
from ..observe.told_ends import told_by_event
from ..verify.subjects.history_policies import inferred
from .life import APPLY, END, HELLO, RESET, TOOLS, Life, calling
from .lifecycle import LIFECYCLE
from .stage import Stage, Unseen

HISTORY: Final = "docs/protocol.md#what-the-model-is-shown"
TERMINALS: Final = "docs/adapters.md#what-every-adapter-has-to-settle"
LIMITS: Final = "docs/protocol.md#the-providers-limits"
REASONING: Final = ModelOutput(item=Reasoning(text="hm"))


def _word(
    *stimuli: Stimulus, ends: str | None = "completed", options: ResetOptions | None = None, **logged: str
) -> Callable[[Life], None]:
    """Return a step: *stimuli* follow the user's message, the run ends for the reason *ends*, *logged* is an event."""

    def happen(life: Life) -> None:
        life.begin(options)
        life.send(*stimuli)
        life.ended(ends)
        if logged:
            life.logged(**logged)

    return happen


def _tool(life: Life) -> None:
    life.begin()
    life.call()
    call = life.logged(type="agent-output", kind="tool-call", tool="read")["callId"]
    tool = life.tool()
    if tool.call_id != call or tool.arguments != {"path": "x"}:
        raise life.broken("the executed call is not the model's", f'callId {call!r}, arguments {{"path": "x"}}')
    life.send(ToolReturn(call_id=call, output="contents"))
    life.logged(type="tool-result", callId=call)
    life.model()
    life.ended("completed")


def _serial(life: Life) -> None:
    life.begin(ResetOptions(tools=TOOLS, policies={"tools": "serial"}))
    calls = [ToolCall(call_id=name, tool="read", arguments={"path": name}) for name in ("c1", "c2")]
    life.send(*(ModelOutput(item=call) for call in calls), ModelStop(reason="tool-use"))
    if sum(isinstance(awaited, ToolAwaited) for awaited in life.step.awaiting) != 1:
        raise life.misbehaving("its tools must run one after the other", "one awaited tool of two", RESET)
    life.ended("completed")


def _tool_failure(life: Life) -> None:
    life.begin()
    life.call()
    call = life.tool().call_id
    life.send(ToolFail(call_id=call, message="no such file"))
    life.logged(type="tool-result", callId=call)
    life.ended()


def _delivery(life: Life, delivery: Literal["steer", "followUp"], cycles: int) -> None:
    life.begin()
    if life.can("tools"):  # a steer lands after the tools; during a last answer it may come too late
        life.call()
    life.send(User(id="two", text="two", delivery=delivery))
    life.logged(type="user-message", id="two", delivery=delivery)
    life.ended("completed", cycles)
    if life.can("model-input") and "two" not in life.shown:
        raise life.misbehaving("the model is never shown the message", 'an "input" with the text "two"', came=life.log)


def _model_input(life: Life) -> None:
    life.begin()
    if "one" not in life.shown:
        raise life.broken("the awaited model lacks its input", '"input": [{"role": "user", "text": "one"}]')
    life.ended("completed")
    life.user("two")
    shown = [(entry.role, entry.text) for entry in life.model().input or () if entry.role != "system"]
    if shown != [("user", "one"), ("assistant", "answer 0"), ("user", "two")]:
        raise life.misbehaving("the model is not shown the conversation", "one, answer 0 and two, in this order")


def _history(life: Life) -> None:
    """Say which policies on a history the profile leaves out, by what the runtime shows."""
    found = inferred(life.runtime)
    if found:
        policies = ", ".join(f'"{name}": {json.dumps(value)}' for name, value in found.items())
        raise Unseen(f"declare in profile.policies what it does: {policies}; see {HISTORY}")


def _call_ids(life: Life) -> None:
    life.begin()
    life.call(call_id="mine")
    life.logged(type="agent-output", kind="tool-call", callId="mine")
    life.ended("completed")


def _sessions(life: Life) -> None:
    life.reset()
    names = ["a", "b"]
    for name in names:
        life.send(User(id=name, text=name, session_id=name))
    awaited = [awaited.session_id for awaited in life.step.awaiting if isinstance(awaited, ModelAwaited)]
    if awaited != names:
        raise life.broken("two sessions await two models", '"awaiting" with a model for "sessionId" a, and one for b')
    life.finish()
    for name in names:
        life.logged(type="run-stop", sessionId=name)


def _limits(life: Life) -> None:
    life.begin(ResetOptions(tools=TOOLS, limits={"maxRounds": 1}))
    life.call()
    life.ended()
    if len(life.events(type="model-request")) != 1:
        raise life.misbehaving("sends more requests than maxRounds permits", "1 model-request", RESET, life.log)


def _deaf(life: Life) -> None:
    life.begin(ResetOptions(tools=TOOLS, deaf_tools=True))
    life.call()
    life.send(Abort())
    if not life.tool().cancelled:
        raise life.broken("a deaf tool ignores the abort, and stays awaited", '"cancelled": true', RESET)
    life.finish()
    life.logged(type="run-stop")  # the laws judge whether its result came too late for the run


def _clock(life: Life) -> None:
    life.reset(ResetOptions(clock="manual"))
    life.send(Advance(seconds=1))


def _persistence(life: Life) -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = ResetOptions(state_dir=folder)
        life.begin(options)
        life.ended("completed")
        life.runtime.kill()
        life.reset(options)
        life.user("two")
        if life.can("model-input") and "one" not in life.shown:
            raise life.misbehaving("the conversation before the crash is forgotten", 'an "input" with "one"', RESET)


def _store_faults(life: Life) -> None:
    with tempfile.TemporaryDirectory() as folder:
        life.begin(ResetOptions(state_dir=folder))
        life.send(StoreFail(times=1))
        life.ended(None)
        life.user("two")
        life.ended(None, 2)


def _images(life: Life) -> None:
    life.reset()
    life.user("look", content=[{"type": "text", "text": "look"}, PIXEL])
    life.ended("completed")
    shown = [entry for event in life.events(type="model-request") for entry in event.get("input") or ()]
    if not any(isinstance(entry, dict) and cast(dict[str, Any], entry).get("images") == 1 for entry in shown):
        raise Unseen(f'no "input" has an entry with "images": 1, see {APPLY}')


def _usage(life: Life) -> None:
    life.begin()
    life.send(HELLO, ModelStop(reason="end-turn", usage=USAGE))
    life.ended("completed")
    if not life.events(usage=USAGE):
        raise Unseen(f'no event has "usage": {encode(USAGE).decode()}, see {APPLY}')


def _context_limit(life: Life) -> None:
    life.begin(ResetOptions(limits={WINDOW: 4}))
    life.send(HELLO, ModelStop(reason="end-turn", usage=USAGE))  # four tokens
    life.ended("completed")
    if not life.events(type="native", name=NOTICE):
        raise Unseen(f'no event says that the context is full: {{"type": "native", "name": "{NOTICE}"}}, see {LIMITS}')


def _terminal(life: Life) -> None:
    life.begin()
    life.send(HELLO)
    life.ended("completed")
    at = max(place for place, event in enumerate(life.log) if event.get("type") == "run-stop")
    if not told_by_event(life.log, at):
        raise life.misbehaving("no event says that the run is over", 'a "run-stop" that is not inferred', TERMINALS)


CAPABILITIES: Final = (
    Stage("shows the model's input", _model_input, needs=("model-input",)),
    Stage("declares what it keeps in a history, and how", _history, needs=("model-input",)),
    Stage("executes a tool call", _tool, needs=("tools",)),
    Stage("executes tools one after the other if so configured", _serial, needs=("tools", "serial")),
    Stage("takes a tool's failure", _tool_failure, needs=("tools", "tool-failure")),
    *LIFECYCLE,
    Stage(
        "takes arguments that are no JSON", _word(*calling('{"path": '), ends=None), needs=("tools", "raw-arguments")
    ),
    Stage("keeps the model's call ids", _call_ids, needs=("tools", "call-ids")),
    Stage("ends at an abort", _word(HELLO, Abort(), ends="interrupted"), needs=("abort",)),
    Stage("is steered", partial(_delivery, delivery="steer", cycles=1), needs=("steer",)),
    Stage(
        "answers a follow-up in a run of its own",
        partial(_delivery, delivery="followUp", cycles=2),
        needs=("follow-up",),
    ),
    Stage(
        "ends at a fatal failure of the model",
        _word(ModelFail(failure="fatal"), ends="error"),
        needs=("model-failure",),
    ),
    Stage("takes a retryable failure", _word(ModelFail(failure="retryable"), ends=None), needs=("model-failure",)),
    Stage("takes a broken stream", _word(HELLO, ModelFail(failure="stream"), ends=None), needs=("model-failure",)),
    Stage("logs reasoning", _word(REASONING, type="agent-output", kind="reasoning", text="hm"), needs=("reasoning",)),
    Stage("keeps sessions apart", _sessions, needs=("sessions",)),
    Stage("takes several stimuli at once", _word(Together(stimuli=(HELLO, END))), needs=("together",)),
    Stage("bounds the rounds of a run", _limits, needs=("tools", "limits")),
    Stage(
        "ends its run whatever a listener throws",
        _word(options=ResetOptions(observer="throws"), ends=None),
        needs=("observer",),
    ),
    Stage(
        "ends its run however slow a listener is",
        _word(options=ResetOptions(observer="slow"), ends=None),
        needs=("observer",),
    ),
    Stage("waits for a tool that is deaf to an abort", _deaf, needs=("tools", "abort", "deaf")),
    Stage("has a clock that can be advanced", _clock, needs=("clock",)),
    Stage("remembers after a crash", _persistence, needs=("persistence",)),
    Stage("goes on after a write that fails", _store_faults, needs=("persistence", "store-faults")),
    Stage("takes an image", _images, needs=("images",)),
    Stage("takes the model's usage", _usage, needs=("usage",)),
    Stage("tells that the context fills up", _context_limit, needs=("usage", NOTICE)),
    Stage("says in an event that a run is over", _terminal, needs=("terminal-events",)),
)
"""Steps that cover every capability."""
