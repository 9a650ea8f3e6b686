"""The mini-language of targets, ``kind`` or ``kind:rest``, and the one place where a kind is added."""

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import TracebackType
from typing import Final, Protocol, Self

from turncheck.model.extras import MissingExtraError, needs_extra

from ..protocol.connection import START_SECONDS, Connection
from ..protocol.errors import BadTargetError, StartError
from ..protocol.messages import Profile
from ..protocol.projector import ProjectorTarget
from ..protocol.runtime import RuntimeTarget
from ..references.registry import REFERENCES
from .environments import Say
from .reference_projector import MACHINE, ReferenceTarget
from .remote_projector import RemoteProjector
from .remote_runtime import RemoteRuntime
from .runtime_catalog import command_of, find, known

# -P: the worker imports its own modules before the working directory is importable, so that no file there shadows them.
WORKER: Final = (sys.executable, "-P", "-m", "turncheck.adapters.targets.worker")


@dataclass(frozen=True)
class Options:
    """The options with which a target of any kind is opened."""

    timeout: float
    start_seconds: float = START_SECONDS
    profile: Profile | None = None
    hash_seed: int | None = None
    say: Say = lambda _: None


@dataclass(frozen=True)
class Target:
    """An open target in the roles that its profile names, each with the same process behind it."""

    projector: ProjectorTarget | None = None
    runtime: RuntimeTarget | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for face in (self.projector, self.runtime):
            if face is not None:
                face.close()


class Opener(Protocol):
    """A function that opens a target from its text and the rest behind the kind."""

    def __call__(self, text: str, rest: str, options: Options) -> Target:
        """Raises BadTargetError where *rest* does not fit the kind, and the errors of ``open_target``."""
        ...


@dataclass(frozen=True)
class Kind:
    """A kind of target."""

    form: str
    description: str
    open: Opener


def open_target(
    text: str,
    *,
    timeout: float,
    profile: Profile | None = None,
    hash_seed: int | None = None,
    start_seconds: float = START_SECONDS,
    say: Say = lambda _: None,
) -> Target:
    """Open the target that *text* names, one of ``KINDS`` or a known runtime; close it, or use it in ``with``.

    *timeout* is in seconds per answer, *start_seconds* at least for the first. *profile* takes the place of the one
    that the target declares. *hash_seed* is the PYTHONHASHSEED of its process. *say* is called with a line before each
    slow step: a known runtime's environment is made when it is first opened.

    Raises BadTargetError where *text* names none, StartError where it cannot be started or lacks its extra, and
    TargetError where it starts and breaks at once (docs/protocol.md).

    >>> with open_target("reference:interaction", timeout=5.0) as target:
    ...     target.projector, target.runtime.profile.machine
    (None, 'interaction')
    """
    options = Options(timeout, start_seconds, profile, hash_seed, say)
    runtime = find(text)
    if runtime is not None:
        command, environment = command_of(runtime, say)
        return _remote(text, command, options, environment)
    name, _, rest = text.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        forms = "".join(f"\n  {kind.form:28} {kind.description}" for kind in KINDS.values())
        meant = _meant(text)
        hint = f"\nperhaps you mean {meant}" if meant else ""
        names = f"\n  {'a known runtime':28} {', '.join(known())}"
        raise BadTargetError(f"no target {text!r}; a target is one of{forms}{names}{hint}")
    return kind.open(text, rest, options)


def open_projector(
    text: str, *, timeout: float, profile: Profile | None = None, start_seconds: float = START_SECONDS
) -> ProjectorTarget:
    """Open a target that projects; the parameters are those of ``open_target``.

    Raises the errors of ``open_target``, and StartError where it is no projector.

    >>> with open_projector("reference", timeout=5.0) as projector:
    ...     len(projector.project([{"type": "user-message", "text": "hi"}]).cycles)
    1
    """
    target = open_target(text, timeout=timeout, profile=profile, start_seconds=start_seconds)
    if target.projector is None:
        target.__exit__(None, None, None)
        raise StartError(f"not a projector: {text} has another role")
    return target.projector


