"""A word in which runs of one session overlap, taken apart: each run's own part is a word of its own.

The declared machines know one open run per session. Taken apart, the laws that come from them judge each run alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from turncheck.adapters.protocol.messages import Profile
from turncheck.model.core.stimuli import Awaited, Step, Together

from ..driver import Recorder
from ..runtime_trace import RuntimeTrace, flat
from .overlapping import Owners, names_a_run, run_of


@dataclass(frozen=True)
class Part:
    """One run's part of a word; ``places`` are the positions in the whole log of the events of its own."""

    run: str
    trace: RuntimeTrace
    places: Sequence[int]

    def place(self, at: int | None) -> int | None:
        """Return the position in the whole log of the event at a position of the part's, or of its last one."""
        return None if at is None or not self.places else self.places[min(at, len(self.places) - 1)]


def parts(trace: RuntimeTrace) -> list[Part]:
    """Return the part of each run that a word's events name, in the order of their first events.

    None is there where a stimulus or an event is not one run's, such as an abort while several are open: no part would
    be whole.
    """
    made: dict[str, PartMade] = {}
    owners = Owners(trace)
    for step in trace.steps:
        if not step.took_place:
            continue
        mine: dict[str, list[Any]] = {}
        for one in flat(step.stimulus):
            mine.setdefault(owners.of_stimulus(step, one) or "", []).append(one)
        told: dict[str, list[int]] = {}
        for at in range(step.first, step.end):
            event = trace.log[at]
            run = run_of(event)
            if run is not None:
                told.setdefault(run, []).append(at)
            elif names_a_run(event):
                return []
        if "" in mine:
            return []
        for run, stimuli in mine.items():
            made.setdefault(run, PartMade(run)).begin(stimuli, closing=step.closing)
        for run in {**told, **made}:
            if run not in made:
                return []
            waits = tuple(one for one in step.answer.awaiting if owners.of_awaited(one, step.end) == run)
            made[run].goes_on(told.get(run, []), waits)
    return [one.part(trace) for one in made.values()]


class PartMade:
    """A part that is made: its stimuli, the places of the events of each, and what is awaited afterwards."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._steps: list[tuple[Any, bool, list[int], tuple[Awaited, ...]]] = []

    @property
    def begun(self) -> bool:
        """True once a stimulus came."""
        return bool(self._steps)

    def begin(self, stimuli: Sequence[Any], *, closing: bool) -> None:
        """Begin a step with the stimuli that came at once."""
        one = stimuli[0] if len(stimuli) == 1 else Together(stimuli=tuple(stimuli))
        self._steps.append((one, closing, [], ()))

    def goes_on(self, told: Sequence[int], awaiting: tuple[Awaited, ...]) -> None:
        """Take what came of the run's last stimulus, or after it while another run was answered."""
        stimulus, closing, places, _ = self._steps[-1]
        self._steps[-1] = stimulus, closing, [*places, *told], awaiting

    def part(self, trace: RuntimeTrace) -> Part:
        """Return the part, observed as a word of its own."""
        profile = Profile(("runtime",), tuple(sorted(trace.capabilities)), policies=dict(trace.policies))
        recorder = Recorder(trace.options, profile)
        for stimulus, closing, places, awaiting in self._steps:
            recorder.observe(stimulus, Step(tuple(trace.log[at] for at in places), awaiting), closing=closing)
        return Part(self._run, recorder.trace(), [*self._all()])

    def _all(self) -> Iterator[int]:
        for _, _, places, _ in self._steps:
            yield from places
