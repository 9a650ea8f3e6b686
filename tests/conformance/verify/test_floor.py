"""The evidence floor: what has to happen before a verdict means anything is counted, named where it is missing, and 2.

A law that fails is a finding, and 1, also where the floor is missed.
"""

import pytest
from inprocess import InProcess
from msgspec.structs import replace
from runtimes import wrong
from runtimes.lifecycle.hosting import Hosting
from runtimes.right import Right
from runtimes.target import CAPABILITIES

from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.references.interaction.runtime import InteractionRuntime
from turncheck.conformance.automata.learn.abstraction import Bounds, letter_named
from turncheck.conformance.automata.n_complete.reference import model_of
from turncheck.conformance.automata.n_complete.run import Plan, verify_suite
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.verify.engine import Options
from turncheck.conformance.verify.verification import verify_projector, verify_runtime
from turncheck.model.core.stimuli import ModelFail

LIFE = ("a message is accepted", "the model is asked", "a run completes")
CYCLES = ("a direct cycle is projected", "a follow-up cycle is projected")
DECLARED = ("policies", "feed", "steps", "rounds")
HOSTED = ("sessions", "images", "usage", "persistence", "store-faults")
RUNTIME = selected(["runtime"])
PROJECTOR = selected(["projector"])


def runtime_result(runtime, laws=RUNTIME, *, words=12, **options):
    return verify_runtime(runtime, laws, words=words, hash_seed=4321, **options)[0]


def projector_result(name, laws=PROJECTOR, *, capabilities=DECLARED, examples=30, **options):
    target = InProcess(f"projectors.{name}", Profile(("projector",), capabilities))
    return verify_projector(target, laws, examples=examples, **options)[0]


def names(result):
    return tuple(item.what for item in result.floor)


def missing(result):
    return {item.what for item in result.floor if not item.count}


def failing(result):
    return {law.law for law in result.laws if law.verdict == "fail"}


class RefusesWhenIdle(Right):  # type: ignore[misc] # found by pytest's pythonpath
    """Every message is refused: the agent is always busy."""

    def user(self, message):
        self.refuse("rejected", "busy")


class RefusesAndDeclaresNothing(wrong.RefusesEveryMessage):  # type: ignore[misc] # found by pytest's pythonpath
    """Every message is refused as unsupported, and no capability is declared that this contradicts."""

    def __init__(self, **given):
        super().__init__(**given | {"without": CAPABILITIES})


class AnswersWithAnError(Right):  # type: ignore[misc] # found by pytest's pythonpath
    """Each message is an error at once, as that of a server that answers 500: the adapter says that the run ended."""

    def ask(self):
        self.stop("error", "HTTP 500")

    def log(self, kind, /, **fields):
        super().log(kind, **fields | ({"source": "adapter"} if kind == "run-stop" else {}))


class NeverFails(Right):  # type: ignore[misc] # found by pytest's pythonpath
    """Its adapter declares failures of the model, and does not pass them on."""

    def model(self, stimulus):
        if isinstance(stimulus, ModelFail):
            self.refuse("not-awaited", "it was not passed on")
        else:
            super().model(stimulus)


@pytest.fixture(scope="module")
def hosted():
    return runtime_result(Hosting())


@pytest.fixture(scope="module")
def projected():
    return projector_result("plain:Plain")


# ---- what is counted ----


def test_a_runtime_is_asked_for_its_life_and_each_capability_that_it_declares(hosted):
    assert names(hosted) == (*LIFE, *CAPABILITIES, *HOSTED)


def test_everything_is_exercised_where_a_runtime_conforms(hosted):
    assert (missing(hosted), hosted.notes) == (set(), ())


def test_a_capability_that_is_not_declared_is_not_asked_for():
    assert names(runtime_result(Right(without=CAPABILITIES), words=0)) == LIFE


def test_a_projector_is_asked_for_cycles_of_each_kind_and_what_it_declares(projected):
    assert names(projected) == (*CYCLES, *DECLARED)


def test_everything_is_exercised_where_a_projector_conforms(projected):
    assert (missing(projected), projected.notes, projected.exit_code) == (set(), (), 0)


