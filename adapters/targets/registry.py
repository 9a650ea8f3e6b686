"""The mini-language of targets, ``kind`` or ``kind:rest``, and the one place where a kind is added."""

import re
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from turncheck.model.extras import MissingExtraError, needs_extra

from ..protocol.collator import CollatorTarget
from ..protocol.connection import START_SECONDS, Connection
from ..protocol.errors import BadTargetError, StartError
from ..protocol.messages import Profile, Role
from ..protocol.projector import ProjectorTarget
from ..protocol.runtime import RuntimeTarget
from ..protocol.target import Closing
from ..references.registry import REFERENCES
from .environments import Say
from .reference_projector import MACHINE, ReferenceTarget
from .remote_collator import RemoteCollator
from .remote_projector import RemoteProjector
from .remote_runtime import RemoteRuntime
from .runtime_catalog import command_of, find, known

# -P: the worker imports its own modules before the working directory becomes importable: no file there shadows them.
WORKER: Final = (sys.executable, "-P", "-m", "turncheck.adapters.targets.worker")
_REFERENCE: Final = (*WORKER, "reference")
COLLATION: Final = "collation"
"""The machine of the reference collator."""
_COLLATOR: Final = (*WORKER, "turncheck.adapters.references.collation:ReferenceCollator")


@dataclass(frozen=True)
class Target(Closing):
    """An open target in the roles that its profile names; all share one process, if it has one (*connection*)."""

    projector: ProjectorTarget | None = None
    runtime: RuntimeTarget | None = None
    connection: Connection | None = None
    collator: CollatorTarget | None = None

    @property
    def roles(self) -> tuple[Role, ...]:
        """Its roles."""
        faces: Mapping[Role, object] = {
            "projector": self.projector,
            "runtime": self.runtime,
            "collator": self.collator,
        }
        return tuple(role for role, face in faces.items() if face is not None)

    @property
    def variants(self) -> tuple[str, ...]:
        """The names of its variants, the default first; none where it has only one."""
        return () if self.connection is None else self.connection.hello.variants

    def ended(self, seconds: float) -> bool:
        """Ask its process to stop, and return whether it ended by itself within *seconds*; then it is closed."""
        return self.connection is None or self.connection.close(seconds)

    def close(self) -> None:
        """End each role."""
        for face in (self.projector, self.runtime, self.collator):
            if face is not None:
                face.close()


@dataclass(frozen=True)
class Kind:
    """A kind of target; ``command`` makes its process's command line from the text and the part after the kind.

    It raises BadTargetError if that part does not fit the kind, and StartError if the kind's extra is missing. Of a
    *single* target there is only one, which several processes cannot drive at once.
    """

    form: str
    description: str
    command: Callable[[str, str], tuple[str, ...]]
    single: bool = False


def is_single(text: str) -> bool:
    """Return whether there is only one of the target that *text* names, so that it cannot be opened several times.

    >>> is_single("http://127.0.0.1:8000/agent"), is_single("reference")
    (True, False)
    """
    kind = KINDS.get(text.partition(":")[0])
    return kind is not None and kind.single


