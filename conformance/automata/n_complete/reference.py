"""The specification of a suite: the reference's own minimal Mealy machine, over the letters and within the bounds.

It is exact if the reference's core is accessible: all states are explored, by the values of the registers, seen through
the alphabet, and of the abstraction's own counters. Else it is learned, and tested for one more state than is found.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.references.interaction.runtime import InteractionRuntime
from turncheck.adapters.references.registry import reference_of
from turncheck.model.automata.mealy import Mealy, minimal
from turncheck.model.core.stimuli import ModelOutput, User, unnamed
from turncheck.model.machines.interaction import POLICIES, event_of

from ...laws.runtime.subject import Modelled
from ...observe.driver import Recorder, repeating
from ...observe.runtime_trace import ObservedStep, RuntimeTrace
from ..learn.abstraction import ALPHABET, LETTERS, Abstracted, Bounds, Letter, Reader, letters_of
from ..learn.learning import learn
from ..learn.output_abstraction import Output

LEARNED_FOR: Final = 1
"""Extra states for which a learned model is tested."""
UNBOUNDED: Final = Bounds(1_000_000, 1_000_000)


class InexactModelError(Exception):
    """The reference differs from the model made of it: a suite made from this model promises nothing."""


@dataclass(frozen=True)
class Model:
    """The minimal *machine* of *reference* within *bounds*; ``exact`` if it was explored, not learned."""

    machine: Mealy
    reference: RuntimeTarget
    bounds: Bounds
    exact: bool

    def compared(self, trace: RuntimeTrace) -> Iterator[tuple[ObservedStep, str, str]]:
        """Compare *trace* with the model's reference. Raises InexactModelError where that differs from the model."""
        machine, state = self.machine, 0
        for letter, step, expected, observed in compared(trace, self.reference, machine.letters, self.bounds):
            state, said = machine.step(state, machine.letters.index(letter))
            if said != expected:
                told = f"it answers {str(letter)!r} with {str(expected)!r}, and the model with {str(said)!r}"
                raise InexactModelError(f"internal error: the model of {self.reference.name} is inexact: {told}")
            yield step, str(expected), str(observed)


def reference_for(profile: Profile) -> RuntimeTarget:
    """Return the reference, in this process, with which a runtime is compared, as in `learn --diff`.

    It runs the machine that the runtime claims, under its policies; without a claim, the interaction machine.
    """
    names = {name for name, _ in POLICIES.values()}
    declared = {name: value for name, value in profile.policies.items() if name in names}
    return reference_of(profile) or InteractionRuntime(policies=declared)


def model_of(
    reference: RuntimeTarget,
    letters: Sequence[Letter],
    bounds: Bounds,
    *,
    deadline: float = float("inf"),
    progress: Callable[[str], None] = lambda _: None,
) -> Model:
    """Return the model of *reference* over *letters*, by *deadline* (monotonic seconds).

    Raises TargetError if the reference breaks or the deadline passes, and the errors of ``learn``.
    """
    system = Abstracted(reference, bounds)
    if isinstance(reference, InteractionRuntime):
        return Model(_explored(system, reference, letters, deadline), reference, bounds, exact=True)
    seconds = None if deadline == float("inf") else max(deadline - time.monotonic(), 0.001)
    found = learn(system, letters, extra=LEARNED_FOR, seconds=seconds, progress=progress)
    if found.cut:
        raise TargetError(_late(reference), see="")
    return Model(found.machine, reference, bounds, exact=False)


def compared(
    trace: RuntimeTrace, reference: RuntimeTarget, letters: Sequence[Letter] = LETTERS, bounds: Bounds = UNBOUNDED
) -> Iterator[tuple[Letter, ObservedStep, Output, Output]]:
    """Yield each step of *trace* as its letter, the step, the output of *reference*, and the observed output.

    Ends after the first difference, and before a stimulus that is no letter or would not be sent to either: the rest
    is outside the alphabet. Raises TargetError if the reference breaks.
    """
    word = [unnamed(step.stimulus) for step in trace.steps if not step.closing]
    expected = repeating(reference)(word, trace.options).trace
    ours, theirs = _reader(trace, bounds), _reader(expected, bounds)
    for step, other in zip(trace.steps, expected.steps, strict=False):
        letter = ours.letter(step.stimulus, letters)
        if letter is None:
            return
        local, right = ours.local(letter), theirs.local(letter)
        shown, wanted = _output(ours, step, letter), _output(theirs, other, letter)
        if local is not None and right is not None:
            return
        yield letter, step, right or wanted, local or shown
        if (right or wanted) != (local or shown):
            return


