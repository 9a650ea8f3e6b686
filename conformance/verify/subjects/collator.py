"""A collator as a subject: it is observed on flows of frames, classic ones and then generated ones."""

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from turncheck.adapters.protocol.collator import CollatorTarget
from turncheck.adapters.protocol.errors import ImplementationError, TargetError, UnsupportedError
from turncheck.model.machines.blocks import Block, collate

from ...generation.flows import Flow, frames_of
from ...laws.collation import Collation, Frame
from ...laws.law import Finding
from ..outcome.coverage import FlowCoverage
from ..outcome.floor import CollatorFloor
from ..outcome.results import FlowCounterexample
from .subject import Difference, Observation, failing

TOTAL = "one-block-per-call"
"""The law that a collator breaks which fails on a flow: it shows no block."""


class CollatorSubject:
    """A collator, and its *twin* in a process with another hash seed."""

    unit: ClassVar[str] = "flows"
    shrink_work: ClassVar[int] = 200_000
    repeating: ClassVar[tuple[str, ...]] = ()

    def __init__(self, target: CollatorTarget, twin: CollatorTarget) -> None:
        self.target, self.twin, self.work = target, twin, 0
        self.inferred: Mapping[str, str | int] = {}
        self.coverage = FlowCoverage()
        self.floor = CollatorFloor()
        self.whole = True
        self._whole = 0

    def elsewhere(self, target: CollatorTarget) -> "CollatorSubject":
        """Return the same subject on another process."""
        return CollatorSubject(target, target)

    def takes(self, case: object) -> bool:
        """Any flow."""
        return isinstance(case, Flow)

    def observe(self, case: Flow) -> Observation[Flow]:
        """Collate the flow, and prepare the means to collate others."""
        frames = frames_of(case)
        self._whole = len(frames)
        means = Collation(frames, self._collated, self._elsewhere)
        try:
            blocks = means.blocks
        except TargetError as error:
            error.case = case
            raise
        except (ImplementationError, UnsupportedError) as error:
            message = failing(error, "the collator failed on a flow of frames")
            return Observation(case, failed=Finding(None, message, "blocks", str(error)), breaks=TOTAL)
        self.floor.add(blocks)
        return Observation(case, blocks, means)

    def restored(self, observation: Observation[Flow]) -> Observation[Flow]:
        """Join an observation of another process with the means to collate here."""
        if observation.failed is not None:
            return observation
        return dataclasses.replace(
            observation, means=Collation(frames_of(observation.case), self._collated, self._elsewhere)
        )

    @staticmethod
    def differences(observation: Observation[Flow]) -> Sequence[Difference]:
        """Name the first field of a block that is not the model's; ``blocks`` where their number differs."""
        if observation.failed is not None:
            return (Difference("", observation.failed.message),)
        ours, theirs = _shown(collate(frames_of(observation.case))), _shown(observation.trace)
        if len(ours) != len(theirs):
            return (Difference("", "blocks"),)
        fields = (
            name
            for right, came in zip(ours, theirs, strict=True)
            for name in right.__struct_fields__
            if getattr(right, name) != getattr(came, name)
        )
        return tuple(Difference("", name) for name in dict.fromkeys(fields))[:1]

    @staticmethod
    def size(case: Flow) -> tuple[int, ...]:
        """Pieces, and then bytes."""
        return case.size, len(msgspec.json.encode(case))

    @staticmethod
    def without(case: Flow, places: Collection[int]) -> Flow:
        """Leave out the pieces at *places*."""
        return case.without(places)

    @staticmethod
    def simpler(case: Flow) -> Iterator[Flow]:
        """Yield the flow in a plainer dialect."""
        yield from case.simpler()

    @staticmethod
    def spellings(case: Flow) -> tuple[Flow, ...]:
        """The flow as it is."""
        return (case,)

    @staticmethod
    def telling(case: Flow) -> Flow:
        """Return the flow as it is: its frames have numbers."""
        return case

    @staticmethod
    def counterexample(observation: Observation[Flow], **common: Any) -> FlowCounterexample:
        """Make the file of a failing flow."""
        return FlowCounterexample(
            flow=observation.case, frames=frames_of(observation.case), blocks=observation.trace, **common
        )

    def _collated(self, frames: Sequence[Frame]) -> Sequence[Block]:
        self.work += len(frames)
        if len(frames) + 1 >= self._whole:  # a beginning takes no row that the whole does not take
            self.coverage.take(frames)
        return self.target.collate(frames)

    def _elsewhere(self, frames: Sequence[Frame]) -> Sequence[Block]:
        self.work += len(frames)
        return self.twin.collate(frames)


def _shown(blocks: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks without the request to the model and without states, which not every collator tells."""
    return [
        replace(
            block, request=None, streaming=False, calls=tuple(replace(use, status="waiting") for use in block.calls)
        )
        for block in blocks
    ]
