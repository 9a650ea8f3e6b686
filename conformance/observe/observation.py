"""The state of a running implementation: two declared machines, stepped from observations.

``request_cycle`` reads the log: it knows the open cycle, the waiting messages and the open calls. ``interaction`` takes
each stimulus that took place, and is then corrected where the implementation did something else: the awaited answers
and the log decide, and the machine supplies the state that neither shows.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from turncheck.model.core.decode import judge
from turncheck.model.core.events import Event, session_and_agent, symbol_of
from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    Awaited,
    ClientToolAwaited,
    Decider,
    Decision,
    ModelAwaited,
    Step,
    Stimulus,
    Together,
    ToolAwaited,
    User,
)
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines import interaction, request_cycle

from .compactions import answers_compaction, for_compaction, summarises
from .fields import input_entries, named
from .runtime_trace import flat, projection_policies, tools_of
from .told_ends import ToldEnds

_SPEECH: Final = frozenset(("output", "call"))
"""Outputs of ``interaction`` for an item of a response."""
_ENDS: Final = frozenset(("result", "failure", "deny"))
"""Outputs for a result: of a run of a tool, of the client, or of a person who denies a call."""

_NAMES: Final = ("type", "kind", "id", "callId", "tool", "requestId", "responseId", "runId", "agentId", "parentCallId")
"""Fields of an event by which laws look others up."""


class Observation:
    """A runtime as far as it was observed. *policies* are the declared ones, as the reset's options change them.

    *decider* says who decides about the calls of a tool, by the same options.

    ``log`` holds the events, and ``events`` the same read; ``open_cycles`` has, for each position of the log and for
    its end, the index of the cycle that was open before it, -1 for none. ``queue`` and ``steers`` are positions of
    messages: the follow-ups that wait, and the steers that no request has shown. ``said`` is true while a response has
    begun and not ended; ``made`` counts its calls so far, since some tools run before the response is over.
    """

    def __init__(self, policies: Mapping[str, Any], decider: Callable[[str], Decider | None] = lambda _: None) -> None:
        self.log: Final[list[dict[str, Any]]] = []
        self.events: Final[list[Event]] = []
        self.open_cycles: Final = [-1]
        self.awaiting: tuple[Awaited, ...] = ()
        self.steers: list[int] = []
        self.said = False
        self.made = 0
        self._cycle: Final = Stepper(request_cycle.SPEC, request_cycle.tables(projection_policies(policies)))
        self._run: Final = Stepper(interaction.SPEC, interaction.tables(policies))
        self._decider: Final = decider
        self._sent: Final[dict[str, str]] = {}  # text of a message → its id
        self._ends: Final = ToldEnds()
        self._opened = -1
        self._rows: Final[dict[str, Row | None]] = {}  # generation reads each many times per step

    def follow(self, step: Step, stimulus: Stimulus | None = None) -> None:
        """Take a settled step, and the *stimulus* that led to it; a reset has none."""
        self._rows.clear()
        first = len(self.log)
        read = [name for raw in step.events for name in self._read(raw)]
        before, self.awaiting = self.awaiting, step.awaiting
        heard: list[str] = []
        for one in () if stimulus is None else flat(stimulus):
            if isinstance(one, User) and one.agent_id is None:
                self._sent[one.text] = one.id
            if answers_compaction(one, before) is not None and self._run.state != "compacting":
                continue  # a run is open, and its machine knows nothing of it
            if step.refused is None or isinstance(stimulus, Together):  # of several, the refused one is not known
                heard += self._hear(one)
        self._correct(first, read, heard)

    @property
    def active(self) -> bool:
        """True if a run is open by the log."""
        return self._cycle.state == "active"

    @property
    def models(self) -> list[ModelAwaited]:
        """The requests of a run of the session's own agent that wait, cancelled ones left out."""
        waiting = [one for one in self.awaiting if isinstance(one, ModelAwaited) and one.agent_id is None]
        return [one for one in waiting if not one.cancelled and not summarises(one)]

    @property
    def tools(self) -> list[ToolAwaited]:
        """The runs of tools of the session's own agent that are awaited, cancelled ones left out."""
        return tools_of([one for one in self.awaiting if one.agent_id is None])

    @property
    def undecided(self) -> list[Decision]:
        """The calls that wait for a person or the client."""
        return [one for one in self.awaiting if isinstance(one, ApprovalAwaited | ClientToolAwaited)]

    @property
    def state(self) -> str | None:
        """The control state of ``interaction``, None where no state fits (only a timer is awaited, or it is stuck)."""
        if not self.active:
            return "compacting" if any(map(summarises, self.awaiting)) else "idle"
        if self.models:
            return "inferring"
        if self.tools:
            return "executing"
        return "paused" if self.undecided else None

    @property
    def queue(self) -> Sequence[int]:
        """The follow-ups that wait."""
        return cast("Sequence[int]", self._cycle.context.registers["queue"])

    @property
    def calls(self) -> int:
        """The number of calls not started: those of the response under way, or those that wait while tools run."""
        return len(self._run.context.registers["calls"]) + len(self._run.context.registers["gated"])

    def row(self, event: str) -> Row | None:
        """Return the row of ``interaction`` that *event* takes now, None where no state fits."""
        if event not in self._rows:
            self._rows[event] = None if self.state is None else self._run.row(event)
        return self._rows[event]

    def shown(self, entries: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the ids of the messages that a request's input shows, in its order; joined texts are taken apart."""
        found: list[str] = []
        for entry in entries:
            if entry.get("role") != "user":
                continue
            text = str(entry.get("text"))
            places = sorted((text.index(part), name) for part, name in self._sent.items() if part in text)
            found += map(str, entry.get("ids") or [name for _, name in places] or [f"nobody's: {text}"])
        return found

    def _read(self, raw: Any) -> list[str]:
        """Take an event of the log; return the names of ``request_cycle``'s outputs."""
        raw = self._ends.once(raw)
        event, at, kept = judge(raw), len(self.log), named(raw, _NAMES)
        self.log.append(kept)
        self.events.append(event if kept is raw else judge(kept))
        of_child = session_and_agent(event.session_id)[1] is not None
        self._cycle.take("observation" if of_child else symbol_of(event), event, at)
        outputs = [output.name for output in self._cycle.outputs]
        self._opened += outputs.count("open")
        self.open_cycles.append(self._opened if self.active else -1)
        if "append-steer" in outputs:
            self.steers.append(at)
        elif "close" in outputs:
            self.steers = []
        return outputs

    def _hear(self, stimulus: Stimulus) -> list[str]:
        """Take a stimulus; return the names of ``interaction``'s outputs."""
        event = interaction.event_of(stimulus, self._decider)
        if event is None or stimulus.agent_id is not None:  # a sub-agent's run is none of the session's
            return []
        self._run.take(event, stimulus)
        return [output.name for output in self._run.outputs]

    def _correct(self, first: int, read: Sequence[str], heard: Sequence[str]) -> None:
        """Correct ``interaction`` by the awaited answers, and by the outputs *read* from the log, from *first* on."""
        run, state = self._run.context.registers, self.state
        logged = [(at, self.log[at]) for at in range(first, len(self.log))]
        asked = [(at, one) for at, one in logged if one.get("type") == "model-request" and not one.get("agentId")]
        requests = [at for at, one in asked if not for_compaction(one)]
        for at in requests if self.steers else ():
            self.steers = self._unread(at)
        self.said = self.said or not _SPEECH.isdisjoint(heard)
        self.made = 0 if not self.active or requests else self.made + heard.count("call")
        if not self.active or requests:
            self.said = False
            run["calls"].clear()
            run["gated"].clear()
        calls = run["calls"]
        ended = read.count("append-result") - sum(name in _ENDS for name in heard)  # malformed ones, without a run
        begun = state == "executing" and self._run.state == "inferring"  # before the response was over
        for _ in range(min(max(ended, 0) + begun, len(calls))):
            calls.popleft()
        if state == "executing":
            calls.extend([-1] * (len(self.tools) - 1 - len(calls)))
        if self.undecided and state in {"executing", "paused"}:  # in one of them, the machine has popped one already
            run["gated"] = deque([-1] * (len(self.undecided) - (state == "paused")))
        if state == "paused":
            calls.clear()
        run["queue"], run["steers"] = deque(self.queue), deque(self.steers)
        self._run.state = state or self._run.state

    def _unread(self, request: int) -> list[int]:
        """Return the steers unread after the *request* at that position; a request with unseen input shows all."""
        entries = input_entries(self.log[request].get("input"))
        if entries is None:
            return [at for at in self.steers if at > request]
        shown = self.shown(entries)
        return [at for at in self.steers if str(self.log[at].get("id")) not in shown]
