"""Codex: messages that wait when the app is closed are gone when it is opened again.

Messages sent amid a turn are accepted, and wait in the memory of the app. The thread is stored, and they are not part
of it until their turn comes.
"""

from ..turns import Kept


class Runtime(Kept):
    """``waiting`` are the queued follow-ups."""

    def record(self):
        return {"history": self.history, "active": self.signal is not None}
