"""The clients of a session: which of them are there, and what each is told and shows.

A client shows the events that it was told, in order; a *snapshot* takes the place of all that it was told before. Two
clients may be told the same in different grain: events as they came, or their sum in a snapshot. ``alike`` compares
what both kinds say.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias, cast

from msgspec.structs import replace

from turncheck.model.core.stimuli import Client, Step, Stimulus

from .fields import named

Event: TypeAlias = Mapping[str, Any]
Said: TypeAlias = tuple[Any, ...]
"""One thing that a client shows: its kind, and what tells it from others."""

_UNSHOWN: Final = ("native", "fault", "model-request")
"""Types of events that clients need not be told."""
_MESSAGE, _TEXT = "user", "text"
_RUNS: Final = ("run-stop", "run-pause", "run-resume")
_NAMES: Final = ("type", "kind", "id", "text", "callId", "tool", "responseId", "reason", "cursor")
"""Fields of what a client is told by which it is compared."""


@dataclass
class View:
    """All that one client was told: events, whether a snapshot is among them, the last cursor, and if a run is open.

    ``active`` is what the last snapshot said of it, None where it said nothing, or events followed.
    """

    events: list[Event] = field(default_factory=list[Event])
    coarse: bool = False
    cursor: str | None = None
    active: bool | None = None

    def hear(self, told: Iterable[Any]) -> None:
        """Take what the client was told."""
        for given in told:
            one = named(given, _NAMES)
            self.cursor = one.get("cursor") or self.cursor
            if one.get("type") == "snapshot":
                self.events = [*_shown(one.get("events"))]
                self.coarse = self.coarse or bool(self.events)  # a snapshot of nothing has no grain
                self.active = one["active"] if isinstance(one.get("active"), bool) else None
            elif "type" in one and one["type"] not in _UNSHOWN:
                self.events.append(one)
                self.active = None

    def copy(self) -> "View":
        """Return the view as it is now."""
        return View([*self.events], self.coarse, self.cursor, self.active)


class Clients:
    """The clients of a word: those that are ``there``, those that left (``away``), and the view of each.

    ``odd`` is true from the moment that one joined which was there, or left which was not: nothing is expected then.
    """

    def __init__(self) -> None:
        self.there: list[str] = []
        self.away: list[str] = []
        self.views: dict[str, View] = {}
        self.odd = False

    def resolved(self, stimulus: Stimulus) -> Stimulus:
        """Return the stimulus; a client that comes back gives the cursor that it was told last.

        >>> Clients().resolved(Client(client_id="k1", action="join", cursor="7")).cursor is None
        True
        """
        if not isinstance(stimulus, Client) or stimulus.action == "leave":
            return stimulus
        view = self.views.get(stimulus.client_id)
        return replace(stimulus, cursor=None if view is None else view.cursor)

    def follow(self, stimulus: Stimulus | None, answer: Step) -> None:
        """Take a settled step."""
        if isinstance(stimulus, Client) and answer.refused is None:
            name, joins = stimulus.client_id, stimulus.action == "join"
            self.odd = self.odd or joins == (name in self.there)
            for names in (self.there, self.away):
                if name in names:
                    names.remove(name)
            (self.there if joins else self.away).append(name)
            self.views.setdefault(name, View())
        for name in self.there:
            self.views[name].hear(answer.clients.get(name, ()))


class Alike(NamedTuple):
    """All that two clients show, in the grain of the coarser one.

    It may be the ``same``; where ``ends`` is true, *one* shows the end of what *other* does.
    """

    one: list[Said]
    other: list[Said]
    same: bool
    ends: bool


def alike(one: View, other: View) -> Alike:
    """Compare two views.

    >>> fine, coarse = View(), View()
    >>> fine.hear([{"type": "agent-output", "kind": "assistant", "text": text} for text in ("Hel", "lo")])
    >>> coarse.hear([{"type": "snapshot", "events": [{"type": "agent-output", "kind": "assistant", "text": "Hello"}]}])
    >>> alike(fine, coarse).same
    True
    """
    coarse = one.coarse or other.coarse
    left, right = shown(one.events, coarse=coarse), shown(other.events, coarse=coarse)
    ends = (
        all(_ends(*both) for both in zip(_parted(left), _parted(right), strict=True)) if coarse else _ends(left, right)
    )
    return Alike(left, right, left == right, ends)


def shown(events: Sequence[Event], *, coarse: bool = False) -> list[Said]:
    """Return what a client shows of *events*; *coarse*: as a snapshot of them would say it.

    Adjacent texts of one response are one. A snapshot has each result at its call, and of all pauses and ends nothing
    but the calls that are still to be decided; a message that waited may stand where it came, or where it was served:
    all messages come first here.
    """
    found, messages = list[Said](), list[Said]()
    results = {event.get("callId"): _result(event) for event in events if event.get("type") == "tool-result"}
    for event in events:
        kind = str(event.get("type"))
        match kind:
            case "user-message":
                (messages if coarse else found).append((_MESSAGE, event.get("text"), event.get("content")))
            case "agent-output" if event.get("kind") == "tool-call":
                name = event.get("callId")
                call = ("call", name, event.get("tool"), event.get("arguments"))
                found.append((*call, results.get(name)) if coarse else call)
            case "agent-output":
                of = (_TEXT, event.get("kind"), None if coarse else event.get("responseId"))
                text = str(event.get("text"))
                if found and found[-1][:-1] == of:
                    found[-1] = (*of, found[-1][-1] + text)
                else:
                    found.append((*of, text))
            case "tool-result" if not coarse:
                found.append(("result", event.get("callId"), *_result(event)))
            case _ if kind in _RUNS and not coarse:
                found.append((kind, event.get("reason"), event.get("calls")))
            case _:
                pass
    return [*messages, *found, *(_undecided(events) if coarse else ())]


def _parted(said: Sequence[Said]) -> tuple[list[Said], list[Said]]:
    """Return the messages, and all else."""
    return [one for one in said if one[0] == _MESSAGE], [one for one in said if one[0] != _MESSAGE]


def _ends(one: Sequence[Said], other: Sequence[Said]) -> bool:
    """Return whether *one* is the end of *other*, which may begin within a text."""
    first = len(other) - len(one)
    if first < 0 or (one and one[1:] != other[first + 1 :]):
        return False
    if not one or one[0] == other[first]:
        return True
    texts = one[0][0] == _TEXT and one[0][:-1] == other[first][:-1]
    return texts and str(other[first][-1]).endswith(str(one[0][-1]))


def _shown(events: Any) -> Iterator[Event]:
    """Yield the events of a snapshot that a client shows."""
    for event in cast("Sequence[Any]", events) if isinstance(events, list | tuple) else ():
        read = named(event, _NAMES)
        if "type" in read and read["type"] not in _UNSHOWN:
            yield read


def _result(event: Event) -> Said:
    return event.get("output"), event.get("isError") is True


def _undecided(events: Sequence[Event]) -> list[Said]:
    """The calls that wait for a decision at the end of *events*."""
    waiting: list[str] = []
    for event in events:
        if event.get("type") == "run-pause":
            calls = event.get("calls")
            told = cast("Sequence[Any]", calls) if isinstance(calls, list | tuple) else ()
            waiting = [name for name in told if isinstance(name, str)]
        elif event.get("type") in _RUNS:
            waiting = []
        elif event.get("type") == "tool-result":
            waiting = [name for name in waiting if name != event.get("callId")]
    return [("undecided", tuple(sorted(waiting)))] if waiting else []
