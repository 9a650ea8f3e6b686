"""The player of paths: a machine plays what a source draws or lists, in the source's own numbers and frames.

A path's steps are events, which the machine takes, and the ``Band`` and ``Edge`` rows that name the source's numbered
parts and open, branch and end its frames. Arrows are drawn for what an event and the outputs that follow it pass on,
each a ``Hop`` from party to party. Hops that the machine does not see are light arrows: these are the source's own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

from ...declaration.machine import Machine
from ...declaration.stepping import Stepper
from ...declaration.vocabulary import Output
from ..scene import Arrow, Band, Edge, Row, Scene
from .story import Heard, Word, event, says


class Hop(NamedTuple):
    """A message from one party to another: dashed where it goes back, light where the machine does not see it."""

    source: str
    dest: str
    words: str
    back: bool = False
    unseen: bool = False


@dataclass(frozen=True)
class Take:
    """An event that the machine takes.

    *edges* are drawn before the output that they name, or right behind the event (``""``). ``until`` names the output
    from which on nothing is drawn, since another branch draws it; ``only`` the outputs that are drawn, without the
    event (empty: all of them, with the event). With ``behind`` the machine starts again, and takes that word before it,
    of which nothing is drawn. ``arrives`` are the hops of this event where others of its kind have other ones.
    """

    event: tuple[str, Heard]
    edges: Mapping[str, Sequence[Row]] = field(default_factory=dict[str, Sequence[Row]])
    until: str | None = None
    only: tuple[str, ...] = ()
    behind: Word | None = None
    arrives: Sequence[Hop] | None = None


@dataclass(frozen=True)
class Path:
    """A picture: *steps* that *machine* plays under *tables*; the hops of an event, and those of an output."""

    title: str
    parties: tuple[str, ...]
    machine: Machine
    tables: Mapping[str, Any]
    steps: Sequence[Take | Band | Edge]
    arrives: Mapping[str, Sequence[Hop]]
    leaves: Callable[[Output], Sequence[Hop]]

    def scene(self) -> Scene:
        """Play the path."""
        numbers = count(1)
        rows = (replace(row, at=next(numbers)) if isinstance(row, Arrow) else row for row in self._rows())
        return Scene(self.title, self.parties, tuple(rows))

    def _rows(self) -> Iterator[Row]:
        stepper, at = Stepper(self.machine, self.tables), count()
        for step in self.steps:
            if not isinstance(step, Take):
                yield step
                continue
            if step.behind is not None:
                stepper = Stepper(self.machine, self.tables)
                for symbol, fields in step.behind:
                    stepper.take(symbol, fields, next(at))
            symbol, fields = step.event
            stepper.take(symbol, fields, next(at))
            if not step.only:
                yield from _arrows(self.arrives[symbol] if step.arrives is None else step.arrives)
            yield from step.edges.get("", ())
            for output in stepper.outputs:
                if output.name == step.until:
                    break
                yield from step.edges.get(output.name, ())
                if not step.only or output.name in step.only:
                    yield from _arrows(self.leaves(output))


def _arrows(hops: Iterable[Hop]) -> Iterator[Arrow]:
    for hop in hops:
        arrow = says(hop.source, hop.dest, hop.words, answer=hop.back)
        yield replace(arrow, stroke="other") if hop.unseen else arrow


def plain(*symbols: str) -> Word:
    """Make a word of events without fields."""
    return [event(symbol) for symbol in symbols]
