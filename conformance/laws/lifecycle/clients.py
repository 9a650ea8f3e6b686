"""Laws on clients that join, leave and come back: what each is told, and that the run does not depend on them.

Each compares with the same word in which clients stay: a client that comes back never left, one that joins late was
there from the start, or no client is there at all. A client that leaves an open run where the policy ``disconnect``
says ``abort`` is replaced by an abort there.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple

from msgspec import to_builtins
from msgspec.structs import replace

from turncheck.model.core.stimuli import Abort, Awaited, Client, Stimulus, TimerAwaited, ToolAwaited, unnamed

from ...observe.clients import Alike, Clients, View, alike
from ...observe.fields import named
from ...observe.runtime_trace import ObservedStep, RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from ..runtime.subject import Rerun, relation_law, run_law

_UNSEEN: Final = ("timestamp", "seq")

_law: Final = partial(relation_law, needs=("clients",), since="0.2", overlapping="whole", each_word=True)


class _Other(NamedTuple):
    """The same word once more with other clients: its steps, and for each step of the first the count of its own."""

    steps: Sequence[ObservedStep]
    reached: Sequence[int]

    def views(self, reached: int) -> dict[str, View]:
        """Return what each client shows after so many steps."""
        return _clients(self.steps[:reached]).views


@_law("L-N1", evidence="a client that came back, and missed something")
def returning_client_misses_nothing(rerun: Rerun) -> Judgement:
    """A client that left and came back shows what it shows where it stayed: nothing twice, nothing missing."""
    clients = _clients(rerun.trace.steps)
    back = [name for name in clients.there if _left(rerun.trace, name)]
    if clients.odd or not back:
        return
    other = _other(rerun, _joins_anew)
    if other is None:
        return
    stayed = other.views(len(other.steps))
    for name in back:
        found = alike(clients.views[name], stayed.get(name, View()))
        if not found.other:
            continue
        if _missed(rerun.trace, other, name):
            yield WITNESS
        if not found.same:
            what = _difference(found)
            yield Finding(None, f"the client {name} left and came back: {what}", *_apart(found), rerun.second())


@_law("L-N2", "BED-011c", evidence="a client that joins when something was said")
def joining_client_caught_up(rerun: Rerun) -> Judgement:
    """A client that joins anew shows what one that was there shows, at least of the open run, or else of the last."""
    trace, seen, late = rerun.trace, Clients(), list[tuple[int, str, View]]()
    for place, step in enumerate(trace.steps):
        one = step.stimulus
        anew = isinstance(one, Client) and _joins_anew(one, seen)
        seen.follow(one, step.answer)
        if isinstance(one, Client) and anew and step.took_place and step.first:
            late.append((place, one.client_id, seen.views[one.client_id].copy()))
    if seen.odd or not late:
        return
    names = [*dict.fromkeys(name for _, name, _ in late)]
    first = [Client(client_id=name, action="join") for name in names]
    other = _other(rerun, lambda one, seen: _joins_anew(one, seen) and one.client_id not in names, first)
    if other is None:
        return
    for place, name, view in late:
        there = other.views(other.reached[place])[name]
        found, least = alike(view, there), alike(_since(trace, other, place, name), view)
        if not found.other:
            continue
        yield WITNESS
        if not found.ends or not least.ends:
            what = f"the client {name} joins, and does not show what one shows that was there"
            yield Finding(None, what, found.other if least.ends else least.one, found.one, rerun.second())
        elif view.active is not None and view.active != trace.steps[place].active:
            what = f"the client {name} joins, and is told another state than the run's"
            yield Finding(None, what, trace.steps[place].active, view.active, rerun.second())


@run_law(
    "L-N2", "BED-011a", evidence="something that two clients were told", needs=("clients",), since="0.2",
    overlapping="whole",
)  # fmt: skip
def clients_see_the_same(trace: RuntimeTrace) -> Judgement:
    """Two clients that are there are told the same, each in its grain."""
    clients = Clients()
    for step in trace.steps:
        before = [*clients.there]
        clients.follow(step.stimulus, step.answer)
        if clients.odd:
            return
        staying = [name for name in clients.there if name in before and not _is_of(step.stimulus, name)]
        for one, other in pairwise(staying):
            told = [step.answer.clients.get(name, ()) for name in (one, other)]
            if any(told):
                yield WITNESS
            views = _told(clients, told, (one, other))
            found, back = alike(*views), alike(*reversed(views))
            whole = views[0] is clients.views[one]  # of which one that came late shows less
            if not found.same and not (whole and found.one and found.other and (found.ends or back.ends)):
                what = f"the clients {one} and {other} are told different things"
                yield Finding(max(step.end - 1, 0), what, found.one, found.other)
                return


@_law("L-N3", evidence="a client that left while a run was open")
def leaving_changes_nothing(rerun: Rerun) -> Judgement:
    """A client that leaves neither ends nor aborts a run, unless that is declared: all goes on as without clients."""
    trace, clients = rerun.trace, _clients(rerun.trace.steps)
    if clients.odd or not clients.views:
        return
    other = _other(rerun, _none)
    if other is None:
        return
    if any(step.was_active and _leaves(step.stimulus) for step in trace.of(Client)):
        yield WITNESS
    for step, reached in zip(trace.steps, other.reached, strict=True):
        one, two = _plain(step), [] if _removed(trace, step) else _plain(other.steps[reached - 1])
        waits = _awaited(step)
        should = _awaited(other.steps[reached - 1]) if reached else waits
        if one != two or waits != should:
            what = "with clients that come and go, the run does something else than without"
            told = [two, to_builtins(should)], [one, to_builtins(waits)]
            yield Finding(max(step.end - 1, 0), what, *told, rerun.second()[:reached])
            return


def _clients(steps: Sequence[ObservedStep]) -> Clients:
    """Follow the clients through some steps."""
    clients = Clients()
    for step in steps:
        clients.follow(step.stimulus, step.answer)
    return clients


def _joins_anew(stimulus: Client, seen: Clients) -> bool:
    return stimulus.action == "join" and stimulus.client_id not in seen.views


def _leaves(stimulus: Stimulus) -> bool:
    return isinstance(stimulus, Client) and stimulus.action == "leave"


def _is_of(stimulus: Stimulus, name: str) -> bool:
    return isinstance(stimulus, Client) and stimulus.client_id == name


def _left(trace: RuntimeTrace, name: str) -> bool:
    """Return whether a client left at some time."""
    return any(_is_of(step.stimulus, name) and _leaves(step.stimulus) for step in trace.of(Client))


def _removed(trace: RuntimeTrace, step: ObservedStep) -> bool:
    """Return whether nothing takes a client's place in a word without it: it does not abort the run, by the policy."""
    stimulus = step.stimulus
    return isinstance(stimulus, Client) and not trace.leaving_aborts(step)


