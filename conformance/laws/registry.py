"""All laws. The order matters: if several laws break, the first names the failure."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from . import collation, log
from .law import Law, declared
from .lifecycle import agent_messages, agents, clients, compaction, concurrency, decisions, provider_limits
from .projector import answers, cycles, experiments, positions, reference, steps
from .runtime import calls, capabilities, completion, contract, ends, machine, messages, requests, reruns, responses
from .runtime.restarts import children, faults, kept, pauses, served

_MODULES: Final = (
    (answers, cycles, steps, positions, experiments, reference),
    (ends, completion, calls, messages, requests, responses, contract, capabilities),
    (concurrency, agents, agent_messages, decisions, compaction, provider_limits, clients),
    (pauses, served, children, kept, faults, reruns, machine),
    (collation, log),
)
"""The one place to add a module of laws. Within a module the order is that of its functions.

``answers`` comes first, since a projector that gives no answer, or a different one each time, hides every other fault;
laws that compare everything come last, since they name no fault."""

LAWS: Final[Mapping[str, Law]] = {
    name: law for room in _MODULES for module in room for name, law in declared(vars(module)).items()
}
"""Name → law."""


def selected(subjects: Sequence[str], patterns: Sequence[str] = (), *, suite: bool = False) -> list[Law]:
    """Return the laws on *subjects* whose names fit one of the glob *patterns* (all laws, where none is given).

    With *suite*, the laws of a suite are included.
    Raises ValueError for a pattern that fits no law of those subjects.
    """
    laws = [law for law in LAWS.values() if law.subject in subjects and (suite or not law.suite)]
    for pattern in patterns:
        if not any(fnmatchcase(law.name, pattern) for law in laws):
            on = f"no law on a {' or a '.join(subjects)} is called {pattern!r}"
            raise ValueError(f"{on}{meant(pattern, laws)}; `turncheck laws` lists them")
    return [law for law in laws if not patterns or any(fnmatchcase(law.name, pattern) for pattern in patterns)]


def meant(name: str, laws: Iterable[Law]) -> str:
    """Return a hint for a mistyped name, "; perhaps …" with the nearest names of *laws*, empty where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only where a name is mistyped

    names = [law.name for law in laws]
    word = name.strip("*")
    near = [one for one in names if word and word in one] or get_close_matches(name, names)
    return f"; perhaps {' or '.join(near[:3])}" if near else ""
