"""The history that each request of a runtime has to show: as ``interaction`` keeps it, by its own effects.

Which effect takes place, and when, is what was observed; what it does to the history, the machine declares. A tool's
result stands where it was logged, or else where its tool ended. Two things no observation decides, and what follows
is not judged: what a model says that ignores an abort, and several sessions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from turncheck.model.core.cycles import SteerStep
from turncheck.model.core.events import ModelRequest, RunPause, RunStop, ToolResult, UserMessage
from turncheck.model.core.history import Entry
from turncheck.model.core.stimuli import (
    Abort,
    ClientResult,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    Shown,
    Text,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.machines.interaction import SPEC, tables

from .compactions import for_compaction
from .runtime_trace import ObservedStep, Request, RuntimeTrace, flat

_UNKNOWN: Final = None
"""The text of a result that no tool returned: the runtime's own."""


class Asked(NamedTuple):
    """A request, and the history that it has to show without any compaction, in no arrangement.

    Of a result, ``text`` None is any text, and ``is_error`` None is a mark or none.
    """

    request: Request
    history: tuple[Entry, ...]
    summarised: Mapping[int, int]
    """Position of each request for a compaction until now → how many entries of the history there were."""


@dataclass
class _Call:
    """A call of the open response or batch: where it stands, its response, and how its tool ended, if it did."""

    at: int
    response: int
    ended: Shown | None = None
    early: int | None = None
    """The place of its result, where that came before the response was over."""


