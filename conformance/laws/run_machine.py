"""The law on a runtime that claims to be one of the machines: it does what the machine does, step by step."""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import Any, Final

from msgspec import to_builtins

from turncheck.model.core.stimuli import Awaited, ModelAwaited, ModelOutput, Stimulus, Together, ToolCall, unnamed

from ..observe.runtime_trace import ObservedStep
from .law import WITNESS, Finding, Judgement
from .run_model import needs
from .run_relations import Rerun

_SAID: Final[Mapping[str, Sequence[str]]] = {
    "user-message": ("id", "text", "delivery"),
    "model-request": (),
    "agent-output": ("kind", "text", "callId", "tool", "arguments"),
    "tool-result": ("callId", "isError"),
    "run-stop": ("reason",),
}
"""What of a log event the machine decides.

Names of requests and responses, details and the words of made-up results are an implementation's own."""
_SEEN: Final = ("user", "tool")
"""Whose entries a request shows where the machine says so; an assistant's turns may be told apart otherwise."""
_AWAITED: Final = ("kind", "callId", "cancelled", "in")


def equals_machine(rerun: Rerun) -> Judgement:
    """Every settled step is that of the machine which the runtime claims to be (X-1, X-2)."""
    if rerun.reference is None:
        return
    options = rerun.play.options
    expected = rerun.reference([unnamed(one) for one in rerun.word], options)
    given = [*_calls(rerun.word)]
    if options.deaf_model or options.deaf_tools or (options.limits and "limits" not in expected.capabilities):
        return  # whom a stimulus is for, only the implementation's names tell; and a bound is the machine's own
    if len(given) != len(set(given)):
        return  # how a recurring id is made unique is an implementation's own, and so is what a stimulus names by it
    yield WITNESS
    for ours, theirs in zip(rerun.play.moves, expected.moves, strict=False):
        if needs(ours.stimulus) not in {None, *expected.capabilities}:
            return  # more than the machine has: it says nothing of what follows
        seen = all(one.input is not None for one in ours.step.awaiting if isinstance(one, ModelAwaited))
        observed, right = _plain(ours, {*given}, seen=seen), _plain(theirs, {*given}, seen=seen)
        if observed != right:
            at = ours.end - 1 if ours.end > ours.first else None
            yield Finding(at, "the step is not the one of the machine that is claimed", right, observed)
            return


def _calls(word: Sequence[Stimulus]) -> Iterator[str]:
    for stimulus in word:
        if isinstance(stimulus, ModelOutput) and isinstance(stimulus.item, ToolCall):
            yield stimulus.item.call_id
        elif isinstance(stimulus, Together):
            yield from _calls(stimulus.stimuli)


def _plain(move: ObservedStep, given: Set[str], *, seen: bool) -> dict[str, Any]:
    """A step without names that an implementation gives: *given* are the calls' ids that are the environment's.

    *seen* adds what requests show the model, which not every runtime can tell.
    """

    def named(part: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
        kept = {name: part[name] for name in names if part.get(name) is not None}
        return kept | ({"callId": "its own"} if kept.get("callId") not in {None, *given} else {})

    def awaited(one: Awaited) -> dict[str, Any]:
        shown = (one.input or ()) if seen and isinstance(one, ModelAwaited) else ()
        entries = [named(to_builtins(entry), ("role", "ids", "callId")) for entry in shown if entry.role in _SEEN]
        return named(to_builtins(one), _AWAITED) | ({"shown": entries} if entries else {})

    events: list[dict[str, Any]] = [event for event in move.step.events if isinstance(event, dict)]
    said = [named(event, ("type", *_SAID[event["type"]])) for event in events if event.get("type") in _SAID]
    return {
        "events": said,
        "awaiting": [awaited(one) for one in move.step.awaiting],
        "refused": None if move.step.refused is None else move.step.refused.why,
    }