def test_what_only_relation_laws_exercise_is_asked_for_where_such_a_law_is_planned():
    laws = [LAWS["follow-up-fifo"]]
    assert names(projector_result("plain:Plain", laws, examples=0)) == (*CYCLES, "policies", "steps", "rounds")


def test_a_run_that_its_budget_cut_is_not_asked_for_capabilities():
    result = runtime_result(Right(), budget=1e-9)
    assert (result.cut, names(result)) == ("the time budget was used up", LIFE)


def test_a_run_that_ended_at_its_first_failure_is_not_asked_for_capabilities():
    result = runtime_result(wrong.EndsTwice(), fail_fast=True)
    first = {"run-ends-once", "runs-ask-the-model", "messages-consumed", "history-whole"}
    assert (failing(result), names(result)) == (first, LIFE)


def test_a_suite_is_asked_for_life_alone():
    letters = tuple(map(letter_named, ("user red", "model-stop")))
    model = model_of(InteractionRuntime(), letters, Bounds(messages=1))
    plan = Plan(model, "hsi", 0)
    result, _ = verify_suite(InteractionRuntime(), plan, [LAWS["equals-model"]], Options(hash_seed=4321))
    assert (names(result), result.exit_code) == (LIFE, 0)


# ---- what is missing ----


@pytest.mark.parametrize("what", [*LIFE, *CAPABILITIES, *HOSTED])
def test_each_item_of_a_runtime_that_is_missing_is_named_and_exits_2(hosted, what):
    floor = tuple(replace(item, count=0) if item.what == what else item for item in hosted.floor)
    result = replace(hosted, floor=floor)
    ((title, said),) = result.notes
    assert (title, said.endswith(what), result.exit_code) == ("the evidence floor is missed", True, 2)


@pytest.mark.parametrize("what", [*CYCLES, *DECLARED])
def test_each_item_of_a_projector_that_is_missing_is_named_and_exits_2(projected, what):
    floor = tuple(replace(item, count=0) if item.what == what else item for item in projected.floor)
    result = replace(projected, floor=floor)
    ((title, said),) = result.notes
    assert (title, said.endswith(what), result.exit_code) == ("the evidence floor is missed", True, 2)


def test_a_run_that_the_target_broke_has_missed_nothing_by_itself():
    result = runtime_result(wrong.Dies(), words=0)
    assert ([title for title, _ in result.notes], result.exit_code) == (["the run is incomplete"], 2)


def test_what_never_happened_is_told_apart_from_what_is_declared(hosted):
    result = replace(hosted, floor=tuple(replace(item, count=0) for item in hosted.floor))
    assert [said.split(" ")[0] for _, said in result.notes] == ["it", "declared,"]


def test_a_capability_whose_stimuli_never_take_place_exits_2():
    result = runtime_result(NeverFails())
    assert (failing(result), missing(result), result.exit_code) == (set(), {"model-failure"}, 2)


def test_a_law_that_fails_exits_1_where_the_floor_is_missed_too():
    result = runtime_result(wrong.NeverCompletes())
    assert (missing(result), result.exit_code) == ({"a run completes"}, 1)


# ---- a floor that the implementation itself prevents is a law that fails ----


@pytest.mark.parametrize(
    ("runtime", "law", "what"),
    [
        (RefusesWhenIdle, "next-message-served", "a message is accepted"),
        (RefusesAndDeclaresNothing, "next-message-served", "a message is accepted"),
        (wrong.RefusesEveryMessage, "next-message-served", "a message is accepted"),
        (wrong.NeverAsks, "runs-ask-the-model", "the model is asked"),
        (AnswersWithAnError, "runs-ask-the-model", "the model is asked"),
        (wrong.NeverCompletes, "answered-runs-complete", "a run completes"),
    ],
)
def test_a_runtime_that_prevents_the_floor_breaks_a_law(runtime, law, what):
    result = runtime_result(runtime(), words=0)
    assert (law in failing(result), what in missing(result), result.exit_code) == (True, True, 1)
