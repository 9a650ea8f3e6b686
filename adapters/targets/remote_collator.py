"""A collator in a process of its own, driven over the protocol."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Raw

from turncheck.model.machines.blocks import Block

from ..protocol.collator import read_blocks
from ..protocol.errors import TargetError
from ..protocol.messages import Collate, encode
from .remote import Remote


class RemoteCollator(Remote):
    """A ``CollatorTarget``."""

    def collate(self, frames: Sequence[Mapping[str, Any]]) -> tuple[Block, ...]:
        """Collate one request's frames, from its first on."""
        message = Collate(self._connection.next_seq(), Raw(encode(frames)))
        answer = self._connection.ask(message)
        try:
            return read_blocks(answer.blocks)
        except TargetError as error:
            raise self._connection.broken(error, message) from error.__cause__
