"""What a law is, and what it finds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Kind: TypeAlias = Literal["log", "relation", "run"]
Subject: TypeAlias = Literal["log", "projector", "runtime", "collation"]


@dataclass(frozen=True)
class Finding:
    """A law is broken: where (a position, None for the whole), how, and what was expected instead."""

    at: int | None
    message: str
    expected: Any = None
    observed: Any = None


@dataclass(frozen=True)
class Witness:
    """Evidence: something that could have broken the law, and did not (or did: a finding comes beside it).

    ``inferred`` when the adapter said so rather than the implementation.
    """

    inferred: bool = False


Judgement: TypeAlias = Iterator[Finding | Witness]
"""What a law yields while it judges: it never prints, raises or grades."""

WITNESS = Witness()


def first_finding(judgement: Iterable[Finding | Witness]) -> Finding | None:
    """The first way in which a law is broken."""
    return next((item for item in judgement if isinstance(item, Finding)), None)


@dataclass(frozen=True)
class Law:
    """A law's identity: what `turncheck laws` lists. Names are a promise (semantic versioning).

    ``subject`` is what the law judges: a recorded log (`check`), a projector or a runtime (`verify`), or a UI's
    collation of an event flow (the functions of ``COLLATION_LAWS``). ``needs`` are the capabilities without which it is
    skipped; ``machine`` and ``policy`` are needs of that form: ``machine turn``; of ``steps or rounds`` one is enough.
    With ``suite``, `verify --suite` alone judges it.
    """

    name: str
    kind: Kind
    clauses: tuple[str, ...]
    says: str
    subject: Subject
    evidence: str
    needs: tuple[str, ...] = ()
    suite: bool = False
