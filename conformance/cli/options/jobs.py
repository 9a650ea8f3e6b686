"""The option ``-j``: the number of processes among which the cases of a run are shared."""

from typing import TYPE_CHECKING, Final

import click

from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.targets.registry import is_single

from ..printing.output import notice

if TYPE_CHECKING:
    from ...verify.engine import Workers

jobs_option: Final = click.option(
    *("-j", "--jobs"),
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Processes among which the cases are shared, each with a target of its own; the result is the same.",
)


def workers_for(jobs: int, target: str, timeout: float, profile: Profile | None = None) -> "Workers | None":
    """Return the workers that *jobs* asks for; None where there is only one of the target, which is said."""
    from ...verify.engine import Workers  # noqa: PLC0415 - --help must not import it

    if jobs > 1 and is_single(target):
        notice(f"{target} is a single target, which one process drives: -j {jobs} changes nothing")
        return None
    return Workers(jobs, target, timeout, profile)
