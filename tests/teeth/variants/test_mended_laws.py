"""Laws that once alarmed at a variant, and were mended: they still find the faults there."""

# mypy: disable-error-code="misc, call-arg"
import pytest
from runtimes.wrong import ForgetsWhatItSaid, RetriesForEver, RoundPerItem, TwoResponsesAreOneRound

from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_runtime
from variants.runtimes import Compacts, ExecutesAsItStreams, IdsBeginAnewInEachRun


def found(runtime, law, words=20):
    result, _ = verify_runtime(
        runtime, selected(["runtime"], [law]), words=words, hash_seed=1, fail_fast=True, shrink=False
    )
    return result.laws[0].verdict


class ForgetsAnew(IdsBeginAnewInEachRun, ForgetsWhatItSaid):
    """Its own texts are not shown again, and each run numbers its requests from one."""


class RoundsAnew(IdsBeginAnewInEachRun, RoundPerItem):
    """One response is several rounds."""


class OneRoundAnew(IdsBeginAnewInEachRun, TwoResponsesAreOneRound):
    """Two responses of a run are one round."""


class RetriesAnew(IdsBeginAnewInEachRun, RetriesForEver):
    """It retries too often."""


@pytest.mark.parametrize(
    ("runtime", "law"),
    [
        (ForgetsAnew, "history-whole"),
        (RoundsAnew, "response-is-one-round"),
        (OneRoundAnew, "response-is-one-round"),
        (RetriesAnew, "model-failure-survived"),
    ],
)
def test_a_fault_is_found_where_ids_begin_anew_in_each_run(runtime, law):
    assert found(runtime(), law) == "fail"


class LosesTheMiddle(Compacts, machine="engine", maxHistoryMessages=6):
    """It leaves out the middle of a long history instead of the beginning."""

    def read(self, message):
        super(Compacts, self).read(message)
        if not self.active and len(self.history) > 6:
            del self.history[1:3]


class CompactsTooEarly(Compacts, machine="engine", maxHistoryMessages=100):
    """It compacts a history far below its bound."""

    def read(self, message):
        super(Compacts, self).read(message)
        if not self.active and len(self.history) > 2:
            self.history[:-1] = self.instead


class CutsAmidARun(Compacts, machine="engine", maxHistoryMessages=6):
    """The history that it keeps does not begin with a user's message."""

    instead = ()

    def shortened(self, places):
        return places[-1] - 1


class SummaryOfNothing(Compacts, machine="engine", maxHistoryMessages=6):
    """The summary stands amid the history, where the model never said it."""

    def read(self, message):
        super(Compacts, self).read(message)
        if not self.active:
            self.history[1:1] = self.instead


@pytest.mark.parametrize("runtime", [LosesTheMiddle, CompactsTooEarly, CutsAmidARun])
def test_a_bound_on_the_history_excuses_nothing_but_a_prefix_beyond_it(runtime):
    assert found(runtime(), "history-whole", words=60) == "fail"


def test_a_summary_stands_first():
    assert found(SummaryOfNothing(), "history-whole") == "fail"


class DeclaresNoBound(Compacts):
    """It compacts, and does not declare it."""


def test_who_declares_no_bound_loses_nothing():
    assert found(DeclaresNoBound(), "history-whole") == "fail"


class LosesEarlyResults(ExecutesAsItStreams, machine="engine"):
    """The result of a tool that ends before its response is over is logged, and never shown."""

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        if self.request is not None:
            self.history.pop()


class ShowsEarlyResultsTwice(ExecutesAsItStreams, machine="engine"):
    """The result of a tool that ends before its response is over is shown at once, and again behind the response."""

    def respond(self):
        asked = [one for one in self.history[self.begun :] if one.role == "tool"]
        self.history += asked
        super().respond()


@pytest.mark.parametrize("runtime", [LosesEarlyResults, ShowsEarlyResultsTwice])
def test_a_tool_that_ends_before_its_response_does_excuses_nothing(runtime):
    assert found(runtime(), "history-whole", words=0) == "fail"


@pytest.mark.parametrize(("order", "verdict"), [("at-once", "pass"), ("as-ended", "fail"), ("paired", "fail")])
def test_where_early_results_stand_is_declared_and_held(order, verdict):
    assert found(ExecutesAsItStreams(resultOrder=order), "history-whole") == verdict
