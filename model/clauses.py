"""The clauses of the sources, by identifier: ``clauses.toml``, read at first use."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

Way: TypeAlias = Literal["log", "relation", "run", "reference", "review"]


class Clause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One promise of a source in our own words, and how it is judged; a *reason* if only a reader can judge it."""

    judged: Way
    says: str
    reason: str | None = None


@cache
def catalogue() -> Mapping[str, Clause]:
    """Identifier → clause, in the order of the sources."""
    return msgspec.toml.decode(Path(__file__).with_name("clauses.toml").read_bytes(), type=dict[str, Clause])


def clause_text(name: str) -> str:
    """Return the text of the clause *name*, an empty string for one that this version does not know."""
    return catalogue()[name].says if name in catalogue() else ""
