"""Strands Agents: a session whose process ended amid a tool cannot be resumed.

Each message is stored as it comes: the model's call before the tool runs, its result after. Where the process ends in
between, the session ends with a call, and every request that follows shows it without a result.
"""

from collections import deque

from ..turns import Kept


class Runtime(Kept):
    """The session manager restores the messages, and the agent goes on from there."""

    def load(self):
        self.history = self.store.read("history", [])
        self.waiting = deque(self.store.read("waiting", ()))
        if self.store.read("active"):
            self.stop("interrupted")