def modelled(profile: Profile) -> Modelled:
    """Return the comparison of a single word, without a suite: with the reference's outputs, without bounds."""

    def steps(trace: RuntimeTrace) -> Iterator[tuple[ObservedStep, str, str]]:
        for _, step, expected, observed in compared(trace, reference_for(profile)):
            yield step, str(expected), str(observed)

    return steps


def _reader(trace: RuntimeTrace, bounds: Bounds) -> Reader:
    profile = Profile(("runtime",), tuple(sorted(trace.capabilities)), None, dict(trace.policies))
    return Reader(Recorder(trace.options, profile), bounds)


def _output(reader: Reader, step: ObservedStep, letter: Letter) -> Output:
    return reader.output(reader.recorder.observe(step.stimulus, step.answer), letter)


def _explored(system: Abstracted, runtime: InteractionRuntime, letters: Sequence[Letter], deadline: float) -> Mealy:
    """Explore every state, breadth first; each word starts with a reset."""
    system.reset()
    numbers: dict[Hashable, int] = {_key(system.reader, runtime): 0}
    words: list[tuple[Letter, ...]] = [()]
    table: list[tuple[tuple[int, Output], ...]] = []
    while len(table) < len(words):
        row: list[tuple[int, Output]] = []
        for letter in letters:
            if time.monotonic() > deadline:
                raise TargetError(_late(runtime), see="")
            system.reset()
            for one in words[len(table)]:
                system.step(one)
            output = system.step(letter)
            after = numbers.setdefault(_key(system.reader, runtime), len(words))
            if after == len(words):
                words.append((*words[len(table)], letter))
            row.append((after, output))
        table.append(tuple(row))
    return minimal(Mealy(tuple(letters), tuple(table)))


def _key(reader: Reader, runtime: InteractionRuntime) -> Hashable:
    """Return all that decides the future: the core, what is awaited, the alphabet's counters, what is shown next.

    From the history, only messages that no request has shown can appear later: every call in it is answered.
    """
    canon, recorder = reader.canon, reader.recorder
    state, registers = runtime.core

    def told(value: Any) -> Hashable:
        match value:
            case tuple():
                return tuple(map(told, cast("tuple[object, ...]", value)))
            case User() as message:
                return event_of(message), canon.colours[message.id]
            case ModelOutput(item=call):
                name = getattr(call, "call_id", None)
                return canon.called.index(name) if name in canon.called else -1
            case int() | str():
                return value
            case _:
                return cast("type[object]", type(value)).__qualname__

    unseen = tuple(
        canon.colours[name]
        for entry in runtime.history
        if entry.role == "user" and canon.shown.isdisjoint(entry.ids)
        for name in entry.ids
    )
    waits, seen = tuple(map(type, recorder.awaiting)), recorder.observation
    counted = seen.active, len(seen.queue), len(seen.steers), seen.said, seen.made, len(canon.called)
    return state, tuple((name, told(value)) for name, value in registers.items()), unseen, waits, counted


def _late(reference: RuntimeTarget) -> str:
    return f"the time budget was used up before {reference.name} was known: try fewer letters (--letters) or more time"


def common_letters(profile: Profile, reference: RuntimeTarget) -> tuple[list[Letter], list[Letter]]:
    """Return the letters that can be sent to both a runtime and its reference, and those for the runtime only."""
    theirs = letters_of(reference.profile.capabilities, ALPHABET)
    own = letters_of(profile.capabilities, ALPHABET)
    return [one for one in own if one in theirs], [one for one in own if one not in theirs]
