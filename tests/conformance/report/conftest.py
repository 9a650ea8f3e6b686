"""Results to render: one of a real run, and others made by hand."""

from typing import Any, NamedTuple

import msgspec
import pytest
from inprocess import InProcess

from turncheck.adapters.protocol.errors import excerpt
from turncheck.adapters.protocol.messages import Implementation, Profile
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.verify.outcome.results import (
    BROKE,
    UNDECIDED,
    Counterexample,
    Crash,
    Evidence,
    Expectation,
    Input,
    LawResult,
    Result,
    WordCounterexample,
    summary,
)
from turncheck.conformance.verify.verification import verify_projector
from turncheck.model.core.policies import DEFAULT
from turncheck.model.core.stimuli import Refusal, ResetOptions, Step, User, Word

PROFILE = Profile(("projector",), ())
FILE = "found/x.one-root.json"


class Given(NamedTuple):
    """The arguments of a renderer."""

    result: Result
    counterexamples: Any


@pytest.fixture(scope="session")
def law():
    """Make a law's result: ``law(verdict, name, why=..., state=...)``."""

    def made(verdict, name="one-root", why="why", state=None, file=None):
        baseline = Expectation(state, name, "it is old", "#7") if state else None
        said = None if verdict == "pass" else why
        return LawResult(name, "log", LAWS[name].clauses, verdict, Evidence(3), said, file, baseline)

    return made


@pytest.fixture(scope="session")
def result():
    """Make a result of laws: ``result(*laws, cut=..., incomplete=..., target=..., crash=...)``."""

    def made(*laws, cut=None, incomplete=False, target="reference", name="ours", crash=None):
        return Result(
            turncheck="0.1.0",
            target=target,
            implementation=Implementation(name, "1.0", "python"),
            profile=PROFILE,
            seed=0,
            crash=crash,
            laws=laws,
            coverage={},
            summary=summary(laws),
            cut=cut,
            incomplete=incomplete,
        )

    return made


@pytest.fixture(scope="session")
def crashed(law, result):
    """A run whose target broke: one law was broken before, and two were not decided."""
    word = Word((User(id="u1", text="hello"),), ResetOptions())
    laws = (law("error", "total", why=UNDECIDED), law("fail", "order"), law("error", "rounds", why=UNDECIDED))
    crash = Crash("it died", exit=9, word=word, counterexample="found/x.target-breaks.json")
    return Given(result(*laws, crash=crash, cut=f"{BROKE}: it died\n  sent: a message", incomplete=True), {})


@pytest.fixture(scope="session")
def broken():
    """A real run that breaks one law of two, with the file that its counterexample was written to."""
    run, found = verify_projector(
        InProcess("projectors.wrong:LastInFirstOut"), selected(["projector"], ["follow-up-fifo", "total"]), examples=0
    )
    laws = tuple(
        msgspec.structs.replace(law, counterexample="found/x.json") if law.verdict == "fail" else law
        for law in run.laws
    )
    return Given(msgspec.structs.replace(run, laws=laws), found)


@pytest.fixture(scope="session")
def hostile(law, result):
    """Make the arguments of a renderer in which every text of the implementation is *text*: ``hostile(text)``.

    With ``breaks=True`` its target broke too.
    """

    def made(text, *, breaks=False):
        log = Counterexample(
            schema=1,
            target=text,
            profile=PROFILE,
            seed=0,
            law="one-root",
            clauses=LAWS["one-root"].clauses,
            message=text,
            input=Input([{"type": text, "text": text, text: 1}, {"type": "user-message", "text": text}], DEFAULT),
            position=0,
            expected=[text],
            observed={text: text},
        )
        user = User(id=text, text=text)
        word = WordCounterexample(
            schema=1,
            target=text,
            profile=PROFILE,
            seed=0,
            law="run-ends-once",
            clauses=LAWS["run-ends-once"].clauses,
            message=text,
            word=Word((user,), ResetOptions()),
            applied=(user,),
            steps=(Step(({"type": "agent-output", "text": text},), (), Refusal("rejected", text)),),
            expected=text,
        )
        laws = (
            law("fail", why=text, file=f"found/{text[:99]}.json"),
            law("fail", "run-ends-once", why=text),
            law("inconclusive", "order", why=text),
            law("error", "total", why=text),
            law("skipped", "rounds", why=text),
        )
        crash = Crash(text, log=log.input, counterexample=f"found/{text[:99]}.json", variant=text)
        options = {"cut": f"{BROKE}: {text}\n  came: {excerpt(text)}", "crash": crash} if breaks else {"cut": text}
        whole = result(*laws, target=text, name=text, **options)
        return Given(whole, {"one-root": log, "run-ends-once": word})

    return made
