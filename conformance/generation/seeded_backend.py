"""A Hypothesis backend that ignores constants harvested from loaded modules, so one seed always gives the same words.

Hypothesis' own provider mixes these constants into numbers (stateful testing draws some from 0 to 254), so that one
seed would give other words in a process that has loaded other modules: under pytest, say.
"""

from typing import Any, Final

try:
    from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider
except ImportError as error:  # these names are no promise of Hypothesis
    raise ImportError(
        "this version of Hypothesis keeps its providers elsewhere, and turncheck generates nothing without them: "
        "install the version that turncheck's lock file names"
    ) from error

SEEDED: Final = "turncheck-seeded"
"""The ``backend`` of Hypothesis' settings that this module registers."""
_CONSTANTS: Final = "_maybe_draw_constant"

if not hasattr(HypothesisProvider, _CONSTANTS):
    raise ImportError(
        f"this version of Hypothesis has no {_CONSTANTS}, and one seed would give other words each time: "
        "install the version that turncheck's lock file names"
    )


class SeededProvider(HypothesisProvider):
    """Draws that depend on the seed alone."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


AVAILABLE_PROVIDERS[SEEDED] = f"{__name__}.{SeededProvider.__name__}"
