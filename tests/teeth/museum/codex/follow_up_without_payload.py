"""Codex: what a sub-agent is sent while it works arrives without its text.

The message is stored sealed, for the provider alone. What this model is shown is the envelope, which has nothing after
``Payload:``; the sub-agent answers that nobody told it anything.
"""

from msgspec.structs import replace

from ..plumbing import asked
from ..teams import Team


class Runtime(Team):
    """A main agent whose sub-agents take messages."""

    def tell(self, member, message):
        member.unread = True
        sealed = {"sealed": message.text, "text": None}
        with self.acting(member):
            self.accept(message)
            shown = f"Message Type: FOLLOW_UP, Payload: {sealed['text'] or ''}"
            self.history.append(replace(asked(message), text=shown, ids=()))
