"""Generated logs: they exercise everything, and are deep enough for faults that show late."""

from dataclasses import dataclass, field

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings

from turncheck.conformance.generation import logs as generation
from turncheck.conformance.generation.classic_logs import CLASSICS
from turncheck.conformance.generation.drawing import drawing
from turncheck.conformance.generation.logs import Case, cases
from turncheck.conformance.observe.projector_trace import REJECTS, blocks_of, calls_of, steers_of
from turncheck.conformance.verify.outcome.coverage import Coverage
from turncheck.conformance.verify.outcome.results import Input
from turncheck.conformance.verify.subjects.projector import EXAMPLES
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project

WELL_FORMED = sorted(set(generation._TEMPERS) - {"misplaced", "wild", "strange"})


@dataclass
class Sample:
    """The logs that a seed generates, with their projections."""

    seed: int
    cases: list[Case] = field(default_factory=list)
    projections: list[Projection] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)

    def most(self, count):
        """The greatest *count* of any cycle of each log, the greatest log first."""
        return sorted((max(map(count, found.cycles), default=0) for found in self.projections), reverse=True)


def generated(seed, examples=EXAMPLES):
    sample = Sample(seed)

    @hypothesis.seed(seed)
    @drawing(examples)
    @given(cases())
    def collect(case):
        sample.cases.append(case)
        sample.projections.append(project([judge(event) for event in case.log], case.policies))
        sample.coverage.add(Input(case.log, case.policies))

    collect()
    return sample


@pytest.fixture(scope="module", params=[0, 1])
def sample(request):
    return generated(request.param)


def test_every_row_of_the_machine_is_taken(sample):
    assert sample.coverage.figures()["missed"] == []


def test_logs_of_many_cycles_are_common(sample):
    assert sum(len(found.cycles) >= 4 for found in sample.projections) >= 20


def test_cycles_of_many_steers_are_common(sample):
    assert sum(steers >= 4 for steers in sample.most(lambda cycle: len(steers_of(cycle)))) >= 20


def test_cycles_of_many_calls_are_common(sample):
    assert sum(calls >= 10 for calls in sample.most(lambda cycle: len(calls_of(cycle)))) >= 10


def test_blocks_of_many_groups_occur(sample):
    most = sample.most(lambda cycle: max((len(block.groups) for block in blocks_of(cycle)), default=0))
    assert most[5] >= 4


def test_logs_of_many_promotions_occur(sample):
    assert sum(sum(cycle.kind == "followUp" for cycle in found.cycles) >= 3 for found in sample.projections) >= 5


def test_every_kind_of_anomaly_occurs(sample):
    kinds = {anomaly.kind for found in sample.projections for anomaly in found.anomalies}
    assert kinds == {*REJECTS, "unanswered-call", "truncated"}


def test_call_ids_recur_across_cycles(sample):
    def ids(case, cycle):
        return {case.log[call.at]["callId"] for call in calls_of(cycle)}

    pairs = (
        (case, *found.cycles[place : place + 2])
        for case, found in zip(sample.cases, sample.projections, strict=True)
        for place in range(len(found.cycles) - 1)
    )
    assert sum(bool(ids(case, first) & ids(case, second)) for case, first, second in pairs) >= 20


def test_cuts_fall_inside_the_log(sample):
    assert all(
        case.cuts == sorted({*case.cuts}) and max(case.cuts, default=0) <= len(case.log) for case in sample.cases
    )


def test_the_same_seed_generates_the_same_logs():
    assert generated(1, 40).cases == generated(1, 40).cases


@pytest.mark.parametrize("temper", WELL_FORMED)
def test_well_formed_logs_have_no_rejecting_anomaly(temper, monkeypatch):
    monkeypatch.setattr(generation, "_TEMPERS", {temper: generation._TEMPERS[temper]})

    @given(cases())
    @settings(max_examples=50, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    def permitted(case):
        found = project([judge(event) for event in case.log], case.policies)
        assert [anomaly for anomaly in found.anomalies if anomaly.kind != "truncated"] == []

    permitted()


def test_given_policies_are_the_only_ones():
    policies = Policies("steer", "hold", "drop")

    @given(cases(policies=policies))
    @settings(max_examples=20, database=None, deadline=None)
    def kept(case):
        assert case.policies == policies

    kept()


def test_the_classics_alone_take_every_row_under_all_policies():
    coverage = Coverage()
    for log, policies, cuts in CLASSICS:
        coverage.add(Input(log, policies, cuts))
    figures = coverage.figures()
    assert (figures["missed"], figures["policies"]) == ([], "18/18")