def open_target(
    text: str,
    *,
    timeout: float,
    profile: Profile | None = None,
    hash_seed: int | None = None,
    start_seconds: float = START_SECONDS,
    until: float = float("inf"),
    say: Say = lambda _: None,
    variant: str | None = None,
) -> Target:
    """Open the target that *text* names, one of ``KINDS`` or a known runtime; close it, or use it in ``with``.

    *timeout* is in seconds per answer, *start_seconds* the minimum for the first. *profile* replaces the one that the
    target declares. *hash_seed* is the PYTHONHASHSEED of its process. After *until* (monotonic seconds) its process is
    asked no more. *variant* is the name of one of the target's; None is its default. *say* is called with a line before
    each slow step: a known runtime's environment is made at its first use.

    Raises BadTargetError if *text* names none or it lacks the variant, StartError if it cannot be started or its extra
    is missing, TargetError if it starts and breaks at once (docs/protocol.md), and OSError where the working directory
    is gone.

    >>> with open_target("reference:interaction", timeout=5.0) as target:
    ...     target.projector, target.runtime.profile.machine
    (None, 'interaction')
    """
    Path.cwd()  # each target starts there: OSError where it is gone, before a process says so with a traceback
    runtime = find(text)
    environment: Mapping[str, str] = {}
    if runtime is not None:
        command, environment = command_of(runtime, say)
    else:
        command = _command_of(text)
    if command == _REFERENCE and hash_seed is None and variant is None:

        def again(seed: int) -> ProjectorTarget:
            twin = open_target(text, timeout=timeout, profile=profile, hash_seed=seed, start_seconds=start_seconds)
            assert twin.projector is not None
            return twin.projector

        return Target(ReferenceTarget(text, again, profile))
    connection = Connection(
        text,
        command=command,
        environment=environment,
        timeout=timeout,
        start_seconds=start_seconds,
        hash_seed=hash_seed,
        until=until,
        variant=variant,
    )
    try:
        _check_variant(variant, connection)
        roles = (profile or connection.hello.profile).roles
        return Target(
            RemoteProjector(connection, profile) if "projector" in roles else None,
            RemoteRuntime(connection, profile) if "runtime" in roles else None,
            connection,
            RemoteCollator(connection, profile) if "collator" in roles else None,
        )
    except BaseException:
        connection.close()
        raise


def _check_variant(variant: str | None, connection: Connection) -> None:
    there = connection.hello.variants
    if variant is not None and variant not in there:
        raise BadTargetError(f"{connection.name} has no variant {variant!r}; it has {', '.join(there) or 'none'}")


def open_projector(
    text: str,
    *,
    timeout: float,
    profile: Profile | None = None,
    start_seconds: float = START_SECONDS,
    variant: str | None = None,
) -> ProjectorTarget:
    """Open a target that projects; the parameters are those of ``open_target``.

    Raises the errors of ``open_target``, and StartError if it is no projector.

    >>> with open_projector("reference", timeout=5.0) as projector:
    ...     len(projector.project([{"type": "user-message", "text": "hi"}]).cycles)
    1
    """
    target = open_target(text, timeout=timeout, profile=profile, start_seconds=start_seconds, variant=variant)
    if target.projector is None:
        raise _lacks("projector", target, text, variant)
    return target.projector


def open_runtime(
    text: str,
    *,
    timeout: float,
    profile: Profile | None = None,
    start_seconds: float = START_SECONDS,
    until: float = float("inf"),
    variant: str | None = None,
) -> RuntimeTarget:
    """Open a target that can be driven; the parameters are those of ``open_target``.

    Raises the errors of ``open_target``, and StartError if it is no runtime.

    >>> from turncheck.model.core.stimuli import User
    >>> with open_runtime("reference:interaction", timeout=5.0) as runtime:
    ...     begun = runtime.reset()
    ...     [event["type"] for event in runtime.apply(User(id="m1", text="hi")).events]
    ['user-message', 'model-request']
    """
    target = open_target(
        text, timeout=timeout, profile=profile, start_seconds=start_seconds, until=until, variant=variant
    )
    if target.runtime is None:
        raise _lacks("runtime", target, text, variant)
    return target.runtime


def open_collator(
    text: str,
    *,
    timeout: float,
    profile: Profile | None = None,
    start_seconds: float = START_SECONDS,
    variant: str | None = None,
) -> CollatorTarget:
    """Open a target that collates; the parameters are those of ``open_target``.

    Raises the errors of ``open_target``, and StartError if it is no collator.

    >>> with open_collator("reference:collation", timeout=5.0) as collator:
    ...     [block.text for block in collator.collate([{"type": "delta", "content": "ha"}])]
    ['ha']
    """
    target = open_target(text, timeout=timeout, profile=profile, start_seconds=start_seconds, variant=variant)
    if target.collator is None:
        raise _lacks("collator", target, text, variant)
    return target.collator


