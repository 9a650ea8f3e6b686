"""The typed structures of a stream's wire events, made from its rows: only what a row names is decoded."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Union

from msgspec import defstruct, json

from ..formats.wires import Field, Wire, by_type


def decoder(wires: tuple[Wire, ...]) -> json.Decoder[Any]:
    """Return a decoder of the events that the rows name, each in the shape that its handler takes; it refuses others.

    >>> from turncheck.adapters.logs.formats.wires import text
    >>> found = decoder((Wire("text-end", "end", (text("id"),)),)).decode(b'{"type": "text-end", "id": "m", "x": 1}')
    >>> found.id
    'm'
    """
    return json.Decoder(Union[tuple(structures(wires).values())])  # noqa: UP007 - of a tuple


@cache
def structures(wires: tuple[Wire, ...]) -> Mapping[str, type[Any]]:
    """Return the structure of each type, and by ``type.word`` those of the parts that tell its rows apart."""
    found: dict[str, type[Any]] = {}
    for name, rows in by_type(wires).items():
        told = [row for row in rows if row.when is not None]
        if not told:
            found[name] = _structure(name, rows[0], name)
    return found


def _structure(name: str, row: Wire, tag: str) -> type[Any]:
    fields = [given for given in row.given if isinstance(given, Field)]
    return defstruct(
        class_name(name),
        [(one.path, one.shape) if one.needed else (one.path, one.shape, None) for one in fields],
        tag=tag,
        tag_field="type",
        kw_only=True,
        gc=False,
    )


def class_name(name: str) -> str:
    """Return the name of a type's class.

    >>> class_name("text-delta"), class_name("response.created")
    ('TextDelta', 'ResponseCreated')
    """
    words = name.replace("-", "_").replace(".", "_").split("_")
    return "".join(word.title() for word in words)
