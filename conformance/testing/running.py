"""One run of a target for the tests of a line in a test module: opened, verified, its counterexamples saved."""

import datetime as dt
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from turncheck.adapters.protocol.errors import BadTargetError, TargetError
from turncheck.adapters.protocol.messages import Role
from turncheck.adapters.targets.registry import Target

from ..cli.saving import saved
from ..laws.registry import selected
from ..verify.kept.baseline import Baseline, grade, read
from ..verify.outcome.results import INTERRUPTED, Counterexamples, Result
from ..verify.variants import joined
from .fixtures import opened_collator, opened_projector, opened_runtime, opened_target

HYPOTHESIS_EXAMPLES: Final = 100
"""Hypothesis's default max_examples: a profile with another value was set by the user."""

EVERY: Final = "*"
"""In the place of a variant's name: each variant."""


@dataclass(frozen=True)
class Suite:
    """The arguments of one line in a test module; None where the command line or the default decides."""

    role: Role
    target: str
    globs: tuple[str, ...]
    timeout: float
    examples: int | None
    seed: int | None
    baseline: str | None
    variant: str | None


@dataclass(frozen=True)
class Run:
    """One run of a target: every law's verdict with its files, and the counterexamples."""

    result: Result
    counterexamples: Counterexamples


_NAMES: Final = pytest.StashKey[dict[tuple[str, float], tuple[str, ...]]]()
_WRITTEN: Final = pytest.StashKey[set[Path]]()


def variants_of(config: pytest.Config, suite: Suite) -> tuple[str, ...]:
    """Return the variants that the tests of *suite* are for; nothing where these are for the default one alone.

    Only to learn the names of each variant, the target is started, once per session. One that cannot be has no names:
    its tests say why.
    """
    asked = config.getoption("turncheck_variant") or suite.variant
    if asked != EVERY:
        return () if asked is None else (str(asked),)
    known = config.stash.setdefault(_NAMES, {})
    key = suite.target, suite.timeout
    if key not in known:
        try:
            with opened_target(suite.target, timeout=suite.timeout) as target:
                known[key] = target.variants
        except (TargetError, BadTargetError, OSError):
            known[key] = ()
    return known[key]


def run(config: pytest.Config, suite: Suite, variant: str | None = None) -> Run:
    """Hold the target to the laws, as *variant*. Raises TargetError, BadTargetError and BaselineError."""
    from ..verify.subjects.projector import EXAMPLES  # noqa: PLC0415 - Hypothesis takes 0.2 s to import
    from ..verify.verification import verify_target  # noqa: PLC0415 - as above

    file = config.getoption("turncheck_baseline") or (config.rootpath / suite.baseline if suite.baseline else None)
    baseline = read(file) if file else None
    examples, seed = _examples(config, suite, EXAMPLES), _seed(config, suite)
    laws = selected([suite.role], suite.globs)
    with _opened(suite, variant) as target:
        result, found = verify_target(target, laws, examples=examples, seed=seed, **_known(baseline))
    if result.cut == INTERRUPTED:
        raise KeyboardInterrupt
    if variant is not None:
        result, found = joined({variant: (result, found)})
    if baseline is not None:
        result = grade(result, baseline, dt.date.today())
    return Run(_saved(config, result, found, variant, whole=examples >= EXAMPLES), found)


@contextmanager
def _opened(suite: Suite, variant: str | None) -> Generator[Target, None, None]:
    text, timeout = suite.target, suite.timeout
    match suite.role:
        case "projector":
            with opened_projector(text, timeout=timeout, variant=variant) as projector:
                yield Target(projector=projector)
        case "collator":
            with opened_collator(text, timeout=timeout, variant=variant) as collator:
                yield Target(collator=collator)
        case "runtime":
            with opened_runtime(text, timeout=timeout, variant=variant) as runtime:
                yield Target(runtime=runtime)


def _known(baseline: Baseline | None) -> dict[str, Any]:
    """Return the limit ``known`` of a run with a baseline."""
    return {} if baseline is None else {"known": baseline.cases}


def _examples(config: pytest.Config, suite: Suite, default: int) -> int:
    """Return the number set by the command line, the test module, the Hypothesis profile, or `verify`'s default."""
    from hypothesis import settings  # noqa: PLC0415 - it takes 0.2 s to import

    for given in (config.getoption("turncheck_examples"), suite.examples):
        if given is not None:
            return int(given)
    profile: int = settings().max_examples
    return default if profile == HYPOTHESIS_EXAMPLES else profile


def _seed(config: pytest.Config, suite: Suite) -> int:
    """Return the seed set by the command line, the test module, or ``--hypothesis-seed``; else 0."""
    hypothesis = str(config.getoption("--hypothesis-seed", None))
    given = (config.getoption("turncheck_seed"), suite.seed, int(hypothesis) if hypothesis.isdecimal() else None, 0)
    return next(int(seed) for seed in given if seed is not None)


def _saved(
    config: pytest.Config, result: Result, found: Counterexamples, variant: str | None, *, whole: bool
) -> Result:
    """Write the counterexamples as `verify` does, and return the result with their files; as it is without a folder.

    A whole run removes those of laws that pass again, but for what this session wrote. Each variant has a folder of its
    own: another one's files say nothing of it.
    """
    folder = _folder(config)
    if folder is None:
        return result
    written = config.stash.setdefault(_WRITTEN, set())

    def named(path: Path) -> str:
        written.add(path)
        return os.path.relpath(path)

    if variant is not None:
        folder /= "".join(one if one.isalnum() or one in "=_" else "-" for one in variant)
    return saved(result, found, folder, named, whole=whole, keep=written)


def _folder(config: pytest.Config) -> Path | None:
    """Return the folder that the command line names, or one in pytest's cache; None where there is no cache."""
    given: Path | None = config.getoption("turncheck_out")
    if given is not None:
        return given.absolute()
    cache = getattr(config, "cache", None)
    try:
        return None if cache is None else Path(cache.mkdir("turncheck"))
    except OSError:
        return None
