"""Agent Framework for .NET: when the run that takes a denial fails, every later run of the session fails too.

What is said until the question is in the session, and with it the request for approval. The response to it is added
when the run that takes it ends well. A request without a response is an exception before the model is asked.
"""

from ..plumbing import PLAIN, unanswered
from ..turns import Turns


class Runtime(Turns):
    """``session`` is lasting; ``history`` is that of one run."""

    can = (*PLAIN, "follow-up", "approval")

    def boot(self):
        super().boot()
        self.session = []

    def begin(self, message):
        if unanswered(self.session):
            self.end("error")
            return
        self.history = list(self.session)
        super().begin(message)

    async def act(self, calls, signal):
        if any(self.gated(call) for call in calls):
            self.session = list(self.history)
        await super().act(calls, signal)

    def end(self, reason):
        self.answer_open(reason)
        if reason == "completed" or not unanswered(self.session):
            self.session = list(self.history)
        super().end(reason)
