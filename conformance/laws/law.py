"""A law, its findings and its declaration: one decorator on one function."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from ..observe.runtime_trace import Applied

Kind: TypeAlias = Literal["log", "relation", "run"]
Overlapping: TypeAlias = Literal["each run", "whole", "never"]
"""The way to judge a word in which runs of one session overlap: each run's own part, the whole word, or not at all.

A law that is never judged there looks at what no single run's part shows. It judges all words in which they do not.
"""
Subject: TypeAlias = Literal["log", "projector", "runtime", "collator"]

Observed = TypeVar("Observed")


@dataclass(frozen=True)
class Finding:
    """A law is broken: where (a position, None for the whole), how, and what was expected instead.

    Where the observation itself does not show it, ``again`` does: what the law applied instead, until it broke.
    """

    at: int | None
    message: str
    expected: Any = None
    observed: Any = None
    again: tuple[Applied, ...] = ()


@dataclass(frozen=True)
class Witness:
    """Evidence: something that could have broken the law, and did not (or did: a finding comes beside it).

    ``inferred`` where the adapter inferred it, rather than the implementation showing it: after what.
    """

    inferred: str = ""


Judgement: TypeAlias = Iterator[Finding | Witness]
"""Witnesses and findings, in the order in which a law finds them: it never prints, raises or grades."""

WITNESS = Witness()


def first_finding(judgement: Iterable[Finding | Witness]) -> Finding | None:
    """Return the first finding, None where there is none."""
    return next((item for item in judgement if isinstance(item, Finding)), None)


@dataclass(frozen=True)
class Law:
    """A law: its declaration, and the function ``judge`` that finds where an observation breaks it.

    ``name`` is the function's, ``says`` the first line of its docstring; names are a promise (semantic versioning).
    ``subject`` is what the law judges: a recorded log (`check`), or a projector, a runtime or a collator (`verify`).
    ``evidence`` names what counts as a witness. ``needs`` are the capabilities without which the law is skipped; they
    may also be of the forms ``machine turn``, ``policy abortEnds``, ``policy busy=concurrent`` and
    ``input any`` (a projector whose input may be invalid), and one of ``steps or rounds`` is enough. With ``suite``,
    only `verify --suite` judges it. ``overlapping``: how it judges runs side by side. A relation law applies words
    again: with ``each_word`` every generated word, else a sample. ``since`` is the version that brought the law.
    """

    name: str
    kind: Kind
    clauses: tuple[str, ...]
    says: str
    subject: Subject
    evidence: str
    judge: Callable[[Any], Judgement]
    needs: tuple[str, ...] = ()
    suite: bool = False
    each_word: bool = False
    since: str = "0.1"
    overlapping: Overlapping = "each run"


@dataclass(frozen=True)
class LawsOn(Generic[Observed]):
    """The decorator that makes laws of functions on one kind of observation of one subject."""

    subject: Subject
    kind: Kind

    def __call__(
        self,
        *clauses: str,
        evidence: str,
        needs: tuple[str, ...] = (),
        suite: bool = False,
        each_word: bool = False,
        since: str = "0.1",
        overlapping: Overlapping | None = None,
    ) -> Callable[[Callable[[Observed], Judgement]], Law]:
        """Declare a law: the *clauses* of the sources that it judges, and the fields of `Law`.

        Without *overlapping*, a law on one observation judges each run, and a relation law no word in which runs
        overlap: what it changes, or the place where it kills, is that of one run.
        """
        apart: Overlapping = overlapping or ("never" if self.kind == "relation" else "each run")

        def declare(judge: Callable[[Observed], Judgement]) -> Law:
            name, says = judge.__name__.replace("_", "-"), (judge.__doc__ or "").partition("\n")[0].rstrip(".")
            fields = (name, self.kind, clauses, says, self.subject, evidence, judge, needs, suite, each_word, since)
            return Law(*fields, apart)

        return declare


def declared(names: Mapping[str, object]) -> dict[str, Law]:
    """The laws among a module's *names*, by their own name, in the order in which they are declared."""
    return {law.name: law for law in names.values() if isinstance(law, Law)}
