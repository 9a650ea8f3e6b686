"""``reference:conversation``: the conversation machine run for real (clauses BED-001 to 013).

``core`` is pure: it steps the rows of ``machines.conversation`` and refines their outputs to the log. ``shell``
does what the rows ask for, once ``store`` has saved it: it asks the model, runs ``tools`` as processes and ends them in
the very step of a cancel, waits on a virtual ``clock``, runs sub-agents side by side, and tells clients. ``images`` are
fitted to a provider's limits. ``runtime`` puts the harness in the place of the world.
"""

from .images import Limits, fit
from .runtime import PROFILE, ConversationTarget
from .shell import SPAWN, SUBMIT, Shell

__all__ = ["PROFILE", "SPAWN", "SUBMIT", "ConversationTarget", "Limits", "Shell", "fit"]
