"""The reference runtime of ``turn``: the six steps on local files (TM-1 to TM-7).

In come messages of a gateway, answers of the model and its tools; out go the log and a journal that survives crashes.
Begin with ``session``; in ``runtime``, the harness plays the environment.
"""

from .journal import CheckpointMismatchError, CorruptJournalError, CorruptLineError
from .memory import Told
from .options import Options
from .policy import Policy, PolicyError, Rule
from .runtime import TurnRuntime
from .session import Session, SessionBusyError

__all__ = [
    "CheckpointMismatchError",
    "CorruptJournalError",
    "CorruptLineError",
    "Options",
    "Policy",
    "PolicyError",
    "Rule",
    "Session",
    "SessionBusyError",
    "Told",
    "TurnRuntime",
]
