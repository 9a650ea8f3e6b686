"""Laws on the fate of the user's messages."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from turncheck.model.core.cycles import SteerStep
from turncheck.model.core.events import UserMessage
from turncheck.model.core.history import FOLLOW_UP_HANDOVER, STEER_HANDOVER
from turncheck.model.core.stimuli import User

from ...observe.runtime_trace import ObservedStep, Request, RuntimeTrace, flat
from ..law import WITNESS, Finding, Judgement
from .subject import run_law


@run_law("RC-D8", "X-7", "BED-002b", evidence="a run that completed", needs=("model-input",))
def messages_consumed(trace: RuntimeTrace) -> Judgement:
    """A run that completes has shown its root to the model: no accepted message is lost."""
    for name, at, consumed in _completed(trace, roots=True):
        yield WITNESS
        if not consumed:
            yield Finding(at, f"the message {name} is accepted and the model never sees it")


@run_law("RC-4.2", "TM-5.2", evidence="a steer in a run that completed", needs=("steer", "model-input"))
def steers_in_their_run(trace: RuntimeTrace) -> Judgement:
    """A steer reaches the model in the run that it was sent to.

    Only runs that complete are judged: the sources leave open the fate of a steer at an abort or a failure (RC-D8; the
    policies of RC-D6 are the queue's). Runtimes keep it for the next run, or drop it.
    """
    for name, at, consumed in _completed(trace, roots=False):
        yield WITNESS
        if not consumed:
            elsewhere = [one.id for one in trace.requests if name in trace.shown(one)]
            yield Finding(at, f"the steer {name} does not reach the model in its run", "seen", elsewhere)


@run_law(
    "RC-4.1",
    "RC-7.5",
    "RC-D7",
    "TM-5.1",
    evidence="a request while a follow-up waits",
    needs=("follow-up", "model-input"),
)
def follow_ups_in_turn(trace: RuntimeTrace) -> Judgement:
    """A follow-up waits for the run's end; then one is served per run, the oldest first."""
    last = len(trace.cycles)
    for request in _seen(trace):
        if request.cycle < 0:
            continue
        waiting = {
            name
            for name, index in trace.message_cycles.items()
            if trace.messages[name] < request.at and (index if index >= 0 else last) > request.cycle
        }
        if waiting:
            yield WITNESS
        early = [name for name in trace.shown(request) if name in waiting]
        if early:
            yield Finding(request.at, "a follow-up that waits is shown to the model in an earlier run", [], early)


@run_law("X-7", evidence="a request that shows two messages", needs=("model-input",))
def messages_in_order(trace: RuntimeTrace) -> Judgement:
    """The model sees messages in the order in which they were served.

    Where ``unread`` is ``later``, a message that its run never came to stands behind the next root (RC-D8).
    """
    put_off = {*_left(trace)} if trace.policies.get("unread") == "later" else set[str]()
    for request in _seen(trace):
        names = [name for name in trace.shown(request) if name in trace.messages and name not in put_off]
        if len(names) < 2:
            continue
        yield WITNESS
        cycles = trace.message_cycles
        served = sorted(set(names), key=lambda name: (cycles[name] < 0, cycles[name], trace.messages[name]))
        if names != served:
            yield Finding(request.at, "the model sees messages out of order, or twice", served, names)


@run_law("RC-D6", evidence="an abort or a failure while a follow-up waits", needs=("follow-up",))
def queue_as_declared(trace: RuntimeTrace) -> Judgement:
    """After an abort or a failure, waiting messages are promoted, held, dropped, or join the next one, as declared."""
    gone: set[str] = set()  # dropped at an earlier end, or joined to a later message: they wait no more
    for index, cycle in enumerate(trace.cycles):
        stop, reason = cycle.stop, cycle.reason
        if stop is None or reason in {"completed", None}:
            continue
        waiting = {name for name, at in trace.messages.items() if at < stop} - gone
        waiting -= {name for name, served in trace.message_cycles.items() if 0 <= served <= index}
        if not waiting:
            continue
        fate = trace.fate(index)
        if fate in {"drop", "join"}:
            gone |= waiting
        users = [at for at in trace.messages.values() if at > stop]
        served = [one for one in trace.requests if stop < one.at < min(users, default=len(trace.log))]
        yield WITNESS
        if fate == "promote" and not served:
            policy = f"queueAfter{(reason or '').capitalize()}"
            why = "declared" if policy in trace.policies else f"by default ({policy} is not declared)"
            yield Finding(stop, f"the queue is not promoted, as {why}", "a request", "nothing")
        elif fate != "promote" and served:
            yield Finding(served[0].at, f"the queue is promoted, where {fate} is declared", fate, "promote")
        elif fate == "drop":
            late = next((one for one in trace.requests if one.at > stop and waiting & {*trace.shown(one)}), None)
            if late is not None:
                yield Finding(late.at, "a dropped message is shown to the model", "nothing", trace.shown(late))
        elif fate == "join":
            first = next((one for one in trace.requests if one.cycle == index + 1 and one.input is not None), None)
            left = waiting - {*trace.shown(first)} if first is not None else set[str]()
            if first is not None and left:
                yield Finding(first.at, "what waited is not shown with the next message", sorted(waiting), sorted(left))


class Handover(NamedTuple):
    """A request at which several messages waited, and those of them that it is the first to show: at least one."""

    policy: str
    at: int
    waiting: list[str]
    handed: list[str]

    @property
    def value(self) -> str:
        """The value of the policy that fits; ``some`` where none does."""
        return "one" if len(self.handed) == 1 else "all" if len(self.handed) == len(self.waiting) else "some"


@run_law(
    "X-D1",
    evidence="a request at which several messages wait",
    needs=("steer or follow-up", "model-input"),
    since="0.2",
)
def handed_over_as_declared(trace: RuntimeTrace) -> Judgement:
    """Of several steers or follow-ups that wait, a request shows the oldest alone, or all, as declared.

    Nothing is asked of a kind of message for which neither value is declared or could be inferred. A message that comes
    in the very step of a request may still be shown in it, or later.
    """
    for one in handovers(trace):
        declared = trace.policies.get(one.policy)
        if declared is None:
            continue
        yield WITNESS
        if one.value != declared:
            right = one.waiting if declared == "all" else one.waiting[:1]
            told = f"of {len(one.waiting)} messages that wait {len(one.handed)} are shown: {one.policy} is {declared}"
            yield Finding(one.at, told, right, one.handed)


def handovers(trace: RuntimeTrace) -> Iterator[Handover]:
    """Yield the requests at which several messages of a kind waited, and which show one of them at least.

    What they show is known up to the first one without input, or with a text that nobody sent: texts may be joined.
    """
    steers = {step.at for cycle in trace.cycles for step in cycle.steps if isinstance(step, SteerStep)}
    before: set[str] = set()
    begun: set[int] = set()
    for request in trace.requests:
        shown = trace.shown(request)
        if request.input is None or "?" in shown:
            return
        waiting = {STEER_HANDOVER: [name for name in _in_run(trace, request) if trace.messages[name] in steers]}
        if request.cycle not in begun:
            waiting[FOLLOW_UP_HANDOVER] = _follow_ups(trace, request.cycle)
        begun.add(request.cycle)
        for policy, names in waiting.items():
            new = [name for name in names if name not in before]
            handed = [name for name in new if name in shown]
            waited = [name for name in new if name in handed or trace.messages[name] < _first(trace, request.at)]
            if handed and len(waited) > 1:
                yield Handover(policy, request.at, waited, handed)
        before.update(shown)


def _in_run(trace: RuntimeTrace, request: Request) -> list[str]:
    """The messages of the request's run that came before it, the oldest first."""
    return [
        name
        for name, cycle in trace.message_cycles.items()
        if cycle == request.cycle >= 0 and trace.messages[name] < request.at
    ]


def _follow_ups(trace: RuntimeTrace, cycle: int) -> list[str]:
    """The messages that waited when a promoted one began the cycle, that one among them; else none.

    A cycle that the adapter made up for a follow-up that was taken together with the next begins with it.
    """
    cycles, first = trace.cycles, cycle
    while first > 0 and cycles[first].kind == "followUp" and _taken_with_the_next(trace, first - 1):
        first -= 1
    end = cycles[first - 1].stop if first > 0 else None
    if end is None or cycles[first].kind != "followUp":
        return []
    promoted = {cycles[place].root for place in range(first, cycle + 1)}
    waited = _waiting_at(trace, end, cycle)
    return [name for name, at in trace.messages.items() if at in promoted or name in waited]


def _taken_with_the_next(trace: RuntimeTrace, cycle: int) -> bool:
    one = trace.cycles[cycle]
    return one.kind == "followUp" and one.reason == "completed" and _empty(trace, cycle)


def _waiting_at(trace: RuntimeTrace, end: int, cycle: int) -> Collection[str]:
    """The messages that waited at the *end* of a run, and that are not served up to a *cycle*."""
    kept = {*trace.projection.queued, *trace.projection.dropped}
    gone = [
        one.stop
        for index, one in enumerate(trace.cycles)
        if one.stop is not None and one.stop <= end and trace.fate(index) in {"drop", "join"}
    ]
    return {
        name
        for name, at in trace.messages.items()
        if at < _first(trace, end)
        and (trace.message_cycles[name] > cycle or (at in kept and not any(at < stop for stop in gone)))
    }


def _first(trace: RuntimeTrace, at: int) -> int:
    """The position at which the step begins that has the event at *at*."""
    return max((step.first for step in trace.steps if step.first <= at), default=0)


@run_law("RC-3.2", "BED-002c", evidence="a message in an open run", needs=("policy busy",), overlapping="whole")
def busy_as_declared(trace: RuntimeTrace) -> Judgement:
    """A message that comes while busy is rejected or logged, and steers or waits, as declared.

    It is logged in the answer to the stimulus, and not at its promotion: acceptance is a moment of its own.
    """
    busy = trace.policies.get("busy")
    for step in trace.steps:
        if not isinstance(step.stimulus, User) or not step.was_active or step.stimulus.agent_id is not None:
            continue
        declared = busy if step.stimulus.delivery is None else None  # a delivery asks for what it wants
        if declared == "reject":
            yield WITNESS
            if not step.rejected:
                yield Finding(step.first, "a message while busy is not rejected", "rejected", step.answer.refused)
        elif declared is not None and step.rejected:
            yield Finding(step.first, "a message while busy is rejected", busy, "reject")
        elif step.took_place:
            yield WITNESS
            if not _logged(trace, step, step.stimulus):
                yield Finding(step.first, "a message while busy is neither logged nor rejected", "logged", "nothing")


@run_law("X-7", evidence="a message at once with another, or an abort", needs=("together",), overlapping="whole")
def sent_together_none_lost(trace: RuntimeTrace) -> Judgement:
    """Of messages sent at once with others, or an abort, each is accepted or refused: none is lost."""
    for step in trace.steps:
        sent = [one.id for one in flat(step.stimulus) if isinstance(one, User)]
        if not sent or sent == [getattr(step.stimulus, "id", None)]:
            continue
        accepted = [name for name in sent if name in trace.messages]
        yield WITNESS
        if len(accepted) < len(sent) and not step.rejected:
            lost = [name for name in sent if name not in accepted]
            yield Finding(step.first, "a message sent together with something else is lost", sent, f"without {lost}")


def _completed(trace: RuntimeTrace, *, roots: bool) -> Iterator[tuple[str, int, bool]]:
    """The roots, or else the steers, of runs that completed: with their positions, and whether a request shows them."""
    for name, index in trace.message_cycles.items():
        at = trace.messages[name]
        if name in trace.joined:  # as declared for the queue: neither a root nor a steer
            continue
        if index >= 0 and trace.cycles[index].reason == "completed" and (trace.cycles[index].root == at) is roots:
            yield name, at, _consumed(trace, name, index)


def _consumed(trace: RuntimeTrace, name: str, cycle: int) -> bool:
    """True if a request of the cycle shows the message. A follow-up's own line stands in an earlier cycle's stretch.

    Of several follow-ups in one input, each except the last has an empty cycle (RC-D7): the next request counts.
    """
    while cycle < len(trace.cycles) - 1 and _empty(trace, cycle):
        cycle += 1
    return any(
        name in trace.shown(one) for one in trace.requests if one.cycle == cycle and one.at > trace.messages[name]
    )


def _left(trace: RuntimeTrace) -> Iterator[str]:
    """The messages that no request of their run has shown, where that did not complete."""
    for name, cycle in trace.message_cycles.items():
        unfinished = cycle >= 0 and trace.cycles[cycle].reason not in {None, "completed"}
        if unfinished and not any(name in trace.shown(one) for one in trace.requests if one.cycle == cycle):
            yield name


def _empty(trace: RuntimeTrace, cycle: int) -> bool:
    """True for a cycle that the adapter made up for a follow-up that was taken together with the next."""
    return trace.inferred(trace.cycles[cycle].stop) and not any(one.cycle == cycle for one in trace.requests)


def _logged(trace: RuntimeTrace, step: ObservedStep, message: User) -> bool:
    """True if the events of *step* hold the message: by its id, or by its text, which no other has."""
    events = trace.events[step.first : step.end]
    return any(isinstance(one, UserMessage) and (one.id == message.id or one.text == message.text) for one in events)


def _seen(trace: RuntimeTrace) -> list[Request]:
    return [one for one in trace.requests if one.input is not None]
