"""The law on a second compaction's summary, on words that the directed ones do not have."""

from runtimes.lifecycle.compacting import KeepsSummariesBesideTheNewOne, SumsUpTheNewAlone

from turncheck.conformance.laws.law import WITNESS, Finding
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.observe.driver import perform
from turncheck.model.core.stimuli import Compact, ModelOutput, ModelStop, ResetOptions, Text, User

(LAW,) = selected(["runtime"], ["earlier-summary-kept"])


def says(text):
    return ModelOutput(item=Text(text=text)), ModelStop(reason="end-turn")


def summed(text):
    return Compact(), *says(text)


BEGINS = (User(id="u1", text="say 1"), *says("answer 2"), *summed("gist 3"), User(id="u4", text="say 4"))
ENDS = (User(id="u9", text="say 9"),)


def judged(runtime, *word):
    observation = perform(runtime, (*BEGINS, *says("answer 5"), *word, *ENDS), ResetOptions())
    return list(LAW.judge(observation.trace()))


def test_a_summary_may_be_kept_beside_the_next_one_until_a_third_compaction_sums_up_both():
    assert judged(KeepsSummariesBesideTheNewOne(), *summed("gist 6"), *summed("gist 7")) == [WITNESS]


def test_a_summary_that_no_third_compaction_was_shown_either_is_gone():
    _, finding = judged(SumsUpTheNewAlone(), *summed("gist 6"), *summed("gist 7"))
    assert isinstance(finding, Finding)
    assert finding.expected == "gist 3"


def test_a_second_summary_that_says_what_the_first_one_said_is_no_evidence():
    assert judged(SumsUpTheNewAlone(), *summed("gist 3")) == []


def test_a_third_summary_that_says_what_the_first_one_said_is_no_evidence():
    assert judged(SumsUpTheNewAlone(), *summed("gist 6"), *summed("gist 3")) == []
