"""Play an AG-UI endpoint's environment: apply stimuli, wait for quiet, return new events and awaited answers."""

import uuid
from collections.abc import Mapping
from itertools import chain
from typing import Any, Final

import msgspec

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Approve,
    Client,
    ClientResult,
    Compact,
    Deny,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Refusal,
    ResetOptions,
    Step,
    Stimulus,
    StoreFail,
    Together,
    ToolFail,
    ToolReturn,
    User,
)

from .client.run_reader import LogEvent
from .client.session import Post, Session
from .model_endpoint.completions import ChatRequest, misfit, shown
from .model_endpoint.endpoint import Command, ModelCall
from .quiet import Quiet, State

_BEYOND: Final = ("limits", "policies", "clock", "deaf_tools", "deaf_model", "observer", "state_dir")
"""Options that AG-UI cannot express."""

_UNDRIVEN: Final = "an interrupt is answered in a run of its own, which is not driven"
_LACKS: Final[Mapping[type, str]] = {
    Advance: "the endpoint's clock is its own",
    Client: "a run of AG-UI has one client, whose leaving is the abort (policy disconnect)",
    StoreFail: "the endpoint's store is its own",
    Compact: "AG-UI has no event that asks for a compaction",
    **dict.fromkeys((Approve, Deny, ClientResult), _UNDRIVEN),
}
"""Stimulus → why an endpoint cannot be given it."""

_AT_ONCE: Final = 200
"""Requests to the model that may wait at once: each holds a connection; a process has 1,024 descriptors by default."""

_FAREWELLS: Final = 20
"""Failures that the model gives an endpoint without a client, at most: OpenAI's client asks three times."""


