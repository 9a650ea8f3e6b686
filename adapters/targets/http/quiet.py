"""Wait until an endpoint is quiet: it shows nothing more before the next stimulus.

It is quiet when no stream is open and no model is awaited; or when each run under way awaits the model, and the
endpoint, without computing, sent nothing for a lull. Any other activity must end within the patience.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

State: TypeAlias = Literal["idle", "waiting", "busy"]
"""No run is under way; each run under way awaits the model; some run goes on."""

_LAST_LOOK: Final = 0.002
"""Seconds. Bytes that came while this process had no CPU are still in the event loop when a lull is over."""


class Quiet:
    """The wait for quiet. *patience* and *lull* are in seconds; while *computing* is true, silence means nothing."""

    def __init__(self, *, patience: float, lull: float, computing: Callable[[], bool]) -> None:
        self._patience, self._lull, self._computing = patience, lull, computing
        self._moved = asyncio.Event()

    def moved(self) -> None:
        """Something happened."""
        self._moved.set()

    async def settle(self, state: Callable[[], State]) -> bool:
        """Wait for quiet. Return False if the patience is over first."""
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
        """Return whether the endpoint acts within *seconds*."""
        try:
            await asyncio.wait_for(self._moved.wait(), seconds)
        except TimeoutError:
            return False
        return True
