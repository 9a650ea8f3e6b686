"""The work of the plugin's fixtures: open a target, judge a recorded log."""

import os
import sys
import sysconfig
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from turncheck.adapters.protocol.collator import CollatorTarget
from turncheck.adapters.protocol.loading import Loaded, loaded
from turncheck.adapters.protocol.projector import ProjectorTarget
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.targets.inprocess import InProcessProjector
from turncheck.adapters.targets.registry import Target, open_collator, open_projector, open_runtime, open_target
from turncheck.model.rendering.printable import joined

from ..check.judge import check
from ..check.results import LogResult, more_lines

TIMEOUT: Final = 5.0
"""Seconds per answer, as in `verify`."""


@contextmanager
def opened_projector(
    target: Any, *, timeout: float = TIMEOUT, variant: str | None = None
) -> Generator[ProjectorTarget, None, None]:
    """Open a projector: a target's text, or a Python function, class or object that runs in this process.

    Raises the errors of ``open_projector``, and TypeError for an object that is no projector.
    """
    if isinstance(target, str):
        with _importable(target), open_projector(target, timeout=timeout, variant=variant) as projector:
            yield projector
        return
    name = f"{target.__module__}:{getattr(target, '__qualname__', type(target).__qualname__)}"
    found = loaded(target, name, target.__module__)
    if not isinstance(found, Loaded):
        raise TypeError(f"{name} is no projector: give turncheck_runtime the target python:{name}")
    yield InProcessProjector(found, name)


@contextmanager
def opened_runtime(
    target: str, *, timeout: float = TIMEOUT, variant: str | None = None
) -> Generator[RuntimeTarget, None, None]:
    """Open a runtime in a process of its own. Raises the errors of ``open_runtime``."""
    with _importable(target), open_runtime(target, timeout=timeout, variant=variant) as runtime:
        yield runtime


@contextmanager
def opened_collator(
    target: str, *, timeout: float = TIMEOUT, variant: str | None = None
) -> Generator[CollatorTarget, None, None]:
    """Open a collator in a process of its own. Raises the errors of ``open_collator``."""
    with _importable(target), open_collator(target, timeout=timeout, variant=variant) as collator:
        yield collator


@contextmanager
def opened_target(target: str, *, timeout: float = TIMEOUT) -> Generator[Target, None, None]:
    """Open a target in all its roles. Raises the errors of ``open_target``."""
    with _importable(target), open_target(target, timeout=timeout) as opened:
        yield opened


@contextmanager
def _importable(target: str) -> Generator[None, None, None]:
    """Let a ``python:`` target's worker import whatever tests can: pytest's ``pythonpath`` and conftest folders too."""
    with pytest.MonkeyPatch.context() as patch:
        if target.startswith("python:"):
            own = {*sysconfig.get_paths().values(), ""}
            patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path not in own))
        yield


def clean_log(path: str | os.PathLike[str], *, format_name: str | None = None, strict: bool = True) -> LogResult:
    """Return the result of a faultless log with a run; fail the test for any other. Raises OSError and ValueError."""
    with Path(path).open("rb") as stream:
        result = check(os.fspath(path), stream, format_name=format_name, strict=strict)
    if result.exit_code:
        found = [f"  line {one.line}  {one.law}  {one.message}  {', '.join(one.clauses)}" for one in result.findings]
        found += [f"  {line}" for line in more_lines(result)]
        head = f"{result.log}: {result.verdict} {result.why or ''}".rstrip()
        pytest.fail(joined("\n", [head, *found]), pytrace=False)
    return result
