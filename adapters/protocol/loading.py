"""Load a Python projector or collator, or a runtime's adapter, from ``module:attribute``, for the worker to serve."""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import Any, Final, cast

import msgspec

from ..kit.turncheck_kit import Adapter
from .messages import Implementation, Profile

REFERENCE: Final = "turncheck.adapters.targets.reference_projector:Reference"


@dataclass(frozen=True)
class Loaded:
    """A Python projector: its functions, its name and version, its claims."""

    project: Callable[..., Any]
    feed: Callable[..., Any] | None
    reset: Callable[[], Any]
    implementation: Implementation
    profile: Profile

    def feeding(self, start: int | None) -> Callable[[Sequence[Any]], Any]:
        """Return a function that feeds the next events, or those from the position *start* on."""
        assert self.feed is not None
        return self.feed if start is None else partial(self.feed, start=start)


@dataclass(frozen=True)
class LoadedCollator:
    """A Python collator: its function, its name and version, its claims."""

    collate: Callable[[Sequence[Any]], Any]
    implementation: Implementation
    profile: Profile


def load(text: str) -> Loaded | LoadedCollator | Adapter:
    """Import the object that *text* names, a projector, a collator or a runtime's adapter; find its capabilities.

    An adapter is an object or a class of the helper library's ``Adapter``, or one with its methods. A collator is an
    object or a class with ``collate``, a function of the frames; or a class with ``feed``, a function of one frame, and
    ``blocks``, of which each flow gets an instance of its own. It has no ``project``.

    A projector is a function of the events, or an object or a class with ``project``, and optionally ``feed`` and
    ``reset``; a ``policies`` parameter of ``project`` declares that capability, a ``start`` parameter of ``feed`` the
    capability ``repeats``. Its attributes ``profile`` (a dict,
    whose keys override the findings) and ``implementation`` are optional.

    Raises ValueError or TypeError if the attribute is no projector, msgspec.ValidationError for an invalid profile,
    and any error of its import and its constructor.
    """
    module_name, _, attribute = (REFERENCE if text == "reference" else text).partition(":")
    module = importlib.import_module(module_name)
    found: Any = module
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            public = ", ".join(name for name in dir(found) if not name.startswith("_"))
            raise ValueError(f"{module_name} has no {attribute!r}; it has: {public}") from None
    return loaded(found, text, module_name)


def loaded(found: Any, text: str, module_name: str) -> Loaded | LoadedCollator | Adapter:
    """Find the capabilities of *found*, as ``load`` says; *text* named it in the module *module_name*."""
    projector = found() if isinstance(found, type) else found
    if hasattr(projector, "reset") and hasattr(projector, "user"):
        return cast(Adapter, projector)
    collate = None if hasattr(projector, "project") else _collate(found, projector)
    if collate is not None:
        claims = {"roles": ["collator"], "capabilities": [], **getattr(projector, "profile", {})}
        return LoadedCollator(collate, _implementation(text, module_name, projector), msgspec.convert(claims, Profile))
    project = projector if inspect.isroutine(projector) else getattr(projector, "project", projector)
    if not callable(project):
        raise TypeError(
            f"{text} is neither a function of the events nor an object with `project` or `collate`: {projector!r}"
        )
    feed = getattr(projector, "feed", None)
    return Loaded(
        project=project,
        feed=feed,
        reset=getattr(projector, "reset", _no_reset if feed else _nothing_to_forget),
        implementation=_implementation(text, module_name, projector),
        profile=_profile(project, feed, getattr(projector, "profile", {})),
    )


def _collate(found: Any, made: Any) -> Callable[[Sequence[Any]], Any] | None:
    """Return the function from frames to blocks of what was found, or of the object *made* of it; None if none."""
    collate = getattr(made, "collate", None)
    if callable(collate):
        return cast("Callable[[Sequence[Any]], Any]", collate)
    if not (isinstance(found, type) and callable(getattr(made, "feed", None)) and hasattr(made, "blocks")):
        return None

    def fold(frames: Sequence[Any]) -> Any:
        reducer: Any = found()
        for frame in frames:
            reducer.feed(frame)
        return reducer.blocks

    return fold


def _profile(project: Callable[..., Any], feed: Callable[..., Any] | None, given: Mapping[str, Any]) -> Profile:
    able = {
        "policies": _takes(project, "policies"),
        "feed": feed is not None,
        "repeats": feed is not None and _takes(feed, "start"),
        "steps": True,
        "rounds": True,
    }
    found = {"roles": ["projector"], "capabilities": [name for name, has in able.items() if has]}
    return msgspec.convert({**found, **given}, Profile)


def _takes(function: Callable[..., Any], parameter: str) -> bool:
    return parameter in inspect.signature(function).parameters


def _implementation(text: str, module_name: str, projector: object) -> Implementation:
    """Return its own ``implementation``; else its text, with the version of its package or distribution."""
    given = getattr(projector, "implementation", None)
    if given is not None:
        return msgspec.convert(given, Implementation, from_attributes=True)
    package = module_name.partition(".")[0]
    version = getattr(sys.modules[package], "__version__", None)
    if version is None:
        version = next((one.version for one in metadata.distributions() if _gives(one, package)), "unknown")
    return Implementation(text, str(version), "python")


def _gives(distribution: metadata.Distribution, package: str) -> bool:
    """Return whether a distribution installs a package, by the rules of ``metadata.packages_distributions``.

    That function parses every list of files, which takes a fifth of a second per worker, twenty times as long as this.
    """
    declared = (distribution.read_text("top_level.txt") or "").split()
    if declared:
        return package in declared
    files = distribution.read_text("RECORD") or ""
    return package in files and re.search(rf"^{re.escape(package)}(/.*)?\.py,", files, re.MULTILINE) is not None


def _nothing_to_forget() -> None:
    pass


def _no_reset() -> None:
    raise NotImplementedError("a projector with `feed` needs a `reset` that forgets what was fed")
