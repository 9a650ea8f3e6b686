"""The turn runtime as a target: the harness plays the gateway, the model, the tools and the clock."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias
from urllib.parse import quote, unquote

from msgspec.structs import replace

from turncheck.model.core.history import FOLLOW_UP_HANDOVER, STEER_HANDOVER
from turncheck.model.core.stimuli import Abort, Advance, Awaited, Client, Refusal, Stimulus, TimerAwaited, User

from ...protocol.errors import TargetError
from ...protocol.messages import RESTART_POLICY, Profile
from ..driven import InProcess, Refused, unsupported
from .files import Files, MemoryFiles
from .gateway import MAIN, answer, message
from .journal import CorruptJournalError
from .options import Options
from .policy import Policy, PolicyError
from .session import Session, SessionBusyError

Queue: TypeAlias = Literal["collect", "steer"]

CAPABILITIES: Final = (
    *("steer", "follow-up", "tools", "tool-failure", "model-failure", "reasoning", "model-input", "raw-arguments"),
    *("call-ids", "sessions", "together", "limits", "observer", "clock", "persistence", "terminal-events"),
)
"""A turn has no abort: it ends by itself, within its bounds."""
_DELIVERY: Final[Mapping[Queue, str]] = {"collect": "followUp", "steer": "steer"}
_MEMORY: Final = Path("memory")


def profile(queue: Queue = "collect") -> Profile:
    """Return the runtime's profile under a queue policy (TM-5)."""
    policies = {
        "busy": _DELIVERY[queue],
        "whileActive": _DELIVERY[queue],
        "tools": "serial",
        "steerLands": "after-batch",
        "retries": 0,
        "queueAfterInterrupted": "promote",
        "queueAfterError": "promote",
        "unread": "drop",
        STEER_HANDOVER: "all",
        FOLLOW_UP_HANDOVER: "one",
        RESTART_POLICY: "error",
    }
    return Profile(("runtime",), CAPABILITIES, "turn", policies)


class TurnRuntime(InProcess):
    """A runtime of many sessions, each in a folder of ``stateDir``, through *files* (without a folder: in memory)."""

    name = "reference:turn"
    introduced = "turncheck reference turn"

    def __init__(self, queue: Queue = "collect", files: Files | None = None) -> None:
        self.profile = profile(queue)
        self._queue: Final[Queue] = queue
        self._files = files
        self._sessions: dict[str | None, Session] | None = None
        super().__init__()

    def begin(self) -> None:
        """Start empty, or recover the sessions in ``state_dir``.

        Raises TargetError where one cannot be opened, and where ``toolPolicy`` of the policies is none.
        """
        self.close()
        try:
            self._policy = Policy(self.options.policies.get("toolPolicy", ()))
        except PolicyError as error:
            raise TargetError(str(error)) from error
        self._sessions = {}
        self._log: list[dict[str, Any]] = []
        folder = self.options.state_dir
        self._store = self._files or (Files() if folder else MemoryFiles())
        self._root = Path(folder) if folder else _MEMORY
        if folder:
            for name in self._stored():
                self._session(None if name == MAIN else unquote(name.removeprefix("session-")))

    def _stored(self) -> list[str]:
        """The folders of the sessions that there are, the nameless one's last."""
        try:
            names = {found.name for found in self._root.iterdir()}
        except FileNotFoundError:
            return []
        except OSError as error:
            raise TargetError(f"the sessions in {self._root} cannot be read: {error.strerror}") from error
        return [*sorted(name for name in names if name.startswith("session-")), *(names & {MAIN})]

    @property
    def log(self) -> list[dict[str, Any]]:
        """The events of all sessions."""
        return self._log

    def kill(self, amid: Stimulus | None = None, seconds: float = 0.0) -> None:  # noqa: ARG002 - a stimulus is one step
        """Crash: nothing more is written, and the locks are released as at a process's end."""
        self.close()
        self._sessions = None

    def again(self, hash_seed: int) -> Self:  # noqa: ARG002 - this process has its seed
        """Return another instance, in this process."""
        return type(self)(self._queue, self._files)

    def close(self) -> None:
        """Release the sessions' locks."""
        for session in (self._sessions or {}).values():
            session.close()

    def give(self, stimulus: Stimulus, waits: Any) -> None:
        """Pass the stimulus to its session as an event. Raises TargetError after a kill, until the next reset."""
        match stimulus:
            case User(session_id=name):
                session = self._session(name)
                session.tell("inbound", message(stimulus))
                if session.down is not None:
                    raise Refused(Refusal("rejected", session.down))
            case Advance(seconds=seconds, session_id=name):
                for key, session in self._living().items():
                    if self.addressed(name, key):
                        session.advance(seconds)
            case Abort() | Client():
                raise unsupported("a turn cannot be aborted, and has no clients")
            case _:
                waits.tell(*answer(stimulus))

    def waiting(self) -> Iterator[tuple[Awaited, Session]]:
        """Yield what each session waits for."""
        for name, session in self._living().items():
            for one in (session.model, session.tool):
                if one is not None:
                    yield replace(one, session_id=name), session
            if session.remaining is not None:
                yield TimerAwaited(due=session.remaining, session_id=name), session

    # ---- the sessions ----

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
        limits, policies = self.options.limits, self.options.policies
        return Options(
            queue=_DELIVERY[self._queue],
            tools=self.options.tools,
            policy=self._policy,
            contracts=policies.get("contracts", ()),
            memory_pointers=policies.get("memoryPointers", ()),
            max_calls=limits.get("maxToolCallsPerTurn"),
            max_rounds=limits.get("maxRounds"),
            max_tokens=limits.get("maxTokensPerTurn"),
            max_seconds=limits.get("maxSecondsPerTurn"),
            max_tool_seconds=limits.get("maxSecondsPerTool"),
            max_text=limits.get("maxTextPerMessage"),
        )

    def _show(self, name: str | None, event: dict[str, Any]) -> None:
        self._log.append(event if name is None else event | {"sessionId": name})
        self.observe()
