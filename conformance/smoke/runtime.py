"""The life of a runtime: a message and its answer first, then each capability that it declares, once."""

from functools import partial
from typing import Final

from turncheck.adapters.protocol.messages import Run, encode
from turncheck.model.core.stimuli import (
    ModelAwaited,
    ModelFail,
    Step,
    Stimulus,
    ToolReturn,
    User,
)
from turncheck.model.machines.interaction import CONCURRENT

from .capabilities import CAPABILITIES
from .life import END, HELLO, RESET, Life
from .stage import Misbehaving, Stage

REFUSALS: Final = "docs/protocol.md#refusals"
HASH_SEED: Final = 4321
"""Another PYTHONHASHSEED than the target's own."""

WORD: Final[tuple[Stimulus, ...]] = (
    User(id="u1", text="one"),
    HELLO,
    END,
    User(id="u2", text="two"),
    ModelFail(failure="fatal"),
)


def _empty(life: Life) -> None:
    life.reset()
    if life.step.awaiting or life.step.refused:
        raise life.broken("a new runtime waits for something", '"events": [], "awaiting": []', RESET)


def _message(life: Life) -> None:
    life.begin()
    request = life.model().request_id
    life.logged(type="model-request", requestId=request)


def _answer(life: Life) -> None:
    request = life.model().request_id
    life.send(HELLO)
    life.model()
    life.send(END)
    life.logged(type="agent-output", kind="assistant", text="hello", responseId=request)


def _next(life: Life) -> None:
    life.user("two")
    life.ended("completed", cycles=2)


def _forgets(life: Life) -> None:
    life.reset()
    life.user("two")
    life.model()
    if "one" in life.shown:
        raise life.broken("the model is shown a message from before the reset", 'no "one" in its input', RESET)


def _nobody_waits(life: Life) -> None:
    life.reset()
    nobodys: list[Stimulus] = [HELLO]
    if life.can("tools"):
        nobodys.append(ToolReturn(call_id="c9", output="contents"))
    for stimulus in nobodys:
        refused = life.apply(stimulus).refused
        if refused is None or refused.why != "not-awaited":
            raise life.broken("this answer is not awaited", '"refused": {"why": "not-awaited"}', REFUSALS)


def _busy(life: Life) -> None:
    policy = life.runtime.profile.policies.get("busy")
    life.begin()
    refused = life.apply(User(id="two", text="two")).refused
    if policy == "reject" and (refused is None or refused.why != "rejected"):
        raise life.misbehaving("takes a message while it is busy", 'refused "rejected": its policy busy is reject')
    if policy in {"steer", "followUp", CONCURRENT} and refused is not None:
        raise life.misbehaving("refuses a message while it is busy", f"no refusal: its policy busy is {policy}")
    if policy == CONCURRENT and len([one for one in life.step.awaiting if isinstance(one, ModelAwaited)]) < 2:
        raise life.misbehaving("begins no run beside the open one", f"two requests wait: its policy busy is {policy}")
    if bool(life.events(type="user-message", text="two")) == (refused is not None):
        raise life.broken("a message is logged if it is accepted, and only then", "one of the two", REFUSALS)


def _same(life: Life) -> None:
    life.reset()
    first = life.runtime.run(WORD)
    life.reset()
    _alike(first, life.runtime.run(WORD), "the second time")
    life.reset()
    _alike(first, tuple(map(life.runtime.apply, WORD)), "stimulus by stimulus")
    with life.runtime.again(HASH_SEED) as twin:
        Life(twin).reset()
        _alike(first, twin.run(WORD), "in a new process")


def _alike(first: tuple[Step, ...], second: tuple[Step, ...], how: str) -> None:
    if second != first:
        raise Misbehaving(
            f"the same word is answered in another way {how}: if it is an id or a time, the adapter has to fix it",
            sent=encode(Run(0, WORD)),
            expected=encode(first).decode(),
            came=encode(second),
            see="docs/protocol.md#run",
        )


RUNTIME: Final = (
    Stage("starts empty", _empty, vital=True),
    Stage("logs a message, and sends a request to the model", _message, vital=True),
    Stage("logs the model's response", _answer, vital=True),
    Stage("ends its run", partial(Life.ended, reason="completed"), vital=True),
    Stage("takes the next message", _next),
    Stage("forgets at a reset", _forgets),
    Stage("refuses an answer that is not awaited", _nobody_waits),
    Stage("follows its policy for a message while it is busy", _busy),
    Stage("answers the same word in the same way", _same),
    *CAPABILITIES,
)
"""The life of a runtime, in order."""
