"""The life of a collator: the blocks of one small flow must be the model's."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from turncheck.adapters.protocol.collator import COLLATOR_CAPABILITIES, SEE, CollatorTarget
from turncheck.adapters.protocol.messages import encode
from turncheck.model.machines.blocks import Block, ToolUse, collate

from ..generation.flows import Flow, Iteration, frames_of
from .stage import Misbehaving, Stage

FLOW: Final = Flow((Iteration(("I ", "look."), 1), Iteration(("ha", "ha"))), numbered=True)
"""A model call that uses a tool, and one that answers with two equal deltas."""


def _collates(target: CollatorTarget) -> None:
    _hold(target, frames_of(FLOW))


def _nothing(target: CollatorTarget) -> None:
    _hold(target, ())


def _streams(target: CollatorTarget) -> None:
    _hold(target, _streaming())


def _runs(target: CollatorTarget) -> None:
    frames = frames_of(FLOW)
    started = next(at for at, frame in enumerate(frames) if frame["type"] == "tool_call_start")
    _hold(target, frames[: started + 1])


def _twice(target: CollatorTarget) -> None:
    _hold(target, [frame for one in _streaming() for frame in (one, one)])


def _streaming() -> Sequence[Any]:
    """The flow up to its last delta, whose text no response has replaced yet."""
    frames = frames_of(FLOW)
    last = max(at for at, frame in enumerate(frames) if frame["type"] == "delta")
    return frames[: last + 1]


def _hold(target: CollatorTarget, frames: Sequence[Any]) -> None:
    """Raise Misbehaving unless the blocks of *frames* are the model's; what no law looks at is not compared."""
    right, came = (_judged(target, blocks) for blocks in (collate(frames), target.collate(frames)))
    if came != right:
        problem = "the blocks are not the model's"
        raise Misbehaving(problem, sent=encode(frames), expected=encode(right).decode(), came=encode(came), see=SEE)


def _judged(target: CollatorTarget, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks with what laws look at alone; states only where *target* declares that it tells them."""
    streams, tells = map(target.profile.can, COLLATOR_CAPABILITIES)

    def use(one: ToolUse) -> ToolUse:
        return ToolUse(one.call_id, result=one.result, status=one.status if tells else "waiting")

    return [
        replace(one, request=None, streaming=streams and one.streaming, calls=tuple(map(use, one.calls)))
        for one in blocks
    ]


COLLATOR: Final = (
    Stage("collates a flow of frames", _collates, vital=True),
    Stage("collates no frames", _nothing),
    Stage("shows what has streamed", _streams),
    Stage("shows a tool that runs", _runs),
    Stage("collates frames that come twice", _twice),
)
"""The life of a collator, in order."""
