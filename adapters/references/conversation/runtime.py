"""The reference as a runtime under test: the harness plays the user, the model, the tools and the clock."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Self

from msgspec import to_builtins

from turncheck.model.core.provider_limits import BACKOFF as BACKOFF_POLICY
from turncheck.model.core.provider_limits import NOTICE, SHARE, WINDOW
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Awaited,
    Client,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Refusal,
    Step,
    Stimulus,
    TimerAwaited,
    ToolAwaited,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.machines.conversation import BACKOFF, DEFAULTS, RETRIES, Input

from ...protocol.messages import (
    CHILD_MESSAGES_POLICY,
    CHILDREN_POLICY,
    DEPTH_POLICY,
    DISCONNECT_POLICY,
    RESTART_POLICY,
    Profile,
)
from ..driven import InProcess, Refused, not_awaited, unsupported
from ..provider.port import Failed, Provider
from .agents import Request, of_agent
from .listeners import Listeners
from .shell import Shell
from .store import Database, Store

PROFILE: Final = Profile(
    ("runtime",),
    (
        *("abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input", "raw-arguments", "call-ids"),
        *("sessions", "together", "observer", "deaf", "clock", "persistence", "images", "usage", "terminal-events"),
        *(NOTICE, "sub-agents", "clients"),
    ),
    machine="conversation",
    policies={
        "busy": "reject",
        "tools": "serial",
        "abortEnds": "at-once",
        "retries": RETRIES,
        BACKOFF_POLICY: to_builtins(BACKOFF),
        SHARE: 0.8,
        RESTART_POLICY: "interrupted",
        CHILDREN_POLICY: "awaited",
        DEPTH_POLICY: 1,
        CHILD_MESSAGES_POLICY: "taken",
        DISCONNECT_POLICY: "ignored",
    },
)
MESSAGES: Final = {
    "fatal": "the provider refuses the request: check the key and the model's name",
    "retryable": "the provider is busy or cannot be reached",
    "stream": "the connection broke",
}
"""Failure class → the provider's message."""


