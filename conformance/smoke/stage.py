"""A step of a life, and its outcome.

A step passes, or explains its failure: the message sent, the answers expected and received, where to read more, and
which side to repair. TargetError means the adapter (the verdict ``error``), ``Misbehaving`` the implementation behind
it (``fail``).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from turncheck.adapters.protocol.errors import ImplementationError, TargetError, UnsupportedError
from turncheck.adapters.protocol.messages import Profile

from ..verify.outcome.results import Verdict

_T = TypeVar("_T")


class Misbehaving(TargetError):  # noqa: N818 - the implementation misbehaves, the connection works
    """The adapter did its part, and the implementation did not."""


class Unseen(Exception):  # noqa: N818 - nothing is wrong
    """The step was taken, and no answer shows its effect; the text says which answer would have."""


class Outcome(msgspec.Struct, frozen=True):
    """The outcome of a step: ``fail`` blames the implementation, ``error`` the adapter, ``inconclusive`` neither.

    An ``ambiguous`` error blames the adapter or the implementation behind it: one of the two hung, died or raised.
    """

    step: str
    verdict: Verdict
    message: str = ""
    ambiguous: bool = False


@dataclass(frozen=True)
class Stage(Generic[_T]):
    """A step of a life: what happens in it, and the capabilities that it needs.

    If a ``vital`` step fails, the following ones are skipped. ``happen`` raises TargetError, Misbehaving and Unseen.
    """

    name: str
    happen: Callable[[_T], None]
    needs: tuple[str, ...] = ()
    vital: bool = False


def live(stages: Sequence[Stage[_T]], life: _T, profile: Profile) -> Iterator[Outcome]:
    """Go through *stages* with *life*, up to a vital one that fails; steps with undeclared needs are skipped."""
    for number, stage in enumerate(stages, 1):
        missing = [name for name in stage.needs if not profile.can(name)]
        if missing:
            yield Outcome(stage.name, "skipped", f"not declared: {', '.join(missing)}")
            continue
        outcome = done(stage, life)
        yield outcome
        if stage.vital and outcome.verdict != "pass":
            yield Outcome(f"{len(stages) - number} more steps", "skipped", "they show nothing before this is repaired")
            return


def done(stage: Stage[_T], life: _T) -> Outcome:
    """Run *stage* in *life*, and return its outcome."""
    try:
        stage.happen(life)
    except Unseen as error:
        return Outcome(stage.name, "inconclusive", str(error))
    except Misbehaving as error:
        return Outcome(stage.name, "fail", str(error))
    except ImplementationError as error:  # of a projector: on its input
        return Outcome(stage.name, "fail", f"the implementation failed: {error}\n{error.detail or ''}".rstrip())
    except UnsupportedError as error:
        told = TargetError(f"a declared capability is missing: {error}", see="docs/protocol.md#hello")
        return Outcome(stage.name, "error", str(told))
    except TargetError as error:
        return Outcome(stage.name, "error", str(error), error.ambiguous)
    return Outcome(stage.name, "pass")
