"""OpenClaw: a session whose turn a restart of the gateway cut is busy for ever.

That a session is busy is stored with it, and cleared when its turn ends. After a restart the session is loaded as it
was. Nobody runs the turn, so that no end clears it, and each message is queued behind it.
"""

from collections import deque

from ..tasks import Signal
from ..turns import Kept


class Runtime(Kept):
    """``signal`` is there while the session is busy."""

    def load(self):
        self.history = self.store.read("history", [])
        self.waiting = deque(self.store.read("waiting", ()))
        if self.store.read("active"):
            self.signal = Signal()
