"""The typed structures of a stream's wire events, made from its rows: only what a row names is decoded."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Union

from msgspec import DecodeError, defstruct, json

from turncheck.model.core.decode import is_blank

from ..formats.fields import text
from ..formats.wires import Field, Wire, by_type


def decoder(wires: tuple[Wire, ...]) -> json.Decoder[Any]:
    """Return a decoder of the events that the rows name, each in the shape that its handler takes; it refuses others.

    >>> from turncheck.adapters.logs.formats.wires import text
    >>> found = decoder((Wire("text-end", "end", (text("id"),)),)).decode(b'{"type": "text-end", "id": "m", "x": 1}')
    >>> found.id
    'm'
    """
    found = structures(wires)
    whole = tuple(found[name] for name in by_type(wires) if name in found)
    return json.Decoder(Union[whole])  # noqa: UP007 - of a tuple


def undecoded(line: bytes) -> None:
    """Decode nothing: of a format whose events the mapper reads. Raises MsgspecError for a line without a value."""
    if is_blank(line.rstrip(b"\n")):
        raise DecodeError


@cache
def structures(wires: tuple[Wire, ...]) -> Mapping[str, type[Any]]:
    """Return the structure of each type that the fast loop reads.

    Where a word tells the rows of a type apart, what holds it is a structure of its own, called ``type.word``.
    """
    found: dict[str, type[Any]] = {}
    for name, rows in by_type(wires).items():
        fast = [row for row in rows if is_fast(row, rows)]
        if not fast:
            continue
        if fast[0].when is None:
            found[name] = _structure(name, _fields(fast[0]), _tag(name))
            continue
        above, _, told_by = fast[0].when[0].path.rpartition(".")
        words = {word: row for row in fast if row.when is not None for word in row.when[1]}
        parts = {
            word: _structure(f"{name}.{word}", _below(row, above), {"tag": word, "tag_field": told_by})
            for word, row in words.items()
        }
        found |= {f"{name}.{word}": part for word, part in parts.items()}
        outer = {field.path: field for row in fast for field in _fields(row) if not field.path.startswith(f"{above}.")}
        one_of: Any = Union[tuple(parts.values())]  # noqa: UP007 - of a tuple
        found[name] = _structure(name, [*outer.values(), Field(above, text, one_of, needed=True)], _tag(name))
    return found


def is_fast(row: Wire, rows: Sequence[Wire]) -> bool:
    """Return whether the fast loop reads the events of a row, which is one of the *rows* of its type."""
    return row.when is not None or len(rows) == 1


def _fields(row: Wire) -> list[Field]:
    return [given for given in row.given if isinstance(given, Field)]


def _below(row: Wire, above: str) -> list[Field]:
    """The fields of a row in what *above* holds."""
    start = f"{above}."
    return [field._replace(path=field.path[len(start) :]) for field in _fields(row) if field.path.startswith(start)]


def _tag(name: str) -> Mapping[str, str]:
    return {"tag": name, "tag_field": "type"}


def _structure(name: str, fields: Sequence[Field], tag: Mapping[str, Any]) -> type[Any]:
    """A structure of these fields; what lies deeper is a structure too, which must be there."""
    shapes: list[Any] = []
    for one in dict.fromkeys(field.path.partition(".")[0] for field in fields):
        inner = [
            field._replace(path=field.path[len(one) + 1 :]) for field in fields if field.path.startswith(f"{one}.")
        ]
        if inner:
            shapes.append((one, _structure(f"{name}.{one}", inner, {})))
        else:
            shapes += [(one, own.shape) if own.needed else (one, own.shape, None) for own in fields if own.path == one]
    return defstruct(class_name(name), shapes, kw_only=True, gc=False, **tag)


def class_name(name: str) -> str:
    """Return the name of a type's class.

    >>> class_name("text-delta"), class_name("response.created")
    ('TextDelta', 'ResponseCreated')
    """
    words = name.replace("-", "_").replace(".", "_").split("_")
    return "".join(word.title() for word in words)
