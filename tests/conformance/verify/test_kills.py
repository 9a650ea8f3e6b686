"""Which words of a run are killed: never by the clock, so that a busy machine gives the verdict of a quiet one."""

import pytest
from runtimes.lasting import Lasting

from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.laws.runtime.restarts.kills import SHORT
from turncheck.conformance.verify.verification import verify_runtime

RESTARTS = [LAWS["restart-serves"], LAWS["restart-reaches-children"]]


def longest(*, here, thrift):
    """The most stimuli that a session had before a kill, of a runtime that is *here* in this process or elsewhere."""
    applied, killed = [], []

    class Counted(Lasting):
        in_process = here

        def reset(self, *options):
            applied.clear()
            return super().reset(*options)

        def apply(self, stimulus):
            applied.append(stimulus)
            return super().apply(stimulus)

        def kill(self, *_):
            killed.append(len(applied))
            super().kill()

    verify_runtime(Counted(), RESTARTS, words=0, thrift=thrift)
    return max(killed)


def test_a_quick_run_kills_short_words_alone():
    assert longest(here=False, thrift=10) <= SHORT


@pytest.mark.parametrize(("here", "thrift"), [(False, 1), (True, 1), (True, 10)])
def test_any_other_run_kills_long_words_too_and_so_does_a_quick_one_where_a_start_costs_nothing(here, thrift):
    assert longest(here=here, thrift=thrift) > SHORT