def open_runtime(
    text: str, *, timeout: float, profile: Profile | None = None, start_seconds: float = START_SECONDS
) -> RuntimeTarget:
    """Open a target that can be driven; the parameters are those of ``open_target``.

    Raises the errors of ``open_target``, and StartError where it is no runtime.

    >>> from turncheck.model.core.stimuli import User
    >>> with open_runtime("reference:interaction", timeout=5.0) as runtime:
    ...     begun = runtime.reset()
    ...     [event["type"] for event in runtime.apply(User(id="m1", text="hi")).events]
    ['user-message', 'model-request']
    """
    target = open_target(text, timeout=timeout, profile=profile, start_seconds=start_seconds)
    if target.runtime is None:
        target.__exit__(None, None, None)
        raise StartError(f"not a runtime: {text} has another role")
    return target.runtime


_ATTRIBUTE: Final = re.compile(r"[\w.]+:[\w.]+")
_RUN_BY: Final = {".py": "python", ".js": "node", ".cjs": "node", ".mjs": "node"}


def _meant(text: str) -> str:
    """Guess the target that *text*, without a kind, means; empty without a guess."""
    if _ATTRIBUTE.fullmatch(text):
        return f"python:{text}"
    program = _RUN_BY.get(PurePath(text).suffix)
    command = text if " " in text else f"{program} {text}"
    return shlex.quote(f"cmd:{command}") if program else ""


def _reference(text: str, rest: str, options: Options) -> Target:
    if rest in REFERENCES:
        return _remote(text, (*WORKER, text), options)
    if rest not in {"", MACHINE}:
        there = ", ".join(REFERENCES)
        raise BadTargetError(f"no target {text!r}: the reference projects by {MACHINE}, and runs {there}: no {rest!r}")
    if options.hash_seed is not None:
        return _remote(text, (*WORKER, "reference"), options)

    def again(hash_seed: int) -> ProjectorTarget:
        projector = _reference(text, rest, replace(options, hash_seed=hash_seed)).projector
        assert projector is not None
        return projector

    return Target(ReferenceTarget(text, again, options.profile))


def _python(text: str, rest: str, options: Options) -> Target:
    if not _ATTRIBUTE.fullmatch(rest):
        raise BadTargetError(
            f"no target {text!r}: expected python:package.module:attribute, as in python:myapp.turns:project"
        )
    return _remote(text, (*WORKER, rest), options)


def _command(text: str, rest: str, options: Options) -> Target:
    try:
        command = shlex.split(rest)
    except ValueError as error:
        raise BadTargetError(f"no target {text!r}: the command line cannot be read: {error}") from error
    if not command:
        raise BadTargetError(f"no target {text!r}: expected cmd:command line, as in 'cmd:node projector.mjs'")
    return _remote(text, command, options)


def _http(text: str, rest: str, options: Options) -> Target:  # noqa: ARG001 - the whole text is the address
    from .http.options import worker_command  # noqa: PLC0415 - only this kind needs argparse

    try:
        command = worker_command(text)
    except ValueError as error:
        raise BadTargetError(f"no target {text!r}: {error}") from error
    try:
        needs_extra("http", "an http target")
    except MissingExtraError as error:
        raise StartError(str(error), see="") from error
    return _remote(text, command, options)


def _remote(
    text: str, command: Sequence[str], options: Options, environment: Mapping[str, str] | None = None
) -> Target:
    connection = Connection(
        text,
        command=command,
        environment=environment,
        timeout=options.timeout,
        start_seconds=options.start_seconds,
        hash_seed=options.hash_seed,
    )
    try:
        roles = (options.profile or connection.hello.profile).roles
        return Target(
            RemoteProjector(connection, options.profile) if "projector" in roles else None,
            RemoteRuntime(connection, options.profile) if "runtime" in roles else None,
        )
    except BaseException:
        connection.close()
        raise


KINDS: Final[Mapping[str, Kind]] = {
    "reference": Kind(
        "reference[:MACHINE]", "the model's own projector; or the reference runtime of a machine", _reference
    ),
    "python": Kind(
        "python:module:attribute",
        "a function of the events, or an object with `project`, in a worker process of ours",
        _python,
    ),
    "http": Kind("http://127.0.0.1:PORT/path", "an AG-UI endpoint on this machine; see docs/http.md", _http),
    "cmd": Kind("cmd:command line", "a program that speaks the adapter protocol on stdin and stdout", _command),
}
"""Every kind of target there is."""
