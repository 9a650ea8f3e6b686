"""All kinds of report, and the one place to add another. Each is a module of its name in ``formats``.

The module has ``render(result, counterexamples) -> str``, and ``render_logs(results) -> str`` if it can report
recorded logs too. It is imported when its kind is asked for.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from turncheck.model.rendering.printable import Document

from ..verify.outcome.results import AnyCounterexample, Result

if TYPE_CHECKING:
    from ..check.results import LogResult  # reads every log format, which is a tenth of the start of `verify`

OnResult: TypeAlias = Callable[[Result, Mapping[str, AnyCounterexample]], Document]
OnLogs: TypeAlias = "Callable[[Sequence[LogResult]], Document]"

KINDS: Final[Mapping[str, str]] = {
    "badge": "the JSON of a shields.io endpoint badge",
    "github": "annotations of GitHub Actions",
    "html": "one page with every failure drawn, for a browser",
    "junit": "JUnit XML, one test case per law",
    "markdown": "a job summary",
    "sarif": "SARIF 2.1.0, for code scanning",
}
"""Kind → its description."""

NEEDS: Final[Mapping[str, str]] = {"html": "diagrams"}
"""Kind → the extra that draws its pictures."""

OF_LOGS: Final = ("github", "sarif")
"""The kinds that `check` has."""


def on_result(kind: str) -> OnResult:
    """Import the renderer of a verification. Raises KeyError for an unknown *kind*."""
    return cast(OnResult, _module(kind).render)


def on_logs(kind: str) -> OnLogs:
    """Import the renderer of judged logs. Raises KeyError where *kind* has none."""
    if kind not in OF_LOGS:
        raise KeyError(kind)
    return cast(OnLogs, _module(kind).render_logs)


def _module(kind: str) -> ModuleType:
    if kind not in KINDS:
        raise KeyError(kind)
    return importlib.import_module(f".formats.{kind}", __package__)
