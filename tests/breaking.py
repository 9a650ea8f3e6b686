"""What a double breaks: the laws that fall, and the clauses of the sources that it breaks there, beside the double."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, TypeVar

Double = TypeVar("Double", bound=Callable[..., Any])


def breaks(law: str, *clauses: str) -> Callable[[Double], Double]:
    """Declare that a class, or a function, breaks *law*, and with it *clauses*.

    The law that names the fault stands first. Without clauses, what the law asks is a declared choice, or goes without
    saying: no clause of the sources speaks of it.
    """

    def declare(double: Double) -> Double:
        broken: Mapping[str, tuple[str, ...]] = vars(double).get("broken", {})
        double.broken = {law: clauses, **broken}  # type: ignore[attr-defined]
        return double

    return declare


def doubles(module: ModuleType) -> Iterator[tuple[str, Mapping[str, tuple[str, ...]]]]:
    """Yield the doubles of *module*, in its order: law → clauses, the law that names the fault first."""
    for name, value in vars(module).items():
        own = inspect.isclass(value) or inspect.isfunction(value)
        if own and value.__module__ == module.__name__ and "broken" in vars(value):
            yield name, vars(value)["broken"]


def named(module: ModuleType) -> dict[str, str]:
    """Double → the law that names its fault."""
    return {name: next(iter(broken)) for name, broken in doubles(module)}
