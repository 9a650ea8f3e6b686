"""The projectors of the museum as ``python:`` targets; with ``mended__`` before the name, mended.

``PYTHONPATH=tests:tests/teeth turncheck verify python:museum.targets:slicc__results_by_name``
"""

from typing import Any

from .exhibit import exhibited, mended, source
from .registry import EXHIBITS

MENDED = "mended__"


def attribute(name: str, *, mend: bool) -> str:
    """Return the name here of an exhibit, or of its mended variant."""
    return (MENDED if mend else "") + name.replace("/", "__")


def __getattr__(name: str) -> Any:
    wanted = name.removeprefix(MENDED).replace("__", "/", 1)
    if wanted not in EXHIBITS:
        raise AttributeError(name)
    return exhibited(wanted, mended(wanted) if name.startswith(MENDED) else source(wanted))