def asked(trace: RuntimeTrace, policies: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield every request of *trace* with the history that it has to show under *policies*, as far as can be told."""
    return _Keeper(trace, policies).requests()


class _Keeper:
    """Applies the effects of ``interaction`` on histories, each where what it stands for was observed."""

    def __init__(self, trace: RuntimeTrace, policies: Mapping[str, Any]) -> None:
        self._trace = trace
        self._context = SPEC.fresh(tables(policies))
        self._rewords = policies.get("failures") == "own-words"
        self._facts: list[Entry] = []
        self._missing: dict[int, Entry] = {}  # a call's place → the result that it got instead of its own
        self._calls: dict[str, _Call] = {}  # by id: those without a result in the history
        self._early: list[str] = []  # ids of calls that ended while their response was under way
        self._unread: dict[str, int] = {}  # id of a message that a run took → its place, until a request shows it
        self._late: list[str] = []  # ids of those that an earlier run has left, until the next one asks
        self._unasked: dict[str, int] = {}  # id → its place: the next run may show it, where the last had taken it
        self._opening: list[int] = []  # places of the roots whose run has not asked yet, and of what joins them
        self._last: list[int] = []  # those of the run that is open
        self._response = -1  # position of the request that is answered now
        self._speaks = False
        self._aborted = False
        self._cut = False  # an abort came while tools of a whole response were still to end
        self._unsure = False
        self._pauses = 0
        self._summarised: dict[int, int] = {}  # position of a request for a compaction → the entries there were

    def requests(self) -> Iterator[Asked]:
        trace = self._trace
        requests = {one.at: one for one in trace.requests}
        steps = [step for cycle in trace.cycles for step in cycle.steps]
        steers = {step.at for step in steps if isinstance(step, SteerStep)}
        opened = -1
        for step in trace.steps:
            for stimulus in flat(step.stimulus):
                self._hear(step, stimulus)
            for at in range(step.first, step.end):
                event = trace.events[at]
                if isinstance(event, RunStop) and trace.open_cycles[at] >= 0:
                    self._end(event.reason)
                if isinstance(event, UserMessage) and at in steers and event.id is not None:
                    self._unread[event.id] = self._fact(Entry(self._message(event.id, at)))
                self._pauses += isinstance(event, RunPause)
                if isinstance(event, ToolResult) and event.call_id in self._calls:
                    self._answer(event.call_id, flagged=bool(event.is_error))
                if trace.open_cycles[at + 1] > opened:
                    for cycle in range(opened + 1, trace.open_cycles[at + 1] + 1):
                        self._root(cycle)
                    opened = trace.open_cycles[at + 1]
                if for_compaction(trace.log[at]):
                    self._summarised[at] = len(self._context.registers["history"])
                elif isinstance(event, ModelRequest):
                    # Asked again amid a response: which of the two is shown what, nobody knows.
                    if self._unsure or self._speaks:
                        return
                    yield self._ask(requests[at])

    # ---- what was observed ----

    def _hear(self, step: ObservedStep, stimulus: Any) -> None:
        """Take a stimulus that took place. What an abort cuts that comes together with an answer, nobody knows."""
        self._unsure = self._unsure or (stimulus is not step.stimulus and isinstance(stimulus, Abort))
        if step.answer.refused is not None or isinstance(stimulus, User):
            return
        if isinstance(stimulus, ModelOutput | ModelStop | ModelFail):
            if not self._answers(step, stimulus):
                self._unsure = self._unsure or isinstance(stimulus, ModelOutput)
            elif isinstance(stimulus, ModelOutput):
                self._say(stimulus)
            else:
                self._settle("settle" if isinstance(stimulus, ModelStop) else "settle_failed")
        elif isinstance(stimulus, ToolReturn | ToolFail | ClientResult):
            self._ended(step, stimulus)
        elif isinstance(stimulus, Abort) and step.was_active:
            self._cut = self._cut or (not self._speaks and bool(self._calls))
            self._settle("settle_aborted")
            self._aborted = True
        self._unsure = self._unsure or getattr(stimulus, "session_id", None) is not None

    def _answers(self, step: ObservedStep, stimulus: ModelOutput | ModelStop | ModelFail) -> bool:
        """Return whether it answers the request that the run waits for: not one that an abort has cut."""
        waiting = step.model_before
        name = stimulus.request_id or (waiting.request_id if waiting else "")
        return self._speaks and self._trace.asked(name, step) == self._response

    def _say(self, stimulus: ModelOutput) -> None:
        match stimulus.item:
            case Text(text=text):
                self._act("hold", self._fact(Entry(Shown(role="assistant", text=text), self._response)))
            case ToolCall(call_id=name, tool=tool, arguments=arguments):
                shown = Shown(role="assistant", call_id=name, tool=tool, arguments=arguments)
                at = self._fact(Entry(shown, self._response))
                self._missing[at] = Entry(Shown(role="tool", call_id=name, text=_UNKNOWN), self._response)
                self._calls[name] = _Call(at, self._response)
                self._act("note_call", at)
                self._act("hold", at)
            case Reasoning():
                pass

    def _settle(self, effect: str) -> None:
        """The response under way is over: whole, aborted or failed."""
        if not self._speaks:
            return
        self._speaks = False
        waiting = self._context.registers["calls"]
        if effect == "settle":
            self._act(effect)
        else:
            self._leave_out_unheard()
            # A call that ended early has a result of its own, which stays where its call does.
            for name in self._early:
                if self._calls[name].at in waiting:
                    waiting.remove(self._calls[name].at)
            self._act(effect)
            kept = self._context.registers["history"]
            self._early = [name for name in self._early if self._calls[name].at in kept]
            self._calls = {name: self._calls[name] for name in self._early}
            self._act("forget_calls")
        for name in self._early:
            self._answer(name)
        self._early = []

    def _leave_out_unheard(self) -> None:
        """Leave out what the model said in vain: it is in no log and in no request, since the cut came first."""
        registers, events = self._context.registers, self._trace.log
        said: list[int] = registers["said"]
        entries = [
            entry for one in self._trace.requests for entry in one.input or () if entry.get("role") == "assistant"
        ]
        heard = [str(told.get("text")) for told in (*events, *entries)]
        known = {told.get("callId") for told in (*events, *entries)}
        for at in [*said]:
            shown = self._facts[at].shown
            if shown.call_id is None and not any(str(shown.text) in text for text in heard):
                said.remove(at)
            if shown.call_id is not None and shown.call_id not in known:
                said.remove(at)
                if at in registers["calls"]:
                    registers["calls"].remove(at)

    def _ended(self, step: ObservedStep, stimulus: ToolReturn | ToolFail | ClientResult) -> None:
        """A tool ended: what it said is its call's result, unless the run was aborted before."""
        call = self._calls.get(stimulus.call_id)
        runs = [one for one in step.before if isinstance(one, ToolAwaited) and one.call_id == stimulus.call_id]
        if call is None or self._aborted or any(one.cancelled for one in runs):
            return
        told = stimulus.message if isinstance(stimulus, ToolFail) else stimulus.output
        text = told if isinstance(told, str) else _UNKNOWN
        failed = None if isinstance(stimulus, ToolFail) else False
        if self._rewords and failed is None:
            text = _UNKNOWN
        call.ended = Shown(role="tool", call_id=stimulus.call_id, text=text, is_error=failed)

    def _answer(self, name: str, *, flagged: bool = False) -> None:
        """A call has its result; a failure that the log marks as one (*flagged*) is marked in the history too."""
        call = self._calls[name]
        if flagged and call.ended is not None and call.ended.is_error is None:
            call.ended = replace(call.ended, is_error=True)
        own = Entry(call.ended, call.response) if call.ended else self._missing[call.at]
        own = own._replace(pauses=self._pauses)
        if self._speaks and call.response == self._response:
            if name not in self._early:
                self._early.append(name)
                call.early = self._fact(own)
            return
        del self._calls[name]
        if call.at in self._context.registers["calls"]:
            self._context.registers["calls"].remove(call.at)
        self._act("record", self._fact(own) if call.early is None else call.early)

    def _root(self, cycle: int) -> None:
        """A run is open: its root is to be shown, behind the messages that join it."""
        at = self._trace.cycles[cycle].root
        event = self._trace.events[at]
        joined = [(one, self._trace.messages[one]) for one, where in self._trace.joined.items() if where == cycle]
        shown = [*joined, (event.id if isinstance(event, UserMessage) else None, at)]
        self._aborted = self._cut = False
        self._last = [self._fact(Entry(self._message(*one))) for one in shown]
        self._opening += self._last

    def _ask(self, request: Request) -> Asked:
        """The run asks the model: it is shown steers from then on, and no call without a result."""
        order = self._trace.shown(request)
        root = "".join(self._facts[self._opening[0]].shown.ids) if self._opening else ""
        before = order[: order.index(root)] if root in order else []
        for name in [name for name in before if name in self._unasked]:
            self._act("record", self._unasked.pop(name))
        self._take([name for name in self._late if name in before], "record_steers")
        first = bool(self._opening)
        self._open()
        self._give_up()
        names = [name for name in self._unread if name in order]
        if first and not names:  # what an earlier run has left has to be shown by now, the oldest at least
            names = [name for name in self._late if name in self._unread][:1]
        self._take(names, "record_steers")
        self._late = []
        self._response, self._speaks = request.at, True
        return Asked(request, tuple(self._shown(self._context.registers["history"])), {**self._summarised})

    def _open(self) -> None:
        for at in self._opening:
            self._act("record", at)
        self._opening = []

    def _end(self, reason: str) -> None:
        """The run is over: what it did not come to is settled as declared."""
        self._settle("settle_aborted" if self._aborted else "settle_failed")
        self._give_up()
        if self._cut:
            self._act("retract")
        if reason == "completed":  # a follow-up that was taken together with the next waits for that one's request
            self._unasked |= self._unread  # a steer that is late (``steers_in_their_run``) stands where it is shown
            self._unread = {}
        elif self._opening:
            self._opening = [at for at in self._opening if at not in self._last]
            self._unasked |= {"".join(self._facts[at].shown.ids): at for at in self._last}
            self._open()
        unread = {**self._unread}
        self._take([*unread], "record_unread", "put_off_unread")
        late = self._context.registers["late"]
        history = self._context.registers["history"]
        self._unasked |= {name: at for name, at in unread.items() if at not in (*late, *history)}
        self._unread = {name: at for name, at in unread.items() if at in late}
        self._late = [*self._unread]
        late.clear()  # it stands behind the next root, or before it where the run had already taken it

    def _give_up(self) -> None:
        """Calls that have ended are answered; those that have not are answered by the runtime itself."""
        for name in [name for name, call in self._calls.items() if call.ended is not None]:
            self._answer(name)
        self._act("record_skipped")
        self._act("forget_calls")
        self._calls = {}

    def _take(self, names: Sequence[str], *effects: str) -> None:
        """Apply *effects* on the steers of these names, and wait for them no more."""
        self._context.registers["steers"].extend(self._unread.pop(name) for name in names)
        for effect in (*effects, "take_steers"):
            self._act(effect)

    # ---- the history ----

    def _act(self, effect: str, at: int = -1) -> None:
        """Apply an effect that the machine declares; ``at`` is the place of what it is about."""
        self._context.at = at
        SPEC.effects[effect].apply(self._context)

    def _fact(self, entry: Entry) -> int:
        self._facts.append(entry)
        return len(self._facts) - 1

    def _message(self, name: str | None, at: int) -> Shown:
        sent = self._trace.sent.get(name or "")
        text = sent.text if sent is not None and sent.content is None else self._trace.log[at].get("text")
        return Shown(role="user", text=None if text is None else str(text), ids=() if name is None else (name,))

    def _shown(self, places: Sequence[int]) -> Iterator[Entry]:
        seen: set[int] = set()
        for at in places:
            yield (self._missing if at in seen else self._facts)[at]._replace(
                place=len(self._facts) if at in seen else at
            )
            seen.add(at)
