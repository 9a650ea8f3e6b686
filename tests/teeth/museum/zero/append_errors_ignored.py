"""Zero: an event that could not be written is missing from the session, and nobody is told.

Each entry is appended to the store once, when it is new. The error of the append is ignored, and the next entry is
appended behind the gap.
"""

from ..store import WriteError
from ..turns import Kept


class Runtime(Kept):
    """``appended`` entries of the history were given to the store, of which it did not take those ``dropped``."""

    appended = dropped = 0

    def load(self):
        super().load()
        self.appended = len(self.store.read("history", ()))

    def save(self):
        for entry in self.history[self.appended :]:
            self.append(entry)
        self.appended = len(self.history)
        super().save()

    def record(self):
        return {"waiting": self.waiting, "active": self.signal is not None}

    def append(self, entry):
        try:
            self.store.write("history", [*self.store.read("history", []), entry])
        except WriteError:
            self.dropped += 1