def _none(one: Client, seen: Clients) -> bool:  # noqa: ARG001 - as ``_joins_anew``
    """Keep no stimulus of a client."""
    return False


def _other(rerun: Rerun, keeps: Callable[[Client, Clients], bool], first: Sequence[Stimulus] = ()) -> _Other | None:
    """Apply the word again behind *first*, of the clients' stimuli only those that *keeps* keeps; None if it stops."""
    trace, seen = rerun.trace, Clients()
    word, reached = [*first], list[int]()
    for step in trace.steps:
        stimulus = step.stimulus
        if not isinstance(stimulus, Client) or keeps(stimulus, seen):
            word.append(stimulus)
        elif trace.leaving_aborts(step):
            word.append(Abort())
        seen.follow(stimulus, step.answer)
        reached.append(len(word))
    found = rerun.again(word, trace.options).trace
    if _strays(trace, found, reached):
        found = rerun.again([*map(unnamed, word)], trace.options).trace
    return _Other(found.steps, reached) if len(found.steps) == len(word) else None


def _strays(trace: RuntimeTrace, found: RuntimeTrace, reached: Sequence[int]) -> bool:
    """Return whether an answer found nobody who waits: names of requests and tools may count what clients do."""
    pairs = [
        (step, found.steps[at - 1]) for step, at in zip(trace.steps, reached, strict=True) if 0 < at <= len(found.steps)
    ]
    return any(step.took_place and not other.took_place and step.before for step, other in pairs)


def _missed(trace: RuntimeTrace, other: _Other, name: str) -> bool:
    """Return whether the client was told something in the other word while it was away in this one."""
    clients = Clients()
    for place, step in enumerate(trace.steps):
        clients.follow(step.stimulus, step.answer)
        reached = other.reached[place]
        if name in clients.away and reached and other.steps[reached - 1].answer.clients.get(name):
            return True
    return False


def _since(trace: RuntimeTrace, other: _Other, place: int, name: str) -> View:
    """Return what the client was told in the other word since the open run, or else the last, began, until *place*.

    It is the least that one shows that joins there.
    """
    begun = max((at for at in range(trace.steps[place].end) if _begins(trace, at)), default=None)
    now = other.views(other.reached[place])[name]
    if begun is None:
        return View()
    step = next(number for number, one in enumerate(trace.steps) if one.first <= begun < one.end)
    before = other.views(other.reached[step] - 1)[name]
    return View(now.events[len(before.events) :], now.coarse)


def _begins(trace: RuntimeTrace, at: int) -> bool:
    """Return whether the event at a position begins a run."""
    return trace.open_cycles[at] < trace.open_cycles[at + 1]


def _told(clients: Clients, told: Sequence[Sequence[Any]], names: Sequence[str]) -> Sequence[View]:
    """Return what two clients were told in a step, or all that they show where one was told a snapshot."""
    if any(named(one, ("type",)).get("type") == "snapshot" for each in told for one in each):
        return [clients.views[name] for name in names]
    views = [View() for _ in names]
    for view, each in zip(views, told, strict=True):
        view.hear(each)
    return views


def _difference(found: Alike) -> str:
    twice = [one for place, one in enumerate(found.one) if one in found.one[:place] and found.other.count(one) < 2]
    if twice:
        return "it shows something twice"
    if len(found.one) > len(found.other):
        return "it shows more than where it stayed"
    return "it misses something" if len(found.one) < len(found.other) else "it shows something else"


def _apart(found: Alike) -> tuple[Any, Any]:
    """Return what is expected and what is shown, from the first difference on."""
    pairs = zip(found.one, found.other, strict=False)
    same = next(
        (place for place, (one, other) in enumerate(pairs) if one != other), min(len(found.one), len(found.other))
    )
    return found.other[same:], found.one[same:]


def _awaited(step: ObservedStep) -> list[Awaited]:
    """Return what is awaited after a step, without timers, which keep connections alive, or names of runs of tools."""
    waits = (one for one in step.answer.awaiting if not isinstance(one, TimerAwaited))
    return [replace(one, execution="") if isinstance(one, ToolAwaited) else one for one in waits]


def _plain(step: ObservedStep) -> list[Any]:
    """The events of a step, without times and native ones."""
    events = (named(each, ("type",)) for each in step.answer.events if isinstance(each, dict))
    told = (event for event in events if event.get("type") != "native")
    return [{key: value for key, value in event.items() if key not in _UNSEEN} for event in told]
