"""OpenClaw: after a restart, all that was said in a session is sent to its channel again.

A new session is made, and the conversation so far is put into it. What is put into a session is taken for new: each of
the agent's messages goes to the channel, delivered or not.
"""

from ..turns import Kept


class Runtime(Kept):
    """A channel is sent what is logged."""

    def load(self):
        super().load()
        for entry in self.history:
            if entry.role == "assistant" and entry.text is not None:
                self.inject(entry)

    def inject(self, entry):
        """Put a message into the session."""
        self.log("agent-output", kind="assistant", text=entry.text)
