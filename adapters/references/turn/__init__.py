"""The reference runtime of ``turn``: the six steps on local files (TM-1 to TM-7).

In come messages of a gateway, answers of the model and its tools; out go the log and a journal that survives crashes.
Begin with ``session``; in ``runtime``, the harness plays the environment.
"""

from .journal import CorruptJournalError
from .memory import Told
from .options import Options
from .runtime import TurnRuntime
from .session import Session, SessionBusyError

__all__ = ["CorruptJournalError", "Options", "Session", "SessionBusyError", "Told", "TurnRuntime"]
