"""OpenHermit: in the first turn after a session is resumed, the model sees the user's message twice.

A message is written to the database before its turn begins. The first turn of a resumed session reads the history from
there, and puts what is in memory behind it: the message, which it has read already.
"""

from ..plumbing import asked
from ..turns import Kept


class Runtime(Kept):
    """``resumed``: the history is in the database only."""

    resumed = False

    def load(self):
        super().load()
        self.save()
        if self.history and self.signal is None:
            self.history, self.resumed = [], True

    def begin(self, message):
        if self.resumed:
            self.keep("history", [*self.store.read("history"), asked(message)])
        super().begin(message)

    async def turn(self, signal):
        if self.resumed:
            self.resumed = False
            self.history = [*self.store.read("history"), *self.history]
        await super().turn(signal)

    def save(self):
        if not self.resumed:
            super().save()