class ConversationTarget(InProcess):
    """``reference:conversation``, in this process: it is quiet when a method returns.

    Of the options, ``limits.contextWindow`` is in tokens; a tool with ``command`` is a program, which runs in
    *directory* and ends by itself (``wait``), one without is the harness's. A *model*, such as
    ``provider.client.HttpModel``, answers by itself too; without one the harness plays it. The caller closes the model.
    """

    name = "reference:conversation"
    introduced = "turncheck reference"
    profile = PROFILE

    def __init__(self, *, directory: str = ".", model: Provider | None = None) -> None:
        self._directory, self._model = directory, model
        self.shell = Shell(Store(), {})
        super().__init__()

    def begin(self) -> None:
        """Start a new runtime; restart the conversations in ``state_dir``, each idle and with its whole history."""
        self.close()
        options = self.options
        tables: dict[str, Any] = {**DEFAULTS}
        if WINDOW in options.limits:
            tables["limit"] = int(PROFILE.policies[SHARE] * options.limits[WINDOW])
        self.shell = Shell(
            Database(Path(options.state_dir)) if options.state_dir else Store(),
            {tool["name"]: tool for tool in options.tools},
            model=self._model,
            directory=self._directory,
            tables=tables,
            deaf_model=options.deaf_model,
            deaf_tools=options.deaf_tools,
        )
        self._listeners = Listeners(self.shell)
        if options.observer is not None:
            self.shell.clients.append(_throws if options.observer == "throws" else _yields)
        self._quiet()

    @property
    def log(self) -> list[dict[str, Any]]:
        """The events of all conversations."""
        return self.shell.events

    def heard(self) -> dict[str, tuple[Any, ...]]:
        """Return what each client was told in this step."""
        return self._listeners.told()

    def wait(self, seconds: float | None = None) -> Step:
        """Wait until a program or the model answers, at most *seconds* if given, and run until quiet."""
        self.shell.arrivals(seconds)
        self._quiet()
        return self.step()

    def again(self, hash_seed: int) -> Self:  # noqa: ARG002 - this process has its seed
        """Return another instance, in this process."""
        return type(self)(directory=self._directory, model=self._model)

    def close(self) -> None:
        """End all programs and requests."""
        self.shell.close()

    # ---- stimuli ----

    def give(self, stimulus: Stimulus, waits: Any) -> None:
        """Translate the stimulus for its conversation, and run until quiet."""
        session = stimulus.agent_id or stimulus.session_id or ""
        if stimulus.agent_id is not None and session not in self.shell.agents:
            raise Refused(Refusal("not-awaited", f"there is no sub-agent {session!r}"))
        match stimulus:
            case User():
                self._user(session, stimulus)
            case Abort():
                self.shell.open(session)
                self.shell.tell(session, "cancel")
                self.shell.arrivals()  # note what has been answered by now after the stimulus
            case ModelOutput() | ModelStop() | ModelFail() if waits.call is not None:
                raise not_awaited(stimulus)
            case ModelOutput() | ModelStop() | ModelFail():
                self._answer(stimulus, waits)
            case ToolReturn() | ToolFail() if waits.program is not None:
                raise not_awaited(stimulus)
            case ToolReturn(output=output):
                self.shell.returned(waits, {"output": output})
            case ToolFail(message=message):
                self.shell.returned(waits, {"output": message, "isError": True})
            case Advance(seconds=seconds):
                self.shell.advance(seconds)
            case Client():
                self._listeners.hear(stimulus, session)
            case _:
                raise unsupported(type(stimulus).__name__)
        self._quiet()

    def addressed(self, name: str | None, session: str | None) -> bool:
        """Match by equality: a stimulus that names no conversation is for the one without a name."""
        return name == session

    def meant(self, stimulus: Any, agent: str | None) -> bool:
        """Match by equality too; but the name of a request or an execution says whose it is."""
        named = getattr(stimulus, "request_id", None) or getattr(stimulus, "execution", None)
        return stimulus.agent_id == agent or (stimulus.agent_id is None and named is not None)

    def _user(self, session: str, stimulus: User) -> None:
        self.shell.open(session)
        self.shell.refused = None
        self.shell.tell(session, "user", Input(payload=_message(stimulus)))
        self._quiet()
        if self.shell.refused:
            raise Refused(Refusal("rejected", self.shell.refused))

    def _answer(self, stimulus: ModelOutput | ModelStop | ModelFail, request: Request) -> None:
        match stimulus:
            case ModelOutput(item=item):
                self.shell.heard(request, item)
            case ModelStop():
                self.shell.heard(request, stimulus)
            case ModelFail(failure=failure):
                # A broken stream is retried too: it is the network's fault, and nothing of the response is kept.
                self.shell.heard(request, Failed(failure != "fatal", MESSAGES[failure]))

    # ---- what is observed ----

    def _quiet(self) -> None:
        if self.options.clock == "auto":
            self.shell.jump()
        else:
            self.shell.settle()

    def waiting(self) -> Iterator[tuple[Awaited, Any]]:
        """Requests, those first that ignore a cancel; then runs of tools in the same order; then timers."""
        for request in self.shell.requests():
            session, agent = self._of(request.session)
            awaited = ModelAwaited(request_id=request.id, input=request.input, session_id=session, agent_id=agent)
            yield awaited, request
        for run in sorted(self.shell.runs, key=lambda run: not run.cancelled):
            if run.tool not in self.shell.spawns:
                session, agent = self._of(run.session)
                running = ToolAwaited(
                    call_id=run.call_id,
                    execution=of_agent(agent, f"e{run.number}.{run.call}"),
                    tool=run.tool,
                    arguments=run.arguments,
                    cancelled=run.cancelled,
                    session_id=session,
                    agent_id=agent,
                )
                yield running, run
        for timer in self.shell.clock.waiting():
            session, agent = self._of(timer.session)
            yield TimerAwaited(due=timer.due - self.shell.clock.now, session_id=session, agent_id=agent), timer

    def _of(self, conversation: str) -> tuple[str | None, str | None]:
        """Name a conversation: the session of its user, and the sub-agent that it is."""
        agent = self.shell.agent_id(conversation)
        return (conversation if agent is None else agent.rpartition("/")[0]) or None, agent


def _message(stimulus: User) -> dict[str, Any]:
    """The log's fields of a message: its parts where it has some, else its text (RC-D5)."""
    said = {"text": stimulus.text} if stimulus.content is None else {"content": stimulus.content}
    return {"id": stimulus.id, **said} | ({"delivery": stimulus.delivery} if stimulus.delivery else {})


def _throws(_: Mapping[str, Any]) -> None:
    raise RuntimeError("the listener raises")


def _yields(_: Mapping[str, Any]) -> None:
    """Do nothing: listeners are called at once, so that a slow one holds up only itself."""
