"""The reference runtime of ``turn``: the six steps on local files (TM-1 to TM-7)."""

from .journal import CorruptJournalError
from .memory import Told
from .options import Options
from .runtime import TurnRuntime
from .session import Session, SessionBusyError

__all__ = ["CorruptJournalError", "Options", "Session", "SessionBusyError", "Told", "TurnRuntime"]
