"""The choice of failures to keep per law, and the causes that failures share."""

from functools import partial
from itertools import permutations

import pytest
from inprocess import InProcess

from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.registry import LAWS, selected
from turncheck.conformance.verify.engine import Options, run_and_judge
from turncheck.conformance.verify.exploring.logs import explore
from turncheck.conformance.verify.outcome.failures import Failure, Failures
from turncheck.conformance.verify.outcome.verdict import counterexamples
from turncheck.conformance.verify.subjects.projector import ProjectorSubject
from turncheck.conformance.verify.subjects.subject import Difference, Observation


def failures(several=1):
    """An observation's trace is its difference here, or has several."""
    return Failures(lambda observation: observation.trace or (), several)


def failure(law, case, *differences, message="broken"):
    return Failure(
        law, Observation(case, [Difference("", one) for one in differences]), Finding(None, message), (len(case),)
    )


def kept(found, law="a"):
    return [one.observation.case for one in found.of(law)]


def filled(*some, several=9):
    found = failures(several)
    for one in some:
        found.add(one)
    return found


def causes(*some):
    return [[(one.law, one.observation.case) for one in cause.failures] for cause in filled(*some).causes()]


# ---- which are kept ----


def test_the_smallest_is_kept():
    assert kept(filled(failure("a", "xx"), failure("a", "x"), failure("a", "xxx"), several=1)) == ["x"]


def test_of_two_that_are_as_small_the_first_is_kept():
    assert kept(filled(failure("a", "x"), failure("a", "y"), several=1)) == ["x"]


def test_failures_with_other_messages_are_kept_apart():
    assert kept(filled(failure("a", "xx", message="late"), failure("a", "x", message="lost"))) == ["x", "xx"]


def test_failures_that_diverge_elsewhere_are_kept_apart():
    assert kept(filled(failure("a", "xx", "stop"), failure("a", "x", "abort"))) == ["x", "xx"]


def test_messages_that_differ_in_a_name_alone_are_the_same():
    assert kept(filled(failure("a", "xx", message="u12 is lost"), failure("a", "x", message="u3 is lost"))) == ["x"]


def test_no_more_than_asked_for_are_kept_per_law():
    assert kept(filled(*(failure("a", "x" * size, size) for size in (3, 2, 1)), several=2)) == ["x", "xx"]


@pytest.mark.parametrize("several", [1, 2, 3])
@pytest.mark.parametrize("sizes", [*permutations([1, 2, 3, 4, 5])])
def test_the_smallest_is_never_lost(sizes, several):
    assert kept(filled(*(failure("a", "x" * size, size) for size in sizes), several=several))[0] == "x"


def test_where_all_places_are_taken_a_smaller_one_takes_that_of_the_largest():
    assert kept(filled(*(failure("a", "x" * size, size) for size in (5, 4, 1)), several=2)) == ["x", "xxxx"]


def test_what_an_observation_without_a_failure_shows_too_tells_no_failures_apart():
    found = failures(several=9)
    found.clean(failure("a", "", "chosen").observation)
    for one in (failure("a", "x", "chosen"), failure("a", "xx", "chosen", "stop"), failure("a", "xxx", "stop")):
        found.add(one)
    assert kept(found) == ["x", "xx"]


def test_cases_that_were_shrunk_to_the_same_are_one():
    assert kept(filled(failure("a", "x", "stop"), failure("a", "x", "abort"))) == ["x"]


# ---- which have one cause ----


def test_failures_of_two_laws_on_the_same_case_have_one_cause():
    assert causes(failure("a", "x"), failure("b", "x")) == [[("a", "x"), ("b", "x")]]


def test_failures_that_diverge_at_the_same_place_have_one_cause():
    assert causes(failure("a", "xx", "stop"), failure("b", "y", "stop")) == [[("b", "y"), ("a", "xx")]]


def test_failures_on_other_cases_that_diverge_elsewhere_have_causes_of_their_own():
    assert causes(failure("a", "xx", "stop"), failure("b", "y", "abort")) == [[("b", "y")], [("a", "xx")]]


def test_failures_that_diverge_nowhere_share_no_cause_by_that():
    assert causes(failure("a", "x"), failure("b", "y")) == [[("a", "x")], [("b", "y")]]


def test_a_failure_joins_the_causes_that_it_has_something_in_common_with():
    joining = failure("c", "xx", "stop")
    assert len(causes(failure("a", "xx"), failure("b", "yyy", "stop"), joining)) == 1


# ---- on a projector ----


def explored(name, laws, **options):
    target = InProcess(f"projectors.{name}")
    subject = ProjectorSubject(target, target)
    return run_and_judge(subject, laws, partial(explore, subject, 0), Options(**options))


@pytest.mark.parametrize("name", ["wrong:LastInFirstOut", "wrong:MergesTwoTexts"])
def test_one_fault_that_breaks_several_laws_is_one_cause(name):
    run = explored(name, selected(["projector"]))
    assert len(run.failures) > 2
    assert [set(cause.laws) for cause in run.failures.causes()] == [set(run.failures)]


def test_one_fault_has_one_counterexample_per_law():
    law = LAWS["equals-reference"]
    run = explored("wrong:LastInFirstOut", [law], several=3)
    assert len(counterexamples(run, law)) == 1
