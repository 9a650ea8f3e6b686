"""The pytest plugin: options, markers and fixtures; nothing else of turncheck is imported until a test asks for it.

``turncheck.conformance.testing`` has the names that a test module imports; docs/pytest.md shows both.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from turncheck.adapters.protocol.projector import ProjectorTarget
    from turncheck.adapters.protocol.runtime import RuntimeTarget

    from .check.results import LogResult
    from .testing import Floor, Judged


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; each takes precedence over a test module."""
    group = parser.getgroup("turncheck", "laws on chat-agent turns")
    group.addoption("--turncheck-seed", type=int, metavar="N", help="seed of the generated logs or words (0)")
    group.addoption("--turncheck-examples", type=int, metavar="N", help="generated logs or words per target (300)")
    group.addoption("--turncheck-baseline", type=Path, metavar="FILE", help="TOML file with the failures to expect")
    group.addoption("--turncheck-variant", metavar="NAME", help="variant of each target, or * for each one's tests")
    group.addoption("--turncheck-out", type=Path, metavar="FOLDER", help="where counterexamples go (pytest's cache)")
    group.addoption("--turncheck-strict", action="store_true", help="a law without evidence fails, and is not skipped")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark that keeps a target's laws in one worker, unless pytest-xdist does."""
    if not config.pluginmanager.hasplugin("xdist"):
        config.addinivalue_line("markers", "xdist_group(name): pytest-xdist is not there, so this does nothing")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the tests of a line for each variant that they are to be for."""
    if "turncheck_judged" in metafunc.fixturenames:
        from .testing.running import variants_of  # noqa: PLC0415 - as the module says

        names = variants_of(metafunc.config, metafunc.function.suite)  # pyright: ignore[reportFunctionMemberAccess]
        if names:
            metafunc.parametrize("turncheck_variant", names, indirect=True)


@pytest.fixture
def turncheck_variant(request: pytest.FixtureRequest) -> str | None:
    """The variant of its target that a law's test is for; None for the default one."""
    return getattr(request, "param", None)


@pytest.fixture
def turncheck_judged(
    request: pytest.FixtureRequest,
    turncheck_variant: str | None,  # noqa: ARG001 - the tests of each variant are told apart by it
) -> "Judged | Floor":
    """The verdict of a law on a target, or its floor: the fixture behind ``projector_laws`` and ``runtime_laws``.

    The target is run once per session and variant, at the first of its laws. A target that does not start, or breaks,
    is an error at setup, and no failure of a law.
    """
    from .testing import judged  # noqa: PLC0415 - as the module says

    return judged(request)


@pytest.fixture
def turncheck_projector() -> "Generator[Callable[..., ProjectorTarget], None, None]":
    """Open a projector: ``turncheck_projector(target)``; it is closed at teardown.

    A target's text is opened as `verify` does, in a process of its own; a Python function, class or object runs in this
    one, where a debugger and a coverage tool see it.
    """
    from .testing.fixtures import opened_projector  # noqa: PLC0415 - as the module says

    with ExitStack() as stack:

        def opened(target: Any, **options: Any) -> "ProjectorTarget":
            return stack.enter_context(opened_projector(target, **options))

        yield opened


@pytest.fixture
def turncheck_runtime() -> "Generator[Callable[..., RuntimeTarget], None, None]":
    """Open a runtime in a process of its own: ``turncheck_runtime(text)``; it is ended at teardown."""
    from .testing.fixtures import opened_runtime  # noqa: PLC0415 - as the module says

    with ExitStack() as stack:

        def opened(target: str, **options: Any) -> "RuntimeTarget":
            return stack.enter_context(opened_runtime(target, **options))

        yield opened


@pytest.fixture
def turncheck_log() -> "Callable[..., LogResult]":
    """Judge a recorded log as `check` does: ``turncheck_log(path, strict=True)`` fails the test with its findings.

    Returns the result. A log that ends amid a run fails too, unless *strict* is false.
    """

    def clean(path: Any, **options: Any) -> "LogResult":
        from .testing.fixtures import clean_log  # noqa: PLC0415 - as the module says

        return clean_log(path, **options)

    return clean
