"""Input for a collator: the frames of one whole request, as the reference backend emits them.

A flow says what the model streams and calls in each iteration, and how the backend spells it; ``frames_of`` makes the
frames. A flow stays whole however it is cut, and so do its frames: a law on collations never sees half a request.
"""

from collections.abc import Collection, Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from turncheck.adapters.references.event_flow.backend import Backend
from turncheck.adapters.references.event_flow.emission import Dialect
from turncheck.model.machines.chat_log import Heard

ITERATIONS: Final = 9
"""The backend's bound: more than any flow has."""


class Iteration(msgspec.Struct, frozen=True, omit_defaults=True):
    """One model call: the texts that it streams, how many tools it calls, and whether the last of these fails."""

    deltas: tuple[str, ...] = ()
    calls: int = 0
    fails: bool = False


class Flow(msgspec.Struct, frozen=True, rename="camel"):
    """One request, and the dialect of its backend; every iteration except the last calls tools, and the last none.

    ``nested``: call records bear provider and model under ``request``; ``numbered``: deltas have a ``seq``;
    ``tells_record``: ``llm_response`` has the record too; ``completes``: iterations without calls have a
    ``message_complete`` as well.
    """

    iterations: tuple[Iteration, ...]
    nested: bool = False
    numbered: bool = False
    tells_record: bool = True
    completes: bool = True

    @property
    def size(self) -> int:
        """The number of its pieces: each delta, each call, and each iteration except the last."""
        return len([*self._pieces()])

    def without(self, places: Collection[int]) -> "Flow":
        """Leave out the pieces at *places*, and what needs them: with an iteration goes all that is in it.

        >>> flow = Flow((Iteration(("a", "b"), 1), Iteration(("c",))))
        >>> flow.without([1]).iterations[0].deltas
        ('a',)
        """
        gone = {piece for at, piece in enumerate(self._pieces()) if at in places}
        left = [
            replace(
                one,
                deltas=tuple(text for at, text in enumerate(one.deltas) if (number, "delta", at) not in gone),
                calls=sum((number, "call", at) not in gone for at in range(one.calls)),
            )
            for number, one in enumerate(self.iterations)
            if (number, "whole", 0) not in gone
        ]
        end = next((at for at, one in enumerate(left) if not one.calls), len(left) - 1)
        return replace(self, iterations=(*left[:end], replace(left[end], calls=0)))

    def simpler(self) -> "Iterator[Flow]":
        """Yield the flow in a plainer dialect, each in turn, and without failing tools."""
        plain = {"nested": False, "numbered": False, "tells_record": True, "completes": True}
        for name, value in plain.items():
            if getattr(self, name) != value:
                yield replace(self, **{name: value})
        if any(one.fails for one in self.iterations):
            yield replace(self, iterations=tuple(replace(one, fails=False) for one in self.iterations))

    def _pieces(self) -> Iterator[tuple[int, str, int]]:
        for number, one in enumerate(self.iterations):
            yield from ((number, "delta", at) for at in range(len(one.deltas)))
            yield from ((number, "call", at) for at in range(one.calls))
            if number + 1 < len(self.iterations):
                yield number, "whole", 0


def frames_of(flow: Flow) -> tuple[dict[str, Any], ...]:
    """Return the frames of *flow*, from its ``llm_request`` to its last response.

    >>> [frame["type"] for frame in frames_of(Flow((Iteration(("ha",)),)))]
    ['llm_request', 'delta', 'llm_response', 'message_complete']
    """
    dialect = Dialect("nested" if flow.nested else "top-level", flow.numbered, flow.tells_record)
    backend = Backend(max_tool_iterations=ITERATIONS, always_completes=flow.completes, dialect=dialect)
    backend.hear("chat", Heard(id="u1", text="one"))
    for number, one in enumerate(flow.iterations):
        for place, delta in enumerate(one.deltas):
            backend.hear("delta", Heard(text=delta, begins=int(not place)))
        names = [f"c{number}.{call}" for call in range(one.calls)]
        for name in names:
            backend.hear("tool-call", Heard(call_id=name, tool="read", arguments={"path": name}))
        backend.hear("response-end", Heard(usage={"total": 10 + number}))
        for name in names:
            failed = one.fails and name == names[-1]
            letter = "tool-failure" if failed else "tool-result"
            backend.hear(letter, Heard(call_id=name, output=f"result of {name}"))
    return tuple(backend.frames)


_STORIES: Final = (
    (Iteration(("ha",)),),
    (Iteration(),),
    (Iteration(("ha", "ha")),),
    (Iteration((), 1), Iteration(("well",))),
    (Iteration((), 4), Iteration(("done",))),
    (Iteration((), 2, fails=True), Iteration(("sorry",))),
    (Iteration(("I ", "look."), 1), Iteration(("ha", "ha"), 2), Iteration(("all ", "well"))),
)
"""Four calls side by side: by chance, one of 24 hash seeds gives a set of them the same order. The last one is the
source's: three iterations, two of them with tools."""

CLASSICS: Final = tuple(
    Flow(story, nested, numbered, tells_record=not nested, completes=completes)
    for story in _STORIES
    for nested, numbered in ((True, False), (False, True))
    for completes in (True, False)
)
"""Each story in today's dialect and in the recommended one."""
