"""``reference:conversation``: the conversation machine as a working runtime (clauses BED-001 to 013).

``core`` is pure: it steps the rows of ``machines.conversation`` and refines their outputs to the log. ``shell``
performs the outputs once ``store`` has saved the state: it sends requests to the model, runs ``tools`` as processes
and ends both in the very step of a cancel, waits on a virtual ``clock``, runs sub-agents side by side, and notifies
clients. ``provider`` is a model behind HTTP, which is shown images as pixels; without it the harness plays the model,
as it plays the rest of the environment in ``runtime``.
"""

from .own_tools import SPAWN, SUBMIT
from .provider.images import Limits, fit
from .runtime import PROFILE, ConversationTarget
from .shell import Shell

__all__ = ["PROFILE", "SPAWN", "SUBMIT", "ConversationTarget", "Limits", "Shell", "fit"]
