"""The kills that relation laws ask for, each done once; and what becomes of an open run, where no profile says it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import to_builtins
from msgspec.json import encode

from turncheck.adapters.protocol.messages import RESTART_POLICY
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.stimuli import ResetOptions, Stimulus, User

from ...observe.killed import Killed
from ...observe.killing import killed, unkilled
from ...observe.runtime_trace import RuntimeTrace

_ASKED: Final = User(id="u1", text="say one")


class RuntimeKills:
    """Kills *runtime*, and remembers what it saw: several laws look at one kill. *worked* counts the stimuli.

    ``both`` is False: the words of `verify` are enough to be killed at one point each.
    """

    both = False

    def __init__(self, runtime: RuntimeTarget, worked: Callable[[int], None], *, thrifty: bool = False) -> None:
        self._runtime, self._worked, self._thrifty = runtime, worked, thrifty
        self._killed: dict[bytes, Killed | None] = {}
        self._unkilled: dict[bytes, RuntimeTrace | None] = {}

    @property
    def in_process(self) -> bool:
        """True where a start costs nothing."""
        return self._runtime.in_process

    @property
    def short(self) -> bool:
        """True where short words alone are killed: the run is *thrifty*, and a start costs time."""
        return self._thrifty and not self.in_process

    def killed(
        self, word: Sequence[Stimulus], options: ResetOptions, *, amid: bool = False, times: int = 1
    ) -> Killed | None:
        """``observe.killing.killed``."""
        key = _key(word, amid, times)
        if key not in self._killed:
            found = self._killed[key] = killed(self._runtime, word, options, amid=amid, times=times)
            self._worked(len(word) if found is None else len(found.applied))
        return self._killed[key]

    def unkilled(self, word: Sequence[Stimulus], options: ResetOptions, *, spare: bool = False) -> RuntimeTrace | None:
        """``observe.killing.unkilled``."""
        key = _key(word, spare)
        if key not in self._unkilled:
            found = self._unkilled[key] = unkilled(self._runtime, word, options, spare=spare)
            self._worked(len(word) if found is None else len(found.steps))
        return self._unkilled[key]


def inferred_fate(runtime: RuntimeTarget) -> Mapping[str, str]:
    """Return what becomes of an open run at a restart, where *runtime* persists and its profile does not say it.

    One kill tells it: of a run that awaits its first response. Raises TargetError.
    """
    profile = runtime.profile
    if not profile.can("persistence") or RESTART_POLICY in profile.policies:
        return {}
    found = killed(runtime, (_ASKED,), ResetOptions())
    return {} if found is None or found.fate is None else {RESTART_POLICY: found.fate}


def _key(word: Sequence[Stimulus], *more: Any) -> bytes:
    return encode([to_builtins(tuple(word)), *more])
