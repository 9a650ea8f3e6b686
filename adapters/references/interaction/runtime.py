"""``reference:interaction``: the plainest runtime, whose every decision is a row of ``interaction``.

The shell matches stimuli to their addressees (ids, and calls that ignored an abort: ``Driven``); the outputs decide the
rest. An edited machine can run here too, and may output nonsense: the shell performs what it can, and is quiet again
after finitely many steps.

With a ``state_dir`` its stimuli are kept: after a restart it hears them again, silently, and stands where it stood.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from msgspec import to_builtins
from msgspec.structs import replace

from turncheck.model.checking.alphabet import positions
from turncheck.model.core.history import CUT, Entry, arranged, cut
from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    Approve,
    Client,
    ClientResult,
    ClientToolAwaited,
    Deny,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Purpose,
    Reasoning,
    Refusal,
    Shown,
    Step,
    Stimulus,
    StoreFail,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.declaration.machine import Machine
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.interaction import SPEC, event_of, tables

from ..driven import Driven, Refused, unsupported
from ..history import as_text, denied
from ..usable import usable
from .audience import Audience
from .journal import Journal
from .profile import PROFILE

_REFUSALS: Final = {
    "refuse": Refusal("rejected", "the agent is busy; it can be aborted"),
    "not-awaited": Refusal("not-awaited", "nobody waits for this"),
}
_SUMMARY: Final = "[summary]"
"""The beginning of the entry that takes the place of what was compacted (RS-3.1)."""
_UNDECIDED: Final = "not executed: nobody decided about it"


class InteractionRuntime(Driven):
    """A running *machine*, with stimuli for user, model and tools.

    *policies* are those of a profile; an option ``policies`` of a reset overrides them.
    """

    name = "reference:interaction"
    profile = PROFILE

    def __init__(self, machine: Machine = SPEC, policies: Mapping[str, Any] | None = None) -> None:
        self._machine, self._given = machine, policies or {}
        self.profile = replace(PROFILE, policies={**PROFILE.policies, **self._given})
        super().__init__()

    def again(self, hash_seed: int) -> Self:  # noqa: ARG002 - this process has its seed
        """The same runtime once more, in this process."""
        return type(self)(self._machine, self._given)

    def begin(self) -> None:
        """Forget everything."""
        self._policies = {**self.profile.policies, **self.options.policies}
        self._stepper = Stepper(self._machine, tables(self._policies))
        self._heard: list[Stimulus] = []
        self._due = deque[tuple[str, Stimulus]]()
        self._refusal: Refusal | None = None
        self._log: list[dict[str, Any]] = []
        self._asked = 0
        self._gist: list[str] = []  # what the model has said of a summary
        self._calls: dict[int, ToolCall] = {}  # by position, each with an id of its own
        self._entries: dict[int, Entry] = {}  # by position, what is shown of what came there
        self._missing: dict[int, Entry] = {}  # by a call's position, the result that it got instead of its own
        self._unusable: set[int] = set()
        self._asked_about: set[int] = set()
        self._early: dict[str, tuple[str, Stimulus]] = {}  # decisions that the machine has not come to, by call id
        self._open = self._paused = False  # the log says so
        self._pauses = 0
        self._audience = Audience()
        self._journal = None
        if self.options.state_dir:
            journal = Journal(Path(self.options.state_dir))
            for stimulus in journal.stimuli():
                self.apply(stimulus)
            self._audience.clear()
            self._journal = journal

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet; with a ``state_dir`` it is kept first."""
        if self._journal is not None:
            self._journal.append(stimulus)
        return super().apply(stimulus)

    @property
    def log(self) -> Sequence[dict[str, Any]]:
        """The whole log since the reset."""
        return self._log

    def heard(self) -> dict[str, tuple[Any, ...]]:
        """Return what each client was told in this step."""
        return self._audience.told()

    def take(self, stimulus: Stimulus) -> None:
        """Pass the stimulus to the machine, and then the events that follow from it."""
        if isinstance(stimulus, StoreFail) and self.options.state_dir:
            return  # the journal's matter
        event = event_of(stimulus, self.options.decider)
        if event is None:
            raise unsupported(type(stimulus).__name__)
        if isinstance(stimulus, ModelStop | ModelFail):
            self.request = None
        elif isinstance(stimulus, ToolReturn | ToolFail):
            self.tool = None
        self._refusal = None
        if isinstance(stimulus, Approve | Deny | ClientResult):
            self._decided(stimulus.call_id)
            self._early[stimulus.call_id] = event, stimulus
        else:
            self._due.append((event, stimulus))
        self._come_to_decisions()
        while self._due:
            self._hear(*self._due.popleft())
            self._come_to_decisions()
        if self._refusal is not None:
            raise Refused(self._refusal)

    def _hear(self, event: str, stimulus: Stimulus) -> None:
        at = len(self._heard)
        self._heard.append(stimulus)
        self._stepper.context.outputs.clear()
        with suppress(StopIteration, IndexError):  # an edited machine: no row fits, or it pops an empty queue
            self._stepper.take(event, stimulus, at)
        for output in self._stepper.outputs:
            self._do(output)

    def _do(self, output: Output) -> None:  # noqa: PLR0912 - one case an output
        match output.name, output.arguments:
            case "message", (int(at),):
                self._message(at)
            case "open", (int(at),):
                self._open = True
                self._read([at])
            case "read", ([*places],):
                self._read(places)
            case "request", ([*places],):
                self._ask(places)
            case (("output" | "call"), (int(at),)):
                self._said(at)
            case "start", (int(at),):
                self._start(at)
            case "result", (int(at), int(end)):
                self._ended(at, end)
            case "failure", (int(at), int(end)):
                self._ended(at, end, isError=True)
            case "cut", (int(at),):
                self._synthetic(at, _UNDECIDED if self.tool is None else "cancelled while it ran")
            case "skip", ([*calls], [*gated]):
                for at in (*calls, *gated):
                    self._synthetic(at, "not executed: the run went on without it")
            case "pause", ([*places],):
                self._pause(places)
            case "resume", ():
                self._resume()
            case "deny", (int(at), int(end)):
                self._ended(at, end, isError=True)
            case "summarise", ([*places],):
                self._summarise(places)
            case "gist", (int(at),):
                self._gist.append(self._text(at))
            case "summary", (int(at),):
                self._entries[at] = Entry(Shown(role="assistant", text=" ".join((_SUMMARY, *self._gist))))
            case (("welcome" | "part"), (int(at),)):
                if isinstance(client := self._event(at), Client):
                    self._audience.hear(client, self._log, active=self._open)
            case "give-up", ():
                self.request = None
            case "stop", (reason,):
                self._tell("run-stop", reason=reason)
                self._open = False
                self.leave()
                self._early, self._paused = {}, False
            case ("refuse" | "not-awaited") as name, ():
                self._refusal = _REFUSALS[name]
            case _:
                pass

    @property
    def core(self) -> tuple[str, Mapping[str, Any]]:
        """Return the machine's state and registers, and the decisions that wait; stimuli stand for their positions."""
        ordered = positions(self._machine)

        def told(name: str, value: Any) -> Any:
            if name not in ordered:
                return value
            return self._event(value) if isinstance(value, int) else tuple(self._event(at) for at in value)

        registers = self._stepper.context.registers
        held = {name: told(name, registers[name]) for name in self._machine.deciding}
        return self._stepper.state, held | {"early": tuple(event for event, _ in self._early.values())}

    @property
    def history(self) -> Sequence[Shown]:
        """All that the model was shown and has said until now, or is still to be shown; in no arrangement."""
        registers = self._stepper.context.registers
        return [entry.shown for entry in self._shown((*registers["history"], *registers["said"], *registers["late"]))]

    # ---- messages and the model ----

    def _message(self, at: int) -> None:
        if isinstance(message := self._event(at), User):
            self._tell("user-message", id=message.id, text=message.text, delivery=message.delivery)

    def _read(self, places: Sequence[int]) -> None:
        """Make what the model is shown of these messages; the machine says where it stands."""
        for at in places:
            if isinstance(message := self._event(at), User):
                self._entries[at] = Entry(Shown(role="user", text=message.text, ids=(message.id,)))

    def _ask(self, places: Sequence[int], purpose: Purpose | None = None) -> None:
        """Ask the model, and show it what stands at *places*."""
        self._asked += 1
        history = cut(arranged(self._shown(places), self._policies), self._policies[CUT])
        name, shown = f"r{self._asked}", tuple(history)
        self.request = ModelAwaited(request_id=name, input=shown, tools=purpose is None, purpose=purpose)
        self._tell("model-request", requestId=name, input=to_builtins(history), purpose=purpose)

    def _shown(self, places: Sequence[int]) -> Iterator[Entry]:
        """Yield the entries at *places*; for a call that recurs, the result that it got instead of its own."""
        seen: set[int] = set()
        for at in places:
            entry = (self._missing if at in seen else self._entries).get(at)
            seen.add(at)
            if entry is not None:
                yield entry

    def _said(self, at: int) -> None:
        said = self._event(at)
        match said.item if isinstance(said, ModelOutput) else None:
            case Text(text=text):
                self._tell_output(kind="assistant", text=text)
                self._entries[at] = Entry(Shown(role="assistant", text=text), self._asked)
            case Reasoning(text=text):
                self._tell_output(kind="reasoning", text=text)
            case ToolCall() as call:
                self._call(at, call)
            case None:
                pass

    # ---- compactions ----

    def _summarise(self, places: Sequence[int]) -> None:
        """Ask the model to sum up what stands at *places*."""
        self._gist = []
        self._ask(places, purpose="compaction")

    def _text(self, at: int) -> str:
        match self._event(at):
            case ModelOutput(item=Text(text=text)):
                return text
            case _:
                return ""

    # ---- calls ----

    def _call(self, at: int, call: ToolCall) -> None:
        """Log a call and show it; a repeated id gets a mark, so that each result names one call (RC-D4)."""
        name, names = call.call_id, {one.call_id for one in self._calls.values()}
        while name in names:
            name += "~"
        self._calls[at] = replace(call, call_id=name)
        self._tell_output(kind="tool-call", callId=name, tool=call.tool, arguments=call.arguments)
        shown = Shown(role="assistant", call_id=name, tool=call.tool, arguments=call.arguments)
        self._entries[at] = Entry(shown, self._asked)

    def _start(self, at: int) -> None:
        """Run a call; a call that cannot be executed fails at once, and at most once."""
        call = self._calls.get(at)
        if call is None:
            return
        arguments, why = usable(call)
        if why is None:
            self.execute(replace(call, arguments=arguments))
        elif at not in self._unusable:
            self._unusable.add(at)
            self._due.append(("tool-failure", ToolFail(call_id=call.call_id, message=why)))

    def _ended(self, at: int, end: int, **flags: bool) -> None:
        match self._event(end):
            case ToolReturn(output=told) | ToolFail(message=told) | ClientResult(output=told):
                self._result(at, told, self._entries, end, **flags)
            case Deny(message=told):
                self._result(at, denied(told), self._entries, end, **flags)
            case _:
                pass

    def _synthetic(self, at: int, why: str) -> None:
        """End a call that the run goes on without, or ends: with the decision about it that came early, if one did."""
        call = self._calls.get(at)
        match None if call is None else self._early.get(call.call_id, (None, None))[1]:
            case ClientResult(output=told):
                self._result(at, told, self._missing, at)
                return
            case Deny(message=told):
                self._result(at, denied(told), self._missing, at, isError=True)
                return
            case _:
                pass
        self._result(at, why, self._missing, at, isError=True, synthetic=True)

    def _result(self, at: int, told: Any, entries: dict[int, Entry], end: int, **flags: bool) -> None:
        """Log the result of the call *at*; it is shown as what came at *end*."""
        if (call := self._calls.get(at)) is not None:
            self._decided(call.call_id)
            self._tell("tool-result", callId=call.call_id, output=told, **flags)
            shown = Shown(role="tool", text=as_text(told), call_id=call.call_id, is_error=flags.get("isError"))
            entries[end] = Entry(shown, self._asked, pauses=self._pauses)

    # ---- decisions ----

    def _pause(self, places: Sequence[int]) -> None:
        """Ask about the calls that were not asked about; the run does nothing until one of them is decided."""
        for at in places:
            if (call := self._calls.get(at)) is not None and at not in self._asked_about:
                self._asked_about.add(at)
                client = self.options.decider(call.tool) == "client"
                self.undecided.append((ClientToolAwaited if client else ApprovalAwaited)(call_id=call.call_id))
        if self.undecided:
            self._paused, self._pauses = True, self._pauses + 1
            self._tell("run-pause", calls=[one.call_id for one in self.undecided])

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            self._tell("run-resume")

    def _decided(self, name: str) -> None:
        """A call waits for a decision no more."""
        self.undecided = [one for one in self.undecided if one.call_id != name]
        self._early.pop(name, None)

    def _come_to_decisions(self) -> None:
        """Hand the machine the decision about the call that it decides next, where there is one."""
        call = self._calls.get(self._stepper.context.registers["running"])
        if not self._due and self._stepper.state == "paused" and call is not None and call.call_id in self._early:
            self._due.append(self._early.pop(call.call_id))

    # ---- the log ----

    def _event(self, at: int) -> Stimulus | None:
        return self._heard[at] if 0 <= at < len(self._heard) else None

    def _tell_output(self, **fields: Any) -> None:
        self._tell("agent-output", **fields, responseId=f"r{self._asked}")

    def _tell(self, kind: str, /, **fields: Any) -> None:
        event = {"type": kind, **{name: value for name, value in fields.items() if value is not None}}
        self._log.append(event)
        self._audience.tell(event, len(self._log) - 1)
        self.observe()
