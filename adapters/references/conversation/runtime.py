"""The reference as a runtime under test: the harness plays the user, the model, the tools and the clock."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, cast

from msgspec import to_builtins

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
    ResetOptions,
    Step,
    Stimulus,
    TimerAwaited,
    Together,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.machines.conversation import DEFAULTS, RETRIES, Input

from ...protocol.messages import Implementation, Profile
from ...protocol.runtime import RuntimeTarget
from ..implementation import implementation
from .agents import Request, Run
from .shell import SPAWN, Shell
from .store import Database, Forgetful

PROFILE: Final = Profile(
    ("runtime",),
    (
        *("abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input", "raw-arguments", "call-ids"),
        *("sessions", "together", "observer", "deaf", "clock", "persistence", "images", "usage"),
    ),
    machine="conversation",
    policies={"busy": "reject", "tools": "serial", "abortEnds": "at-once", "retries": RETRIES},
)
SHARE: Final = 0.8
"""Of the context window, from which on the user is told that it fills up (BED-D6)."""
MESSAGES: Final = {
    "fatal": "the provider refuses the request: check the key and the model's name",
    "retryable": "the provider is busy or cannot be reached",
    "stream": "the connection broke",
}
"""Failure class → what the provider says."""


class ConversationTarget:
    """``reference:conversation``, in this process: quiet is when a method returns.

    Of the options, ``limits.contextWindow`` is in tokens; a tool with ``command`` is a program, which runs in
    *directory* and ends by itself (``wait``), one without is the harness's. *again* opens it in a process of its own,
    given a hash seed; *given* is a profile that counts instead of its own.
    """

    last_words: tuple[str, ...] = ()

    def __init__(
        self,
        name: str = "reference:conversation",
        *,
        directory: str = ".",
        again: Callable[[int], RuntimeTarget] | None = None,
        given: Profile | None = None,
    ) -> None:
        self.name: Final = name
        self.profile: Final = given or PROFILE
        self._again = again
        self._directory = directory
        self._options = ResetOptions()
        self.shell = Shell(Forgetful(), {})

    @property
    def implementation(self) -> Implementation:
        """Who answers."""
        return implementation()

    def reset(self, options: ResetOptions = ResetOptions()) -> Step:  # noqa: B008 - frozen
        """A new runtime; what ``state_dir`` holds is restarted: each conversation idle, its history whole."""
        self.shell.close()
        self._options = options
        store = Database(Path(options.state_dir)) if options.state_dir else Forgetful()
        tables: dict[str, Any] = {**DEFAULTS}
        if "contextWindow" in options.limits:
            tables["limit"] = int(SHARE * options.limits["contextWindow"])
        self.shell = Shell(
            store,
            {tool["name"]: tool.get("command") for tool in options.tools},
            directory=self._directory,
            tables=tables,
            deaf_model=options.deaf_model,
            deaf_tools=options.deaf_tools,
        )
        if options.observer is not None:
            self.shell.clients.append(_throws if options.observer == "throws" else _yields)
        return self._settled()

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet."""
        self.shell.events, self.shell.refused = [], None
        why = None
        for one in stimulus.stimuli if isinstance(stimulus, Together) else (stimulus,):
            why = self._apply(one) or why
            self._quiet()
        return self._settled(Refusal(*why) if why else None)

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        """Apply a word."""
        return tuple(map(self.apply, word))

    def wait(self, seconds: float | None = None) -> Step:
        """Wait until a program returns, and run until quiet; with *seconds*, so long at most."""
        self.shell.events, self.shell.refused = [], None
        self.shell.arrivals(seconds)
        return self._settled()

    def kill(self) -> None:
        """Crash: nothing is saved any more, and programs end."""
        self.shell.close()
        self.shell = Shell(Forgetful(), {})

    def again(self, hash_seed: int) -> RuntimeTarget:
        """Another one of it: in a process of its own, where one was named."""
        if self._again is not None:
            return self._again(hash_seed)
        return ConversationTarget(self.name, directory=self._directory, given=self.profile)

    def close(self) -> None:
        """Leave no process behind."""
        self.shell.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ---- stimuli ----

    def _apply(self, stimulus: Stimulus) -> tuple[Any, str] | None:
        """Do it; why not, where it cannot take place."""
        session = getattr(stimulus, "session_id", None) or ""
        match stimulus:
            case User():
                self.shell.open(session)
                self.shell.tell(session, "user", Input(payload=_message(stimulus)))
                self._quiet()
                return ("rejected", self.shell.refused) if self.shell.refused else None
            case Abort():
                self.shell.open(session)
                self.shell.tell(session, "cancel")
                self.shell.arrivals()  # what has ended by now is told after it
            case ModelOutput() | ModelStop() | ModelFail():
                return self._model(session, stimulus)
            case ToolReturn(output=output):
                return self._tool(session, stimulus, {"output": output})
            case ToolFail(message=message):
                return self._tool(session, stimulus, {"output": message, "isError": True})
            case Advance(seconds=seconds):
                self.shell.advance(seconds)
            case Client(action="join"):
                self.shell.join(session, _yields)
            case Client():
                with contextlib.suppress(ValueError):  # it may never have joined
                    self.shell.clients.remove(_yields)
            case Together():  # ``apply`` has taken it apart
                pass
        return None

    def _model(self, session: str, stimulus: ModelOutput | ModelStop | ModelFail) -> tuple[Any, str] | None:
        awaited = [(name, one) for name, one in self._requests() if name == session]
        found = next((one for _, one in awaited if stimulus.request_id in {None, one.id}), None)
        if found is None:
            return "not-awaited", "no such request waits"
        match stimulus:
            case ModelOutput(item=item):
                letter = "text"
                if isinstance(item, ToolCall):
                    letter = "spawn-call" if item.tool == SPAWN else "tool-call"
                payload = {name: value for name, value in to_builtins(item).items() if name != "type"}
                self.shell.tell(session, letter, Input(answers=found.number, payload=payload))
                return None
            case ModelStop(reason=reason, usage=usage):
                tokens = _tokens(usage)
                if tokens is not None:
                    self.shell.tell(
                        session, "usage", Input(answers=found.number, tokens=tokens, payload={"usage": usage})
                    )
                self._answered(session, found)
                self.shell.tell(session, "model-stop", Input(answers=found.number, reason=reason))
            case ModelFail(failure=failure):
                self._answered(session, found)
                # A broken stream is retried too: it is the network's fault, and nothing of the response is kept.
                letter = "fatal-failure" if failure == "fatal" else "retryable-failure"
                self.shell.tell(session, letter, Input(answers=found.number, message=MESSAGES[failure]))
        return None

    def _requests(self) -> Iterator[tuple[str, Request]]:
        """Every request that waits, those that ignore a cancel first."""
        yield from self.shell.late
        yield from ((name, agent.request) for name, agent in self.shell.agents.items() if agent.request is not None)

    def _answered(self, session: str, request: Request) -> None:
        self.shell.late = [(name, one) for name, one in self.shell.late if one is not request]
        if self.shell.agents[session].request is request:
            self.shell.agents[session].request = None

    def _tool(
        self, session: str, stimulus: ToolReturn | ToolFail, payload: Mapping[str, Any]
    ) -> tuple[Any, str] | None:
        runs = [run for run in self._harnessed() if (run.session, run.call_id) == (session, stimulus.call_id)]
        found = next((run for run in runs if stimulus.execution in {None, _execution(run)}), None)
        if found is None:
            return "not-awaited", "no such tool runs"
        self.shell.returned(found, payload)
        return None

    def _harnessed(self) -> list[Run]:
        """The runs that are the harness's to end: neither programs nor sub-agents."""
        return [run for run in self.shell.runs if run.program is None and run.tool != SPAWN]

    # ---- what is observed ----

    def _quiet(self) -> None:
        if self._options.clock == "auto":
            self.shell.jump()
        else:
            self.shell.settle()

    def _settled(self, refused: Refusal | None = None) -> Step:
        self._quiet()
        events, self.shell.events = tuple(self.shell.events), []
        return Step(events, tuple(self._awaiting()), refused)

    def _awaiting(self) -> Iterator[Awaited]:
        for session, request in self._requests():
            yield ModelAwaited(request_id=request.id, input=request.input, session_id=session or None)
        for run in sorted(self.shell.runs, key=lambda run: not run.cancelled):
            if run.tool != SPAWN:
                yield ToolAwaited(
                    call_id=run.call_id,
                    execution=_execution(run),
                    tool=run.tool,
                    arguments=run.arguments,
                    cancelled=run.cancelled,
                    session_id=run.session or None,
                )
        for timer in self.shell.clock.waiting():
            yield TimerAwaited(due=timer.due - self.shell.clock.now, session_id=timer.session or None)


def _execution(run: Run) -> str:
    return f"e{run.number}.{run.call}"


def _message(stimulus: User) -> dict[str, Any]:
    """The log's fields of a message: its parts where it has some, else its text (RC-D5)."""
    said = {"text": stimulus.text} if stimulus.content is None else {"content": stimulus.content}
    return {"id": stimulus.id, **said} | ({"delivery": stimulus.delivery} if stimulus.delivery else {})


def _tokens(usage: Any) -> int | None:
    """The tokens of a response: a number, or the sum of the numbers of an object; None where neither is there."""
    if isinstance(usage, int):
        return usage
    if isinstance(usage, dict):
        return sum(value for value in cast("dict[str, Any]", usage).values() if isinstance(value, int))
    return None


def _throws(_: Mapping[str, Any]) -> None:
    raise RuntimeError("the listener raises")


def _yields(_: Mapping[str, Any]) -> None:
    """Hears, and does nothing: what is told is told at once, so a slow listener holds nothing up but itself."""
