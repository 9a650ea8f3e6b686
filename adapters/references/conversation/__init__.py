"""``reference:conversation``: the conversation machine as a working runtime (clauses BED-001 to 013).

``core`` is pure: it steps the rows of ``machines.conversation`` and refines their outputs to the log. ``shell``
performs the outputs once ``store`` has saved the state: it sends requests to the model, runs ``tools`` as processes
and ends both in the very step of a cancel, waits on a virtual ``clock``, runs sub-agents side by side, and notifies
clients. In ``runtime``, the harness plays the environment; a model behind HTTP (the room ``provider``) can take the
place of the played one.
"""

from ..provider.images import Limits, fit
from .own_tools import SPAWN, SUBMIT
from .runtime import PROFILE, ConversationTarget
from .shell import Shell

__all__ = ["PROFILE", "SPAWN", "SUBMIT", "ConversationTarget", "Limits", "Shell", "fit"]
