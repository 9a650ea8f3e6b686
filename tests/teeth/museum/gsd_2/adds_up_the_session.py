"""gsd-2's watchdog: it adds up what all responses of a session used, and holds the sum against the context window.

Each response's usage has the whole prompt in it, so that a few of them are more than the window: the user is told to
wrap up a session that is nearly empty, and is not told again when it does fill up.
"""

from turncheck.model.core.provider_limits import tokens

from ..plumbing import LIMITS, PLAIN
from ..turns import Turns

SHARE = 0.7


class Runtime(Turns, contextShare=SHARE):
    """It tells when the context comes to seven tenths of its window."""

    can = (*PLAIN, "follow-up", *LIMITS)

    def boot(self):
        super().boot()
        self.used = 0

    async def respond(self, signal=None, shown=None):
        calls = await super().respond(signal, shown)
        if self.usage is not None:
            self.log("native", usage=self.usage)
            self.watch(tokens(self.usage) or 0)
        return calls

    def watch(self, used):
        """Tell it once each time that the use comes to the limit."""
        before, self.used = self.used, self.used + used
        limit = SHARE * self.options.limits.get("contextWindow", float("inf"))
        if before < limit <= self.used:
            self.log("native", name="context-limit")