def _lacks(role: Role, target: Target, text: str, variant: str | None) -> StartError:
    """Close *target*, and say that it lacks the role."""
    target.close()
    whose = text if variant is None else f"the variant {variant} of {text}"
    return StartError(f"not a {role}: {whose} is a {' and a '.join(target.roles)}")


_ATTRIBUTE: Final = re.compile(r"[\w.]+:[\w.]+")
_RUN_BY: Final = {".py": "python", ".js": "node", ".cjs": "node", ".mjs": "node"}


def _command_of(text: str) -> tuple[str, ...]:
    name, _, rest = text.partition(":")
    kind = KINDS.get(name)
    if kind is not None:
        return kind.command(text, rest)
    forms = "".join(f"\n  {kind.form:28} {kind.description}" for kind in KINDS.values())
    meant = _meant(text)
    hint = f"\nperhaps you mean {meant}" if meant else ""
    names = f"\n  {'a known runtime':28} {', '.join(known())}"
    raise BadTargetError(f"no target {text!r}; a target is one of{forms}{names}{hint}")


def _meant(text: str) -> str:
    """Guess the target meant by *text* without a kind; empty without a guess."""
    if _ATTRIBUTE.fullmatch(text):
        return f"python:{text}"
    program = _RUN_BY.get(PurePath(text).suffix)
    command = text if " " in text else f"{program} {text}"
    return shlex.quote(f"cmd:{command}") if program else ""


def _reference(text: str, rest: str) -> tuple[str, ...]:
    if rest in REFERENCES:
        return (*WORKER, text)
    if rest in {"", MACHINE}:
        return _REFERENCE
    if rest == COLLATION:
        return _COLLATOR
    there = f"projects by {MACHINE}, collates by {COLLATION}, and runs {', '.join(REFERENCES)}"
    raise BadTargetError(f"no target {text!r}: the reference {there}: no {rest!r}")


def _python(text: str, rest: str) -> tuple[str, ...]:
    if not _ATTRIBUTE.fullmatch(rest):
        raise BadTargetError(
            f"no target {text!r}: expected python:package.module:attribute, as in python:myapp.turns:project"
        )
    return (*WORKER, rest)


def _command(text: str, rest: str) -> tuple[str, ...]:
    try:
        command = tuple(shlex.split(rest))
    except ValueError as error:
        raise BadTargetError(f"no target {text!r}: the command line cannot be read: {error}") from error
    if not command:
        raise BadTargetError(f"no target {text!r}: expected cmd:command line, as in 'cmd:node projector.mjs'")
    return command


def _http(text: str, rest: str) -> tuple[str, ...]:  # noqa: ARG001 - the whole text is the address
    from .http.options import worker_command  # noqa: PLC0415 - only this kind needs argparse

    try:
        command = worker_command(text)
    except ValueError as error:
        raise BadTargetError(f"no target {text!r}: {error}") from error
    try:
        needs_extra("http", "an http target")
    except MissingExtraError as error:
        raise StartError(str(error), see="") from error
    return command


KINDS: Final[Mapping[str, Kind]] = {
    "reference": Kind(
        "reference[:MACHINE]",
        "the model's own projector; or the reference runtime of a machine, or its collator",
        _reference,
    ),
    "python": Kind(
        "python:module:attribute",
        "a function of the events, or an object with `project` or `collate`, in a worker process of ours",
        _python,
    ),
    "http": Kind(
        "http://127.0.0.1:PORT/path", "an AG-UI endpoint on this machine; see docs/http.md", _http, single=True
    ),
    "cmd": Kind("cmd:command line", "a program that speaks the adapter protocol on stdin and stdout", _command),
}
"""Every kind of target there is."""
