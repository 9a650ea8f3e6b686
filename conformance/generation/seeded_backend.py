"""How Hypothesis draws here: as ever, but for the constants of whatever modules are loaded.

Its own provider mixes them into numbers (stateful testing draws some from 0 to 254), so that one seed would give other
words in a process that has loaded other modules: under pytest, say.
"""

from typing import Any, Final

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

SEEDED: Final = "turncheck-seeded"
"""The ``backend`` of Hypothesis' settings that this module registers."""


class SeededProvider(HypothesisProvider):
    """Draws that depend on the seed alone."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


AVAILABLE_PROVIDERS[SEEDED] = f"{__name__}.{SeededProvider.__name__}"
