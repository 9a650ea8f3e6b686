"""Input for a collator: classic flows of frames, and then generated ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from turncheck.adapters.protocol.collator import CollatorTarget
from turncheck.adapters.targets.registry import Target

from ...generation.flows import CLASSICS, Flow, Iteration
from ..engine import Run
from ..subjects.collator import CollatorSubject
from .shards import SIZE
from .workers import crew

_TEXTS = ("ha", "ha ", "well", "\n", "ho")
"""Equal ones are likely to follow each other: a stream may say the same twice."""


@dataclass(frozen=True)
class Flows:
    """A shard: some flows; *classic* ones are judged however small the budget."""

    cases: Sequence[Flow]
    classic: bool = False


class CollatorCourse:
    """The way in which a collator is given flows."""

    def face(self, target: Target) -> Any:
        """Return the collator."""
        return target.collator

    def subject(self, target: CollatorTarget, twin: CollatorTarget) -> CollatorSubject:
        """Make a subject that has seen nothing."""
        return CollatorSubject(target, twin)

    def play(self, run: Run[Flow], shard: Flows) -> None:
        """Have the flows of *shard* collated, and judge the blocks."""
        for case in shard.cases:
            if not shard.classic:
                run.due()
            observation = run.asking(partial(run.subject.observe, case))
            assert observation is not None
            run.subject.coverage.cases += 1
            run.judge(observation)
            run.told(run)

    def merged(self, run: Run[Flow]) -> None:
        """Nothing but its bounds ends the run."""


def explore(examples: int, run: Run[Flow]) -> None:
    """Explore a collator on the classic flows, however small the budget, and on so many generated ones."""
    with crew(run, CollatorCourse()) as playing:
        playing.give(Flows(CLASSICS, classic=True))
        shard: list[Flow] = []

        def take(case: Flow) -> None:
            shard.append(case)
            if len(shard) == SIZE:
                playing.give(Flows(tuple(shard)))
                shard.clear()

        if examples:
            run.due()
            _generate(examples, run.options.seed, take)
        if shard:
            playing.give(Flows(tuple(shard)))
        playing.finish()


def _generate(examples: int, seed: int, take: Callable[[Flow], None]) -> None:
    """Give *take* the generated flows that differ."""
    import hypothesis  # noqa: PLC0415 - a quarter of a start-up, which a run without examples does without
    from hypothesis import strategies as st  # noqa: PLC0415 - as above

    from ...generation.drawing import drawing  # noqa: PLC0415 - as above

    deltas = st.lists(st.sampled_from(_TEXTS), max_size=4).map(tuple)
    calling = st.lists(st.builds(Iteration, deltas, st.integers(1, 3), st.booleans()), max_size=3)
    iterations = st.tuples(calling, st.builds(Iteration, deltas)).map(lambda parts: (*parts[0], parts[1]))
    flows = st.builds(Flow, iterations, *[st.booleans()] * 4)
    seen: set[Flow] = set()

    @hypothesis.seed(seed)
    @drawing(examples)
    @hypothesis.given(flows)
    def generate(case: Flow) -> None:
        if case not in seen:
            seen.add(case)
            take(case)

    generate()
