"""The engine without I/O: the machine, a session, and three readers of its outputs. The caller performs the outputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import to_builtins

from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.chat_log import Heard, refine
from turncheck.model.machines.engine import SPEC, tables

from .session import Mutations, Session, rfc3339, shown

NOTHING: Final = Heard()


@dataclass(frozen=True)
class Limits:
    """The bounds of a run and of a session's history, each 1 or more."""

    max_tool_rounds: int = 8
    max_history_messages: int = 200


class Engine:
    """One session's engine. ``log`` is the core's log of its runs."""

    def __init__(
        self,
        session: Session,
        limits: Limits,
        *,
        compactor: bool,
        clock: Callable[[], str] = rfc3339,
    ) -> None:
        """With *compactor*, a long history is summarised, else it is cut; *clock* returns RFC 3339 times."""
        self.log: list[dict[str, Any]] = []
        self._mutations = Mutations(session, limits.max_history_messages, clock)
        fixed = tables(
            max_tool_rounds=limits.max_tool_rounds,
            max_history_messages=limits.max_history_messages,
            compactor=compactor,
        )
        self._stepper = Stepper(SPEC, fixed)
        self._heard = 0

    @property
    def session(self) -> Session:
        """The session; it can be replaced by the stored one until it counts as loaded."""
        return self._mutations.session

    @session.setter
    def session(self, session: Session) -> None:
        self._mutations.session = session

    @property
    def state(self) -> str:
        """The machine's control state."""
        return self._stepper.state

    def hear(self, event: str, heard: Heard = NOTHING) -> Sequence[Output]:
        """Take one event, update session and log, and return the outputs for the shell and the client."""
        self._stepper.take(event, heard, self._heard)
        self._heard += 1
        outputs = self._stepper.outputs
        for output in outputs:
            self._mutations.apply(output)
            for logged in refine([output]):
                if logged["type"] == "model-request":
                    logged["input"] = to_builtins(list(shown(self.session.messages)))
                self.log.append(logged)
        return outputs
