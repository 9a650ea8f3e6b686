"""buzz's bridge: the relay answers that there are too many requests, and gets the next one in the same moment.

Retries are counted, and nothing waits between them: many agents that do so keep the relay above its limit, and none of
them gets through.
"""

from ..plumbing import PLAIN
from ..tasks import ModelError
from ..turns import Turns

RETRIES, BASE = 3, 1


class Runtime(Turns, retries=RETRIES, backoff={"base": BASE}):
    """It declares three retries, whose delays double."""

    can = (*PLAIN, "follow-up", "clock")

    async def turn(self, signal):
        while calls := await self.attempt(signal):
            await self.act(calls, signal)

    async def attempt(self, signal):
        retries = 0
        while True:
            try:
                return await self.respond(signal)
            except ModelError as error:
                if error.failure != "retryable" or retries == RETRIES:
                    raise
            self.answer_open("the response was cut")
            retries += 1
