"""The turn runtime as a target: the harness's stimuli are what the gateway, the model, the tools and the clock say."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias
from urllib.parse import quote, unquote

import msgspec

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Awaited,
    Client,
    ModelFail,
    ModelOutput,
    ModelStop,
    Refusal,
    ResetOptions,
    Step,
    Stimulus,
    TimerAwaited,
    Together,
    ToolFail,
    ToolReturn,
    User,
)

from ...protocol.errors import TargetError
from ...protocol.messages import Implementation, Profile
from ..implementation import implementation
from .files import Files, LocalFiles, MemoryFiles
from .gateway import MAIN, ended, message, said
from .journal import CorruptJournalError
from .options import Options
from .session import Session, SessionBusyError

Queue: TypeAlias = Literal["collect", "steer"]

CAPABILITIES: Final = (
    *("steer", "follow-up", "tools", "tool-failure", "model-failure", "reasoning", "model-input", "raw-arguments"),
    *("call-ids", "sessions", "together", "limits", "observer", "clock", "persistence"),
)
"""There is no abort in a turn: it ends by itself, within its bounds."""
_DELIVERY: Final[Mapping[Queue, str]] = {"collect": "followUp", "steer": "steer"}
_MEMORY: Final = Path("memory")


def profile(queue: Queue = "collect") -> Profile:
    """What it claims under a queue policy (TM-5)."""
    policies = {
        "busy": _DELIVERY[queue],
        "whileActive": _DELIVERY[queue],
        "tools": "serial",
        "steerLands": "after-batch",
        "retries": 0,
        "queueAfterInterrupted": "promote",
        "queueAfterError": "promote",
    }
    return Profile(("runtime",), CAPABILITIES, "turn", policies)


class TurnRuntime:
    """A runtime of many sessions, each in a folder of ``stateDir``, through *files* (without a folder: in memory)."""

    last_words: tuple[str, ...] = ()

    name: Final = "reference:turn"

    def __init__(self, queue: Queue = "collect", files: Files | None = None) -> None:
        self.profile: Final = profile(queue)
        self._queue: Final[Queue] = queue
        self._files = files
        self._sessions: dict[str | None, Session] | None = None
        self._options = ResetOptions()
        self._events: list[dict[str, Any]] = []
        self._refused: Refusal | None = None

    @property
    def implementation(self) -> Implementation:
        """Who answers."""
        return implementation("turncheck reference turn")

    # ---- the target ----

    def reset(self, options: ResetOptions = ResetOptions()) -> Step:  # noqa: B008 - frozen
        """A new and empty runtime, or what ``state_dir`` holds, recovered.

        Raises TargetError where that cannot be opened.
        """
        self.close()
        self._options, self._sessions = options, {}
        self._events, self._refused = [], None
        self._store = self._files or (LocalFiles() if options.state_dir else MemoryFiles())
        self._root = Path(options.state_dir) if options.state_dir else _MEMORY
        if options.state_dir:
            names = sorted(folder.name for folder in self._root.glob("session-*"))
            for name in [*names, *([MAIN] if (self._root / MAIN).is_dir() else [])]:
                self._session(None if name == MAIN else unquote(name.removeprefix("session-")))
        return self._step()

    def apply(self, stimulus: Stimulus) -> Step:
        """Apply one stimulus, and run until quiet. Raises TargetError after a kill, until the next reset."""
        self._events, self._refused = [], None
        self._take(stimulus)
        return self._step()

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        """Apply a word."""
        return tuple(map(self.apply, word))

    def kill(self) -> None:
        """Crash it: nothing is written any more, and the locks go as they go with a process."""
        self.close()
        self._sessions = None

    def again(self, hash_seed: int) -> "TurnRuntime":  # noqa: ARG002 - this process has its seed
        """The same once more, in this process."""
        return TurnRuntime(self._queue, self._files)

    def close(self) -> None:
        """Let the sessions' locks go."""
        for session in (self._sessions or {}).values():
            session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # ---- what comes in ----

    def _take(self, stimulus: Stimulus) -> None:
        match stimulus:
            case Together(stimuli=stimuli):
                for one in stimuli:
                    self._take(one)
            case User():
                self._user(stimulus)
            case Abort() | Client():
                self._refuse("unsupported", "a turn cannot be aborted, and has no clients")
            case Advance(seconds=seconds, session_id=name):
                for session in self._named(name):
                    session.advance(seconds)
            case ModelOutput() | ModelStop() | ModelFail():
                self._model(stimulus)
            case ToolReturn() | ToolFail():
                self._tool(stimulus)

    def _user(self, stimulus: User) -> None:
        session = self._session(stimulus.session_id)
        session.tell("inbound", message(stimulus))
        if session.down is not None:
            self._refuse("rejected", session.down)

    def _model(self, stimulus: ModelOutput | ModelStop | ModelFail) -> None:
        for session in self._named(stimulus.session_id):
            if session.model is not None and stimulus.request_id in {None, session.model.request_id}:
                session.tell(*said(stimulus))
                return
        self._refuse("not-awaited", "no such request is open")

    def _tool(self, stimulus: ToolReturn | ToolFail) -> None:
        for session in self._named(stimulus.session_id):
            run = session.tool
            if run is not None and run.call_id == stimulus.call_id and stimulus.execution in {None, run.execution}:
                session.tell(*ended(stimulus))
                return
        self._refuse("not-awaited", "no such tool runs")

    def _refuse(self, why: Literal["rejected", "unsupported", "not-awaited"], message: str) -> None:
        self._refused = Refusal(why, message)

    # ---- the sessions ----

    def _named(self, name: str | None) -> list[Session]:
        """The session of that name, where there is one; without a name, all of them, the first one first."""
        sessions = self._living()
        return list(sessions.values()) if name is None else [one for key, one in sessions.items() if key == name]

    def _session(self, name: str | None) -> Session:
        sessions = self._living()
        if name not in sessions:
            folder = self._root / (MAIN if name is None else f"session-{quote(name, safe='')}")
            try:
                sessions[name] = Session(
                    self._store, folder, lambda event: self._show(name, event), self._session_options()
                )
            except (SessionBusyError, CorruptJournalError, OSError) as error:
                raise TargetError(f"the session in {folder} cannot be opened: {error}") from error
        return sessions[name]

    def _living(self) -> dict[str | None, Session]:
        if self._sessions is None:
            raise TargetError("the runtime was killed: reset first")
        return self._sessions

    def _session_options(self) -> Options:
        limits, policies = self._options.limits, self._options.policies
        return Options(
            queue=_DELIVERY[self._queue],
            tools=self._options.tools,
            denied_tools=policies.get("deniedTools", ()),
            denied_chats=policies.get("deniedChats", ()),
            contracts=policies.get("contracts", ()),
            memory_pointers=policies.get("memoryPointers", ()),
            max_calls=limits.get("maxToolCallsPerTurn"),
            max_rounds=limits.get("maxRounds"),
            max_tokens=limits.get("maxTokensPerTurn"),
            max_seconds=limits.get("maxSecondsPerTurn"),
            max_text=limits.get("maxTextPerMessage"),
        )

    def _show(self, name: str | None, event: dict[str, Any]) -> None:
        self._events.append(event if name is None else event | {"sessionId": name})
        with suppress(RuntimeError):  # what a listener raises is its own
            self._listen()

    def _listen(self) -> None:
        if self._options.observer == "throws":
            raise RuntimeError("the listener raises")

    def _step(self) -> Step:
        return Step(tuple(self._events), tuple(self._awaiting()), self._refused)

    def _awaiting(self) -> list[Awaited]:
        found: list[Awaited] = []
        for name, session in self._living().items():
            open_ones = (one for one in (session.model, session.tool) if one is not None)
            found += (msgspec.structs.replace(one, session_id=name) for one in open_ones)
            if session.remaining is not None:
                found.append(TimerAwaited(due=session.remaining, session_id=name))
        return found
