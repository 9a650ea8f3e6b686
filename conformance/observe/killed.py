"""Observations of a runtime that was killed behind, or amid, a stimulus, and started again on the same folder."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

from msgspec.structs import replace

from turncheck.model.core.stimuli import Step, Stimulus, User

from .parts.agents import agent_of
from .runtime_trace import Applied, ObservedStep, Request, RuntimeTrace

PROBE: Final = User(id="after", text="say after")
"""The message that is sent after the restart, when all that was open has been answered."""
SPARE: Final = User(id="spare", text="say spare")
"""A message before it, which a write that is still to fail may hit."""


@dataclass(frozen=True)
class Killed:
    """A word that a kill cut, and what came after the restart.

    ``before`` is the word. ``amid`` is the stimulus whose answer was lost, None for a kill between two. ``start`` is
    the answer to the reset. ``after`` is the trace from the restart on; where ``start`` told or awaits something, and
    no answer was lost, one log goes on, that of the word first. ``first`` is the position of its first event after the
    restart. ``stuck`` says why the runtime could not be asked on.
    """

    before: RuntimeTrace
    amid: Stimulus | None
    start: Step
    after: RuntimeTrace
    first: int
    stuck: str | None

    @cached_property
    def told(self) -> list[dict[str, Any]]:
        """The events of the log that the answer to the reset told, native ones left out."""
        events = [cast("dict[str, Any]", event) for event in self.start.events if isinstance(event, dict)]
        return [event for event in events if event.get("type") != "native"]

    @property
    def fate(self) -> str | None:
        """The fate of the run that was open: the reason of its end, ``goes-on`` or ``untold``; None without one."""
        if not self.before.steps or not self.before.steps[-1].active:
            return None
        own = (event for event in self.told if agent_of(event) is None)
        stop = next((event for event in own if event.get("type") == "run-stop"), None)
        if stop is not None:
            return str(stop.get("reason"))
        return "goes-on" if self.start.awaiting else "untold"

    @property
    def probe(self) -> ObservedStep | None:
        """The step of the message that was sent after the restart; None where it came to none."""
        return next((step for step in self.after.steps if step.stimulus == PROBE), None)

    @property
    def requests(self) -> list[Request]:
        """The requests after the restart."""
        return [one for one in self.after.requests if one.at >= self.first]

    @property
    def applied(self) -> tuple[Applied, ...]:
        """All that was applied, with its answers, for a counterexample; a stimulus whose answer was lost has none."""
        lost = () if self.amid is None else (Applied(self.amid, Step()),)
        done = tuple(Applied(step.stimulus, step.answer) for step in self.before.steps)
        joint = len(self.before.steps) if self.first else 0
        rest = [Applied(step.stimulus, step.answer) for step in self.after.steps[joint:]]
        return (*done, *lost, *(replace(one, restarted=place == 0) for place, one in enumerate(rest)))