class Driver:
    """The driver of one endpoint; the model endpoint calls it too."""

    def __init__(self, post: Post, quiet: Quiet) -> None:
        self._post, self._quiet = post, quiet
        self._options = ResetOptions()
        self._sessions: dict[str | None, Session] = {}
        self._calls: list[ModelCall] = []
        self._requests = 0
        self._events: list[LogEvent] = []
        self._asked: list[tuple[Session, LogEvent]] = []  # requests of this step: logged after the events before them
        self._refused: Refusal | None = None
        self._error: Exception | None = None
        self._prefix = ""

    # Called by the harness

    async def reset(self, options: ResetOptions) -> Step:
        """Leave the runs under way, and begin with new threads."""
        await self.leave()
        self._requests = 0
        self._options = options
        self._prefix = uuid.uuid4().hex  # an endpoint may remember threads; we have no way to make it forget them
        names = [name for name in _BEYOND if getattr(options, name) != getattr(ResetOptions(), name)]
        if names:
            self._refuse("unsupported", f"an AG-UI endpoint has no way to be told {', '.join(names)}")
        return self._step(settled=True)

    async def leave(self) -> None:
        """Leave the runs under way, and forget them."""
        self._error = None
        for session in self._sessions.values():
            if session.active:
                await session.abort()
        if self._calls:
            await self._settle()
        failed: list[ModelCall] = []  # an endpoint that goes on without its client gets a failing model, and asks again
        for _ in range(_FAREWELLS):
            fresh = [call for call in self._calls if call not in failed]
            for call in fresh:
                call.commands.put_nowait(ModelFail(failure="fatal"))
            failed += fresh
            if not fresh or not await self._settle():  # a request whose answer is never read stays: it is forgotten
                break
        self._sessions, self._calls = {}, []
        self._events, self._asked, self._refused = [], [], None

    async def apply(self, stimulus: Stimulus) -> Step:
        """Apply *stimulus*, and run to quiet. Raises UnreachableError, or the error of a defect of ours."""
        await self._apply(stimulus)
        settled = await self._settle()
        if self._error is not None:
            raise self._error
        return self._step(settled=settled)

    # Called by the sessions

    def log(self, name: str | None, event: LogEvent) -> None:
        """Log *event* of the session *name*."""
        if event.get("type") == "run-stop":
            self._log_requests()
        self._events.append(event if name is None else {**event, "sessionId": name})
        self.moved()

    def moved(self) -> None:
        """Note activity: the endpoint is not quiet."""
        self._quiet.moved()

    def rejected(self, message: LogEvent, why: str) -> None:
        """Note that the endpoint refused *message*: it is not logged."""
        self._events = [event for event in self._events if event.get("id") != message["id"]]
        self._refuse("rejected", why)

    def broke(self, error: Exception) -> None:
        """Note that the step can't be answered."""
        self._error = error

    # Called by the model endpoint

    def asked(self, request: ChatRequest) -> ModelCall | str:
        """Take a request to the model; return its call, or the reason for a refusal."""
        self.moved()
        session = self._owner(request)
        if session is None:
            self.fault("a model request while no run is under way: it was refused")
            return "no run is under way: turncheck answers the model's requests of a run alone"
        if len(self._calls) == _AT_ONCE:
            why = f"a model request beside {_AT_ONCE} that wait: it was refused"
            self.fault(why)
            return why
        self._requests += 1
        call = ModelCall(f"r{self._requests}", session.name, session.runs, request)
        self._calls.append(call)
        session.asked(call)
        event = {"type": "model-request", "requestId": call.request_id, "input": msgspec.to_builtins(call.input)}
        self._asked.append((session, event))
        return call

    def gone(self, call: ModelCall) -> None:
        """Forget the call: it is answered, or no longer awaited."""
        self.moved()
        if call in self._calls:
            self._calls.remove(call)
            session = self._sessions.get(call.session)
            if session is not None and call in session.calls:
                session.calls.remove(call)

    def fault(self, message: str) -> None:
        """Log an action of the endpoint that belongs to no run."""
        self._events.append({"type": "fault", "message": message})
        self.moved()

    # Stimuli

    async def _apply(self, stimulus: Stimulus) -> None:
        match stimulus:
            case Together(stimuli=stimuli):
                for one in stimuli:
                    await self._apply(one)
            case User():
                self._user(stimulus)
            case Abort(session_id=name):
                session = self._session(name)
                if session.active:
                    await session.abort()
            case ModelOutput() | ModelStop() | ModelFail():
                self._model(stimulus)
            case ToolReturn(call_id=call_id, execution=execution, output=output):
                self._answer(stimulus, call_id, execution, output, None)
            case ToolFail(call_id=call_id, execution=execution, message=message):
                self._answer(stimulus, call_id, execution, message, message)
            case Advance() | Client() | StoreFail() | Compact() | Approve() | Deny() | ClientResult():
                self._refuse("unsupported", _LACKS[type(stimulus)])

    def _user(self, stimulus: User) -> None:
        session = self._session(stimulus.session_id)
        if session.active:
            self._refuse("unsupported", "an AG-UI client sends nothing while a run is under way")
        elif stimulus.content is not None:
            self._refuse("unsupported", "messages with parts are not sent: text alone")
        else:
            delivery = {} if stimulus.delivery is None else {"delivery": stimulus.delivery}
            session.user({"type": "user-message", "id": stimulus.id, "text": stimulus.text, **delivery})

    def _model(self, command: Command) -> None:
        call = self._awaited(command)
        if call is None:
            self._refuse("not-awaited", "no such request to the model waits")
            return
        if isinstance(command, ModelOutput):
            why = misfit(call.items, command.item)
            if why is not None:
                self._refuse("unsupported", why)
                return
            call.items.append(command.item)
        else:
            self.gone(call)
        session = self._session(call.session)
        if call.run == session.runs:
            session.answering = call.request_id
        call.commands.put_nowait(command)

    def _awaited(self, command: Command) -> ModelCall | None:
        if command.request_id is not None:
            return next((call for call in self._calls if call.request_id == command.request_id), None)
        return next((call for call in self._calls if call.session == command.session_id), None)

    def _answer(
        self, stimulus: ToolReturn | ToolFail, call_id: str, execution: str | None, output: Any, error: str | None
    ) -> None:
        if not self._session(stimulus.session_id).answer(call_id, execution, output, error):
            self._refuse("not-awaited", f"the client has no call {call_id!r} to answer")

    def _session(self, name: str | None) -> Session:
        if name not in self._sessions:
            thread = f"{self._prefix}-{len(self._sessions)}"
            self._sessions[name] = Session(name, thread, self._options.tools, self, self._post)
        return self._sessions[name]

    def _owner(self, request: ChatRequest) -> Session | None:
        """Return the session whose run asks: of several under way, the one whose user text is in the request."""
        running = [session for session in self._sessions.values() if session.streaming]
        if len(running) > 1:
            texts = [entry.text or "" for entry in shown(request.messages) if entry.role == "user"]
            alike = [session for session in running if session.text in texts]
            running = alike or [session for session in running if any(session.text in text for text in texts)]
        return running[-1] if running else None

    def _refuse(self, why: Any, message: str) -> None:
        self._refused = Refusal(why, message)

    # Steps, from all of these

    async def _settle(self) -> bool:
        return await self._quiet.settle(self._state)

    def _state(self) -> State:
        running = [session for session in self._sessions.values() if session.streaming]
        if self._error is not None or not (running or self._calls):
            return "idle"
        return "waiting" if all(session.waiting for session in running) else "busy"

    def _step(self, *, settled: bool) -> Step:
        for session in self._sessions.values():
            session.settle()
        self._log_requests()
        events, self._events = self._events, []
        refused, self._refused = self._refused, None
        models = [
            ModelAwaited(session_id=one.session, request_id=one.request_id, input=one.input) for one in self._calls
        ]
        tools = chain.from_iterable(session.waiting_tools() for session in self._sessions.values())
        return Step(tuple(events), (*models, *tools), refused, not settled)

    def _log_requests(self) -> None:
        """Log the requests of this step after the events that caused them, which came on another connection."""
        asked, self._asked = self._asked, []
        for session, event in asked:
            session.settle()
            self.log(session.name, event)
