"""One life of a runtime: the stimuli sent, the events seen, and the errors for its faults."""

from typing import Any, Final, TypeVar, cast

from turncheck.adapters.protocol.errors import HangingError, TargetError
from turncheck.adapters.protocol.messages import Apply, Reset, encode
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.decode import judge
from turncheck.model.core.events import Malformed, RunStop, UnknownType
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    Approve,
    ClientResult,
    ClientToolAwaited,
    Decision,
    ModelAwaited,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Step,
    Stimulus,
    Text,
    TimerAwaited,
    ToolAwaited,
    ToolCall,
    ToolReturn,
    User,
)

from ..observe.clients import Clients
from ..observe.told_ends import ToldEnds
from .stage import Misbehaving

APPLY: Final = "docs/protocol.md#apply"
RESET: Final = "docs/protocol.md#reset"
TOOLS: Final = ({"name": "read", "schema": {"type": "object", "properties": {"path": {"type": "string"}}}},)
HELLO: Final = ModelOutput(item=Text(text="hello"))
END: Final = ModelStop(reason="end-turn")
_E = TypeVar("_E", bound=TargetError)
ANSWERS: Final = 10
"""Answers within a run before it counts as endless: no step here needs more than four."""


def calling(arguments: Any, call_id: str = "c1") -> tuple[Stimulus, Stimulus]:
    """Return the stimuli of a model that calls ``read`` and ends its response."""
    asked = ToolCall(call_id=call_id, tool="read", arguments=arguments)
    return ModelOutput(item=asked), ModelStop(reason="tool-use")


