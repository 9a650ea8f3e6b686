"""When an endpoint is quiet: nothing more can be seen of it before the next stimulus.

That is when no stream is open and no model is awaited; or when each run under way awaits the model, and nothing has
come for a lull from an endpoint that is not computing. What else keeps it busy has until the patience is over.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

State: TypeAlias = Literal["idle", "waiting", "busy"]
"""Nothing is under way; all that is awaits the model; something goes on."""

_LAST_LOOK: Final = 0.002
"""Seconds: what came while we had no core ourselves is still on its way through the event loop when a lull is over."""


class Quiet:
    """Waits for it. *patience* and *lull* are seconds; *computing* says whether silence means nothing just now."""

    def __init__(self, *, patience: float, lull: float, computing: Callable[[], bool]) -> None:
        self._patience, self._lull, self._computing = patience, lull, computing
        self._moved = asyncio.Event()

    def moved(self) -> None:
        """Something happened."""
        self._moved.set()

    async def settle(self, state: Callable[[], State]) -> bool:
        """Wait for quiet; False where the patience is over before."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        while (now := state()) != "idle":
            self._moved.clear()
            left = deadline - loop.time()
            if left <= 0:
                return False
            lull = min(left, self._lull) if now == "waiting" else left
            if await self._moves(lull) or now == "busy" or self._computing():
                continue
            if not await self._moves(_LAST_LOOK):
                return True
        return True

    async def _moves(self, seconds: float) -> bool:
        """Return whether anything happens within *seconds*."""
        try:
            await asyncio.wait_for(self._moved.wait(), seconds)
        except TimeoutError:
            return False
        return True
