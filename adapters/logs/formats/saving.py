"""The state of mappers as bytes, so that another process goes on where this one stopped.

A mapper is made anew and gets the attributes of the one that was saved: what it makes of itself (handlers, parts that
know each other) is not written. The bytes are a pickle of plain values and of a format's own classes; nothing else is
loaded, so that bytes from elsewhere run no code of their own.
"""

import pickle
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any, Final, TypeAlias

from .mapping import Mapper

_ROOMS: Final = ("turncheck.adapters.logs.formats.", "turncheck.model.core.")
_OTHERS: Final = {
    ("collections", "deque"),
    ("msgspec", "Raw"),
    ("msgspec._utils", "rebuild"),
    ("turncheck.adapters.logs.formats.items", "nothing"),
}
"""Functions and classes that are loaded beside those of the rooms, and of the reader's own module."""
_DERIVED: Final = "handlers"
"""The attribute that a mapper makes of itself."""

Attributes: TypeAlias = dict[str, dict[str, Any]]


class StateError(ValueError):
    """A state cannot be saved, or is none that can be restored; the text says why."""


def saved(mappers: Sequence[Mapper], make: Callable[[], Mapper], more: object) -> bytes:
    """Return the state of *mappers*, each of which *make* made, and *more*: values of the core. Raises StateError."""
    paths = [*parts_of(make())]
    found = [{path: _at(mapper, path) for path in paths} for mapper in mappers]
    pickler = _Pickler(written := BytesIO())
    pickler.known = {id(part): (number, path) for number, parts in enumerate(found) for path, part in parts.items()}
    try:
        pickler.dump(([{path: attributes_of(part) for path, part in parts.items()} for parts in found], more))
    except Exception as error:
        kind = f"{type(make()).__module__}.{type(make()).__name__}"
        raise StateError(f"the state of {kind} cannot be saved: {type(error).__name__}: {error}") from error
    return written.getvalue()


def restored(data: bytes, make: Callable[[], Mapper]) -> tuple[list[Mapper], Any]:
    """Return the mappers, and the other values, of a state that ``saved`` made. Raises StateError."""
    unpickler = _Unpickler(BytesIO(data))
    unpickler.make, unpickler.own, unpickler.mappers = make, type(make()).__module__, {}
    try:
        states, more = unpickler.load()
        for number, attributes in enumerate(states):
            for path, values in attributes.items():
                vars(_at(unpickler.mapper(number), path)).update(values)
        return [unpickler.mapper(number) for number in range(len(states))], more
    except StateError:
        raise
    except Exception as error:
        raise StateError(f"the state is damaged: {type(error).__name__}: {error}") from error


def parts_of(mapper: Mapper) -> dict[str, object]:
    """Return path → each object that a mapper made for itself: itself, and attributes of a class of its own."""
    found: dict[str, object] = {"": mapper}
    waiting = [""]
    while waiting:
        path = waiting.pop()
        for name, value in attributes_of(found[path]).items():
            own = type(value).__module__.startswith(_ROOMS[0]) and hasattr(value, "__dict__")
            if own and all(value is not part for part in found.values()):
                found[f"{path}.{name}".lstrip(".")] = value
                waiting.append(f"{path}.{name}".lstrip("."))
    return found


def _at(mapper: object, path: str) -> object:
    for name in path.split(".") if path else ():
        mapper = vars(mapper)[name]
    return mapper


def attributes_of(part: object) -> Mapping[str, Any]:
    """Return what *part* remembers, by name."""
    return {name: value for name, value in vars(part).items() if name != _DERIVED and not callable(value)}


class _Pickler(pickle.Pickler):
    known: dict[int, tuple[int, str]]

    def persistent_id(self, obj: Any) -> tuple[int, str] | None:
        return self.known.get(id(obj))


class _Unpickler(pickle.Unpickler):
    make: Callable[[], Mapper]
    own: str
    mappers: dict[int, Mapper]

    def mapper(self, number: int) -> Mapper:
        if number not in self.mappers:
            self.mappers[number] = self.make()
        return self.mappers[number]

    def persistent_load(self, pid: Any) -> object:
        number, path = pid
        return _at(self.mapper(number), path)

    def find_class(self, module: str, name: str, /) -> Any:
        if (module, name) in _OTHERS:
            return super().find_class(module, name)
        if "." not in name and (module.startswith(_ROOMS) or module == self.own):
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise StateError(f"the state names {module}.{name}, which no state of a monitor has")
