"""nanobot: when the process is killed amid a turn, the user's message is gone.

A checkpoint keeps what the model and the tools said until then. The message that began the turn is not part of it: it
is written by the function that saves the whole turn, at its end.
"""

from ..plumbing import PLAIN, asked, result, unanswered
from ..turns import Kept


class Runtime(Kept, busy="reject"):
    """A checkpoint is restored silently, its calls answered with "Task interrupted"."""

    can = (*PLAIN, "persistence")

    def boot(self):
        self.message = None
        super().boot()

    def load(self):
        self.history = self.store.read("history", [])
        self.history += [result(name, "Task interrupted", failed=True) for name in unanswered(self.history)]

    def prompt(self, message):
        if self.signal is not None:
            self.refuse("rejected", "a turn is open")
            return
        self.message = asked(message)
        super().prompt(message)

    def record(self):
        unsaved = self.message if self.signal is not None else None
        return {"history": [entry for entry in self.history if entry != unsaved]}
