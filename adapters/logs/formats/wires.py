"""The wire events of a stream as rows: the fields that matter of each, and the mapper's method that is given them.

The rows are declared once per format. The mapper's handlers are made from them here, and so are the typed structures
and the loop that read most of a log (``..fast``): all call the same methods.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta, Raw

from . import fields
from .dispatch import Handler
from .fields import Object, record

INDEX: Final = Annotated[int, Meta(ge=0, lt=1 << 31)]
"""The integers that the fast loop reads itself."""


class Field(NamedTuple):
    """A field of a wire event: its path, names with dots between; its reader, and the type that reads the same."""

    path: str
    read: Callable[[Object, str], object]
    shape: Any
    needed: bool

    def of(self, event: Object) -> object:
        """Return what *event* has there. Raises MisfitError."""
        *above, name = self.path.split(".")
        for outer in above:
            event = record(event, outer)
        return self.read(event, name)


def text(path: str) -> Field:
    """A string that must be there."""
    return Field(path, fields.text, str, needed=True)


def maybe_text(path: str) -> Field:
    """A string that may be absent or null."""
    return Field(path, fields.maybe_text, str | None, needed=False)


def maybe_flag(path: str) -> Field:
    """A boolean that may be absent or null."""
    return Field(path, fields.maybe_flag, bool | None, needed=False)


def number(path: str) -> Field:
    """An integer that must be there."""
    return Field(path, fields.number, INDEX, needed=True)


def whole(path: str) -> Field:
    """An object that must be there, as it is."""
    return Field(path, record, dict[str, Any], needed=True)


def maybe_records(path: str) -> Field:
    """A list of objects that may be absent."""
    return Field(path, _maybe_records, list[dict[str, Any]], needed=False)


def _maybe_records(event: Object, name: str) -> list[Object] | None:
    return fields.records(event, name) if name in event else None


def items(path: str) -> Field:
    """A list that must be there."""
    return Field(path, fields.items, list[Raw], needed=True)


def records(path: str) -> Field:
    """A list of objects that must be there."""
    return Field(path, fields.records, list[dict[str, Any]], needed=True)


def anything(path: str, shape: Any = str) -> Field:
    """Any value that is there, be it nothing; the fast loop takes a *shape* alone."""
    return Field(path, fields.anything, shape, needed=False)


class Delta(NamedTuple):
    """A text in which events differ that come in a row: its path, where a number stands for the first of a list.

    Such an event is of one of these ``types``, if events have types; and where ``words`` are given, what holds the text
    is of one of these. ``varies`` are fields that differ too, and mean nothing.
    """

    path: str
    types: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    varies: tuple[str, ...] = ()


class Wire(NamedTuple):
    """A wire event: its type, the mapper's method that takes it, and what that is given behind the position.

    ``take`` is None for an event of a run that means nothing. ``when``: this field, which lies in another, is one of
    these words; of the rows of one type the first that fits counts. ``delta`` is the path of a text: of the same event,
    sent again at once with another text, the first that is not empty has changed all that it can, but for the item's
    own text; ``varies`` are its fields that differ each time and mean nothing. ``opens``: it may begin a run.

    A method raises MisfitError before it changes anything.
    """

    type: str
    take: str | None = None
    given: tuple[Field | str, ...] = ()
    when: tuple[Field, tuple[str, ...]] | None = None
    delta: str | None = None
    varies: tuple[str, ...] = ()
    opens: bool = False


def by_type(wires: Iterable[Wire]) -> Mapping[str, list[Wire]]:
    """Return the rows of each type, in their order."""
    found: dict[str, list[Wire]] = {}
    for wire in wires:
        found.setdefault(wire.type, []).append(wire)
    return found


def deltas(wires: Iterable[Wire]) -> tuple[Delta, ...]:
    """Return the texts in which the rows' events differ."""
    types: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for wire in wires:
        if wire.delta is not None:
            words = () if wire.when is None else wire.when[1]
            types.setdefault((wire.delta, words, wire.varies), []).append(wire.type)
    return tuple(Delta(path, tuple(given), words, varies) for (path, words, varies), given in types.items())


def handlers(mapper: object, wires: Iterable[Wire]) -> dict[str, Handler]:
    """Return the handlers of a mapper, by type: each reads the fields of an event and calls the mapper's method."""
    return {name: _handler(mapper, rows) for name, rows in by_type(wires).items()}


def _handler(mapper: object, rows: list[Wire]) -> Handler:
    methods = [_nothing if row.take is None else getattr(mapper, row.take) for row in rows]

    def handle(at: int, event: Object) -> None:
        word, read = None, None
        for row, method in zip(rows, methods, strict=True):
            if row.when is not None and row.when[0] != read:
                read = row.when[0]
                word = read.of(event)
            if row.when is None or word in row.when[1]:
                method(at, *[given.of(event) if isinstance(given, Field) else given for given in row.given])
                return

    return handle


def _nothing(*_: object) -> None:
    """Take an event that means nothing to the core."""
