"""Pages to look at: of real runs, and of results made by hand."""

from typing import Any, NamedTuple

import msgspec
import pytest
from inprocess import InProcess
from runtimes import wrong

from turncheck.conformance.laws.registry import selected
from turncheck.conformance.report.formats.html.page import render
from turncheck.conformance.verify.outcome.results import summary
from turncheck.conformance.verify.verification import verify_projector, verify_runtime

SCRIPT = "<script>window.obeyed = 1</script><img src=x onerror='window.obeyed = 2'>"
HOSTILE = f"{SCRIPT}</style></script></svg>{{{{ 7 * 7 }}}}\u202egnp.exe\u2066\u200b\x00\x1b[31m\ud800\ue0000\ue000&lt;"


class Given(NamedTuple):
    """The content of the page."""

    result: Any
    counterexamples: Any

    @property
    def page(self):
        return render(self.result, self.counterexamples)


def _with_files(run, found):
    laws = tuple(
        msgspec.structs.replace(law, counterexample=f"found/{law.law}.json") if law.law in found else law
        for law in run.laws
    )
    return Given(msgspec.structs.replace(run, laws=laws), found)


@pytest.fixture(scope="session")
def projector():
    """A projector that breaks several laws, each with a projection of its own."""
    laws = selected(["projector"], ["follow-up-fifo", "anomalies-exact", "total", "deterministic", "one-root"])
    return _with_files(*verify_projector(InProcess("projectors.wrong:LastInFirstOut"), laws, examples=0))


@pytest.fixture(scope="session")
def runtime():
    """A runtime that breaks laws, with words that a log alone does not tell."""
    laws = selected(["runtime"], ["abort-*", "run-*", "calls-answered", "rounds-bounded"])
    return _with_files(*verify_runtime(wrong.NeverEndsAfterAbortAmidATool(), laws, words=0, hash_seed=1))


@pytest.fixture(scope="session")
def unbroken(projector):
    """A run that breaks nothing."""
    laws = tuple(law for law in projector.result.laws if law.verdict == "pass")
    return Given(msgspec.structs.replace(projector.result, laws=laws, summary=summary(laws)), {})


@pytest.fixture(scope="session")
def obeyed(hostile):
    """A result in which every text of the implementation is markup or script."""
    return Given(*hostile(HOSTILE, breaks=True))


@pytest.fixture(scope="session")
def many():
    """Make a page's worth of failures: ``many(given, count)`` repeats those of *given* under other names."""

    def made(given, count):
        broken = [law for law in given.result.laws if law.law in given.counterexamples]
        chosen = [(place, broken[place % len(broken)]) for place in range(count)]
        laws = tuple(msgspec.structs.replace(law, law=f"{law.law}-{place}") for place, law in chosen)
        found = {f"{law.law}-{place}": given.counterexamples[law.law] for place, law in chosen}
        return Given(msgspec.structs.replace(given.result, laws=laws, summary=summary(laws)), found)

    return made