class Life:
    """A runtime since its last reset: its log, and its last step."""

    def __init__(self, runtime: RuntimeTarget) -> None:
        self.runtime: Final = runtime
        self.log: list[Any] = []
        self.shown: list[str] = []  # every text that a model was shown
        self.step = Step()
        self.clients = Clients()  # and what each was told
        self._sent: Reset | Apply = Reset(0)
        self._ends = ToldEnds()

    def can(self, capability: str) -> bool:
        """Return whether the runtime declares *capability*."""
        return self.runtime.profile.can(capability)

    def reset(self, options: ResetOptions | None = None) -> None:
        """Begin anew; by default with the tool ``read``, if the runtime has tools."""
        tools = TOOLS if self.can("tools") else ()
        chosen = options or ResetOptions(tools=tools)
        self._sent, self.log, self.shown, self._ends = Reset(0, chosen), [], [], ToldEnds()
        self.clients = Clients()
        self._take(self.runtime.reset(chosen))

    def begin(self, options: ResetOptions | None = None) -> None:
        """Begin anew, with a message of the user."""
        self.reset(options)
        self.user("one")

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply *stimulus*, which may be refused. Raises TargetError where the runtime does not settle."""
        stimulus = self.clients.resolved(stimulus)
        self._sent = Apply(0, stimulus)
        self._take(self.runtime.apply(stimulus))
        self.clients.follow(stimulus, self.step)
        return self.step

    def send(self, *stimuli: Stimulus) -> None:
        """Apply *stimuli*. Raises Misbehaving where the runtime refuses one, TargetError where the adapter does."""
        for stimulus in stimuli:
            refused = self.apply(stimulus).refused
            if refused is not None:
                blame = self.misbehaving if refused.why == "rejected" else self.broken
                raise blame(f"refused, {refused.why}: {refused.message}", "no refusal", "docs/protocol.md#refusals")

    def user(self, text: str, **fields: Any) -> None:
        """Send *text* as the user, with itself as the message's id; it must be logged."""
        self.send(User(id=text, text=text, **fields))
        self.logged(type="user-message", id=text)

    def call(self, call_id: str = "c1") -> None:
        """Let the model call ``read``, and end its response."""
        self.send(*calling({"path": "x"}, call_id))

    def model(self) -> ModelAwaited:
        """Return the one model that is awaited. Raises TargetError where there is none, Misbehaving for several."""
        models = [awaited for awaited in self.step.awaiting if isinstance(awaited, ModelAwaited)]
        if len(models) > 1:
            raise self.misbehaving("several models are awaited in one session", "one awaited model")
        if not models:
            raise self.broken(
                "no model is awaited: a request of the runtime has to wait for the harness's answer",
                '"awaiting": [{"kind": "model", "requestId", "input"}]',
            )
        return models[0]

    def tool(self) -> ToolAwaited:
        """Return the tool that is awaited longest. Raises TargetError where there is none."""
        for awaited in self.step.awaiting:
            if isinstance(awaited, ToolAwaited):
                return awaited
        raise self.broken(
            "no tool is awaited: a tool has to wait until the harness gives its result",
            '"awaiting": [{"kind": "tool", "callId", "execution", "tool", "arguments"}]',
        )

    def events(self, **fields: Any) -> list[dict[str, Any]]:
        """Return the events of the log that have *fields*."""
        objects = [cast(dict[str, Any], event) for event in self.log if isinstance(event, dict)]
        return [event for event in objects if all(event.get(name) == value for name, value in fields.items())]

    def logged(self, **fields: Any) -> dict[str, Any]:
        """Return the first event of the log that has *fields*. Raises TargetError where there is none."""
        for event in self.events(**fields):
            return event
        raise self.broken(f"this {fields['type']} is not in the log", encode(fields).decode(), came=self.log)

    def finish(self) -> None:
        """Answer until nothing is awaited. Raises Misbehaving if that never happens."""
        for number in range(ANSWERS):
            waiting = [item for item in self.step.awaiting if not isinstance(item, TimerAwaited)]
            if not waiting:  # timers fire by themselves then
                return
            self._answer(waiting[0], f"answer {number}")
        raise self.misbehaving(f"does not come to an end after {ANSWERS} answers", '"awaiting": []')

    def _answer(self, awaited: ModelAwaited | ToolAwaited | Decision, text: str) -> None:
        session = awaited.session_id
        if isinstance(awaited, ApprovalAwaited):
            self.send(Approve(call_id=awaited.call_id, session_id=session))
            return
        if isinstance(awaited, ClientToolAwaited):
            self.send(ClientResult(call_id=awaited.call_id, output="contents", session_id=session))
            return
        if isinstance(awaited, ToolAwaited):
            call, execution = awaited.call_id, awaited.execution
            self.send(ToolReturn(call_id=call, output="contents", execution=execution, session_id=session))
            return
        request = awaited.request_id
        self.send(ModelOutput(item=Text(text=text), request_id=request, session_id=session))
        if awaited in self.step.awaiting:  # else the run is over: a listener that throws can end it
            self.send(ModelStop(reason="end-turn", request_id=request, session_id=session))

    def ended(self, reason: str | None = None, cycles: int = 1) -> None:
        """Answer everything; demand that the log projects to *cycles* whole runs, the last ended for *reason*."""
        self.finish()
        events = tuple(map(judge, self.log))
        if bad := [
            event.why if isinstance(event, Malformed) else event.name
            for event in events
            if isinstance(event, Malformed | UnknownType)
        ]:
            raise self.broken(f"no event of the log format: {bad[0]}", "docs/log-format.md", came=self.log)
        stops = [event.reason for event in events if isinstance(event, RunStop)]
        if not stops:
            raise self.broken(
                "nothing is awaited any more, and no run-stop is logged: where the runtime says nothing, infer it",
                '{"type": "run-stop", "reason": "completed" or "interrupted" or "error", "source": "adapter"}',
                came=self.log,
            )
        projection = project(events, self.runtime.profile.projection_policies())
        if len(projection.cycles) != cycles or (reason is not None and stops[-1] != reason):
            wanted = f"{cycles} run{'s' * (cycles > 1)}{'' if reason is None else f', the last {reason}'}"
            raise self.misbehaving("the log projects to other runs", wanted, came=self.log)
        if projection.anomalies:
            raise self.misbehaving(
                f"the log breaks a law: {projection.anomalies[0].kind} at {projection.anomalies[0].at}",
                "no anomaly",
                came=self.log,
                see="docs/log-format.md#the-projection",
            )

    def broken(self, problem: str, expected: str, see: str = APPLY, came: Any = None) -> TargetError:
        """The error to raise where the adapter must be repaired."""
        return self._told(TargetError, problem, expected, see, came)

    def misbehaving(self, problem: str, expected: str, see: str = APPLY, came: Any = None) -> Misbehaving:
        """The error to raise where the implementation must be repaired."""
        return self._told(Misbehaving, problem, expected, see, came)

    def _told(self, error: type[_E], problem: str, expected: str, see: str, came: Any = None) -> _E:
        return error(
            problem,
            sent=encode(self._sent),
            expected=expected,
            came=encode(self.step if came is None else came),
            see=see,
        )

    def _take(self, step: Step) -> None:
        self.step = step
        self.log += map(self._ends.once, step.events)
        for awaited in step.awaiting:
            if isinstance(awaited, ModelAwaited):
                self.shown += [entry.text for entry in awaited.input or () if entry.text is not None]
        if step.unsettled:
            raise self._told(
                HangingError,
                "never gets quiet: something in it runs on, or polls; the helper library's stderr may say what",
                "an answer without unsettled",
                APPLY,
            )
