"""Names of version 0.1, kept for one version: modules that moved, and names that changed in them."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

MODULES: Final[Mapping[str, str]] = {
    "turncheck.adapters.reading": "turncheck.adapters.logs.reading",
    "turncheck.adapters.reference": "turncheck.adapters.targets.reference_projector",
    "turncheck.conformance.suites": "turncheck.model.automata.suites",
    "turncheck.model.bounded": "turncheck.model.automata.finite",
    "turncheck.model.decode": "turncheck.model.core.decode",
    "turncheck.model.diagrams": "turncheck.model.rendering.state_diagram",
    "turncheck.model.events": "turncheck.model.core.events",
    "turncheck.model.exploring": "turncheck.model.checking.explore",
    "turncheck.model.lint": "turncheck.model.declaration.lint",
    "turncheck.model.machine": "turncheck.model.declaration.machine",
    "turncheck.model.mealy": "turncheck.model.automata.mealy",
    "turncheck.model.pictures": "turncheck.model.rendering.graphviz_svg",
    "turncheck.model.projection": "turncheck.model.core.projection",
    "turncheck.model.stimuli": "turncheck.model.core.stimuli",
    "turncheck.model.vocabulary": "turncheck.model.declaration.vocabulary",
}
"""Documented module of version 0.1 → its module now."""

NAMES: Final[Mapping[str, str]] = {
    "Bounded": "FiniteMachine",
    "Ledger": "ViewProjector",
    "Ledgers": "LogViewProjector",
    "Sessions": "LogProjector",
}
"""Documented name of version 0.1 → its name now."""


class _Renamed:
    """Finds old modules: each takes all its names from the new one."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:  # noqa: ARG004
        return ModuleSpec(name, _Renamed) if name in MODULES else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        new = import_module(MODULES[spec.name])
        warnings.warn(f"{spec.name} is {new.__name__} since 0.2", DeprecationWarning, stacklevel=2)
        old = ModuleType(spec.name, new.__doc__)

        def read(name: str) -> Any:
            return getattr(new, NAMES.get(name, name))

        old.__getattr__ = read  # type: ignore[method-assign]
        return old

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Do nothing: ``__getattr__`` reads every name from the new module."""


def install() -> None:
    """Let the old names be imported, once per process."""
    if _Renamed not in sys.meta_path:
        sys.meta_path.append(_Renamed)  # pyright: ignore[reportArgumentType]
