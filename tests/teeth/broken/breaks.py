"""The table of breaks: for each clause, an edit of the product and the tests that must notice it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from turncheck.model.clauses import catalogue

ROOT: Final = Path(__file__).parents[3]
TABLE: Final = Path(__file__).parent / "breaks.toml"


class Break(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """In *file*, the text *old*, which is there once, becomes *new*; *tests* are files below tests/."""

    clause: str
    says: str
    file: str
    old: str
    new: str
    tests: list[str]

    def applied(self, text: str) -> str:
        """Return the text of the file with the edit. Raises ValueError where it does not apply."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.clause}: {self.file} has the text {text.count(self.old)} times: {self.old!r}")
        return text.replace(self.old, self.new)


def breaks() -> list[Break]:
    """All breaks, in the order of the catalogue's clauses."""
    found: Mapping[str, object] = tomllib.loads(TABLE.read_text("utf-8"))
    order = [*catalogue()]
    return sorted(msgspec.convert(found["break"], list[Break]), key=lambda one: order.index(one.clause))
