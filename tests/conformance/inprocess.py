"""A projector of the tests in this process: the doubles are many, and a worker for each would take minutes.

Nothing here can hang, and all instances share one hash seed.
"""

import msgspec

from turncheck.adapters.protocol.collator import read_blocks
from turncheck.adapters.protocol.errors import ImplementationError
from turncheck.adapters.protocol.loading import Loaded, LoadedCollator, load
from turncheck.adapters.protocol.messages import encode
from turncheck.adapters.protocol.target import Closing
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


class InProcessCollator(Closing):
    """The collator that ``python:`` followed by *text* names; frames and blocks pass as JSON, as on the wire."""

    def __init__(self, text):
        loaded = load(text)
        assert isinstance(loaded, LoadedCollator)
        self.name, self._text, self._collate = f"python:{text}", text, loaded.collate
        self.implementation, self.profile = loaded.implementation, loaded.profile

    def collate(self, frames):
        try:
            blocks = self._collate(msgspec.json.decode(encode(frames)))
        except Exception as error:
            raise ImplementationError(f"{type(error).__name__}: {error}") from error
        return read_blocks(msgspec.Raw(encode(blocks)))

    def again(self, hash_seed):
        return InProcessCollator(self._text)
