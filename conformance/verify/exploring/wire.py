"""The wire between a run and a worker: objects are pickled, so that they are written on the other side as on this one.

msgspec leaves a field out of what it writes where its value is the default *itself*; an equal text, such as pickle
makes, would be written. So structures are pickled without the fields that have their defaults.
"""

import pickle
from functools import cache
from io import BytesIO
from multiprocessing.connection import Connection
from typing import Any

import msgspec
from msgspec import NODEFAULT


class Wire:
    """One end, on the descriptor of a socket. Its calls raise OSError, and EOFError where the other end is gone."""

    def __init__(self, descriptor: int) -> None:
        self.connection: Connection[Any, Any] = Connection(descriptor)

    def send(self, what: Any) -> None:
        """Send an object."""
        written = BytesIO()
        _Pickler(written).dump(what)
        self.connection.send_bytes(written.getvalue())

    def recv(self) -> Any:
        """Wait for an object, and return it."""
        return self.connection.recv()


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, msgspec.Struct):
            return NotImplemented
        own = {
            field.name: getattr(obj, field.name)
            for field in _fields(type(obj))
            if not _is_default(field, getattr(obj, field.name))
        }
        return _made, (type(obj), own)


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def _is_default(field: msgspec.structs.FieldInfo, value: Any) -> bool:
    if field.default_factory is not NODEFAULT:
        return bool(value == field.default_factory())
    return type(value) is type(field.default) and bool(value == field.default)


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    return kind(**fields)
