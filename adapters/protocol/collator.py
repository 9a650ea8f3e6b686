"""A collator under test, as conformance sees it, and its blocks on the wire.

A collator is the part of a UI that turns the frames of a backend (EF-2 to EF-4) into response blocks. ``errors`` has
the errors that its calls raise.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
from msgspec import UNSET, Raw, UnsetType

from turncheck.model.core.refused_json import why_refused
from turncheck.model.machines.blocks import Block

from .errors import DOCUMENT, RubbishError
from .target import Target

SEE: Final = f"{DOCUMENT}#collate"

COLLATOR_CAPABILITIES: Final[Mapping[str, str]] = {
    "streaming": "says which block streams: `streaming`",
    "tool-status": "says of each tool's use whether it waits, runs, is done or has failed: `status`",
}
"""The capabilities that a collator may declare."""


class CollatorTarget(Target, Protocol):
    """An implementation that collates frames to blocks.

    Every call raises TargetError if the target breaks, and ImplementationError if it raises or answers ``failed``.
    After a TargetError it can be called again: its process is replaced, a few times at most.
    """

    def collate(self, frames: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
        """Collate one request's frames, from its first on, whatever was collated before."""
        ...

    def again(self, hash_seed: int) -> "CollatorTarget":
        """Return the same implementation in a new process with this PYTHONHASHSEED."""
        ...


_decode: Final = msgspec.json.Decoder(tuple[Block, ...]).decode


def read_blocks(raw: Raw | UnsetType) -> tuple[Block, ...]:
    """Decode the blocks in an answer; a field that is left out is empty, and unknown ones are tolerated.

    Raises RubbishError if there are none, or if one has no iteration or a field of another type.

    >>> read_blocks(Raw(b'[{"iteration": 1, "text": "ha"}]'))[0].text
    'ha'
    """
    if raw is UNSET:
        raise RubbishError("the answer has no blocks", see=SEE)
    try:
        return _decode(raw)
    except msgspec.ValidationError as error:
        raise RubbishError(f"the blocks are not as they should be: {error}", came=bytes(raw), see=SEE) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        why = why_refused(bytes(raw), error)
        raise RubbishError(f"the blocks are not as they should be: {why}", came=bytes(raw), see=SEE) from error
