"""A projector of the tests in this process: the doubles are many, and a worker for each would take minutes.

Nothing here can hang, and all instances share one hash seed.
"""

from turncheck.adapters.protocol.loading import Loaded, load
from turncheck.adapters.targets.inprocess import InProcessProjector


class InProcess(InProcessProjector):
    """The target that ``python:`` followed by *text* names; *profile* counts instead of its own, where given."""

    def __init__(self, text, profile=None):
        loaded = load(text)
        assert isinstance(loaded, Loaded)
        super().__init__(loaded, f"python:{text}", profile)
        self._text, self._given = text, profile

    def again(self, hash_seed):
        return InProcess(self._text, self._given)
