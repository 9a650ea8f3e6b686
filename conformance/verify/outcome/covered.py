"""The extent of a run: the floor below which verdicts mean nothing, shares of the model, and counts."""

from typing import Literal, TypedDict

import msgspec

from turncheck.adapters.protocol.messages import Role


class FloorItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that has to happen before a verdict means anything, and how often it did.

    ``declared``: the capability of that name is declared; its stimuli took place ``count`` times.
    """

    what: str
    count: int
    declared: bool = False


class Share(msgspec.Struct, frozen=True):
    """The number of the ``what`` that a run exercised in one role, of ``total``; ``missed`` names the rest."""

    role: Role
    what: Literal["states", "rows", "clauses", "policy values", "situations"]
    exercised: int
    total: int
    missed: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.exercised}/{self.total}"


class SuiteRun(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An n-complete suite that was run: by *method*, for *k* more states than the *n* of the model.

    ``reference`` is whose model it is, over ``letters`` and within ``bounds``; ``words`` and ``stimuli`` are the whole
    suite's. ``complete`` says whether all of it was applied and answered as by the model: then ``guarantee`` has what
    follows, with its assumptions, and what does not; else ``why`` says why nothing is promised.
    """

    method: str
    k: int
    n: int
    reference: str
    letters: tuple[str, ...]
    bounds: dict[str, int]
    words: int
    stimuli: int
    complete: bool
    guarantee: tuple[str, ...] = ()
    why: str | None = None


class Covered(TypedDict, total=False):
    """The ``shares`` of the model that a run exercised; the other figures are those of the last role that was run.

    ``states``, ``rows`` and ``policies`` (a projector's: their combinations) are written ``exercised/total``;
    ``missed`` are the rows that were not taken. ``logs`` and ``events`` count what a projector was given, ``words``,
    ``stimuli`` and ``unsettled`` (words) what a runtime was, ``flows`` and ``frames`` what a collator was. ``suite`` is
    there where one was run.
    """

    shares: list[Share]
    states: str
    rows: str
    missed: list[str]
    policies: str
    logs: int
    events: int
    words: int
    stimuli: int
    unsettled: int
    flows: int
    frames: int
    suite: SuiteRun
