"""Input for a projector: classic logs, and then generated ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.adapters.targets.registry import Target
from turncheck.model.core.policies import Policies

from ...generation.classic_logs import CLASSICS
from ..engine import Run
from ..outcome.results import Input
from ..subjects.projector import ProjectorSubject
from .shards import SIZE
from .workers import crew


@dataclass(frozen=True)
class Logs:
    """A shard: some logs; *classic* ones are judged however small the budget."""

    cases: Sequence[Input]
    classic: bool = False


class ProjectorCourse:
    """The way in which a projector is given logs."""

    def face(self, target: Target) -> Any:
        """Return the projector."""
        return target.projector

    def subject(self, target: ProjectorTarget, twin: ProjectorTarget) -> ProjectorSubject:
        """Make a subject that has seen nothing."""
        return ProjectorSubject(target, twin)

    def play(self, run: Run[Input], shard: Logs) -> None:
        """Project the logs of *shard*, and judge them."""
        assert isinstance(run.subject, ProjectorSubject)
        for case in shard.cases:
            if not shard.classic:
                run.due()
            observation = run.asking(partial(run.subject.observe, case))
            if observation is None:
                continue
            run.subject.coverage.add(case)
            run.judge(observation)
            run.told(run)

    def merged(self, run: Run[Input]) -> None:
        """Nothing but its bounds ends the run."""


def explore(subject: ProjectorSubject, examples: int, run: Run[Input]) -> None:
    """Explore *subject* on the classic logs, however small the budget, and on so many generated ones."""
    with crew(run, ProjectorCourse()) as playing:
        playing.give(Logs(classics(subject.own), classic=True))
        shard: list[Input] = []

        def take(case: Input) -> None:
            shard.append(case)
            if len(shard) == SIZE:
                playing.give(Logs(tuple(shard)))
                shard.clear()

        if examples:
            run.due()
            _generate(subject.own, examples, run.options.seed, take)
        if shard:
            playing.give(Logs(tuple(shard)))
        playing.finish()


def _generate(own: Policies | None, examples: int, seed: int, take: Callable[[Input], None]) -> None:
    """Give *take* the generated logs that differ."""
    import hypothesis  # noqa: PLC0415 - a quarter of a start-up, which a run without examples does without

    from ...generation.drawing import drawing  # noqa: PLC0415 - as above
    from ...generation.logs import Case, cases  # noqa: PLC0415 - as above

    seen: set[bytes] = set()

    @hypothesis.seed(seed)
    @drawing(examples)
    @hypothesis.given(cases(policies=own))
    def generate(generated: Case) -> None:
        case = Input(generated.log, generated.policies, generated.cuts)
        key = msgspec.json.encode(case)
        if key not in seen:
            seen.add(key)
            take(case)

    generate()


def classics(own: Policies | None) -> list[Input]:
    """The classic cases, each once: under the target's *own* policies where it takes no others."""
    found = (Input(log, own or policies, cuts) for log, policies, cuts in CLASSICS)
    return [*{msgspec.json.encode(case): case for case in found}.values()]
