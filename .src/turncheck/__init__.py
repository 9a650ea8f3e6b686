"""turncheck as a library: ``check``, ``project``, ``verify``, and a ``Monitor`` of live streams.

Importing this package is cheap; each function imports what it needs.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from io import BufferedIOBase, BufferedReader, BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from turncheck.conformance.check.monitor import Monitor, SessionFinding
    from turncheck.conformance.check.results import LogResult
    from turncheck.conformance.verify.outcome.results import AnyCounterexample, Result
    from turncheck.model.core.cycles import SessionProjection
    from turncheck.model.core.policies import Policies

__all__ = ["Log", "Monitor", "SessionFinding", "check", "project", "verify"]

Log: TypeAlias = str | PathLike[str] | bytes | BufferedIOBase
"""A recorded log: the path of its file, its bytes, or a binary stream."""


# In a checkout the packages are folders at its root, to which links stand here: their files have one path alone.
__path__ = [str(link.resolve().parent) for link in [Path(__file__).with_name("model")] if link.is_symlink()] or __path__


def check(
    log: Log, *, format_name: str | None = None, strict: bool = False, policies: "Policies | None" = None
) -> "LogResult":
    r"""Judge a recorded log by the laws that need nothing else, as the command ``check`` does.

    *format_name* is that of ``--format``; by default the format is recognised. A log that ends in a run fails only
    where *strict*, or where a log of its format is whole. *policies* are those of the projection.

    Raises OSError, KeyError for an unknown format, and ValueError for a log that cannot be judged: UnrecognisedError
    where no format fits, or not the one that is named.

    >>> import turncheck
    >>> log = b'{"type":"user-message","text":"hi"}\n{"type":"run-stop","reason":"completed"}\n'
    >>> result = turncheck.check(log)
    >>> result.verdict, result.cycles, result.findings
    ('pass', 1, ())
    """
    from turncheck.conformance.check import judge  # noqa: PLC0415
    from turncheck.model.core.policies import DEFAULT  # noqa: PLC0415

    with _opened(log) as stream:
        return judge.check(_name(log), stream, format_name=format_name, strict=strict, policies=policies or DEFAULT)


def project(
    log: Log, *, format_name: str | None = None, policies: "Policies | None" = None
) -> "list[SessionProjection]":
    r"""Return the cycles that a log projects to, by session, as the command ``project --json`` prints them.

    Raises what ``check`` raises.

    >>> import turncheck
    >>> log = b'{"type":"user-message","text":"hi"}\n{"type":"run-stop","reason":"completed"}\n'
    >>> (session,) = turncheck.project(log)
    >>> [(cycle.root, cycle.stop, cycle.reason) for cycle in session.cycles]
    [(0, 1, 'completed')]
    """
    from turncheck.conformance.check.projecting import projected  # noqa: PLC0415
    from turncheck.model.core.policies import DEFAULT  # noqa: PLC0415

    with _opened(log) as stream:
        return projected(stream, format_name=format_name, policies=policies or DEFAULT)


def verify(
    target: str,
    *,
    laws: Sequence[str] = (),
    examples: int = 200,
    seed: int = 0,
    timeout: float = 5.0,
    budget: float | None = None,
) -> "tuple[Result, dict[str, AnyCounterexample]]":
    """Hold an implementation to the laws, as the command ``verify`` does; return the result and the counterexamples.

    *target* is that of the command: ``python:module:name``, ``cmd:command line``, a URL, a known runtime. *laws* are
    names or globs, all by default; *examples* is the number of generated cases, *timeout* the seconds per answer,
    *budget* the seconds for all. The counterexamples are the smallest that were found, by law. A target that runs in
    other processes needs the caller's main module to be importable without side effects.

    Raises BadTargetError for a target that is none, TargetError for one that does not start or breaks.

    >>> import turncheck
    >>> result, failed = turncheck.verify("reference", laws=["follow-up-fifo"], examples=5)
    >>> result.exit_code, failed
    (0, {})
    """
    from turncheck.adapters.targets.registry import open_target  # noqa: PLC0415
    from turncheck.conformance.laws.registry import selected  # noqa: PLC0415
    from turncheck.conformance.verify.verification import subjects_of, verify_target  # noqa: PLC0415

    with open_target(target, timeout=timeout) as opened:
        chosen = selected(subjects_of(opened), list(laws))
        return verify_target(opened, chosen, examples=examples, seed=seed, budget=budget)


def __getattr__(name: str) -> Any:
    if name in ("Monitor", "SessionFinding"):
        from turncheck.conformance.check import monitor  # noqa: PLC0415

        return getattr(monitor, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _opened(log: Log) -> AbstractContextManager[Any]:
    match log:
        case bytes():
            return BytesIO(log)
        case BufferedIOBase():
            return nullcontext(log)
        case _:
            return open_binary(Path(log))


def open_binary(path: Path) -> BufferedReader:
    """Open a file for reading bytes. Raises OSError."""
    return path.open("rb")


def _name(log: Log) -> str:
    return "-" if isinstance(log, bytes | BufferedIOBase) else str(log)
