"""Which words of a run are killed: never by the clock, so that a busy machine gives the verdict of a quiet one."""

import pytest
from runtimes.lifecycle.lasting import Lasting

from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.laws.runtime.restarts.kills import SHORT
from turncheck.conformance.verify.verification import verify_runtime

RESTARTS = [LAWS["restart-serves"], LAWS["restart-reaches-children"]]


@pytest.fixture
def longest(monkeypatch):
    """The most stimuli that a session had before a kill, of a runtime that is *here* in this process or elsewhere."""
    applied: list[object] = []
    killed: list[int] = []
    reset, apply, kill = Lasting.reset, Lasting.apply, Lasting.kill

    def began(self, *options):
        applied.clear()
        return reset(self, *options)

    def took(self, stimulus):
        applied.append(stimulus)
        return apply(self, stimulus)

    def died(self, *moment):
        killed.append(len(applied))
        kill(self, *moment)

    for name, noting in {"reset": began, "apply": took, "kill": died}.items():
        monkeypatch.setattr(Lasting, name, noting)

    def verified(*, here, thrift):
        monkeypatch.setattr(Lasting, "in_process", here)
        verify_runtime(Lasting(), RESTARTS, words=0, thrift=thrift)
        return max(killed)

    return verified


def test_a_quick_run_kills_short_words_alone(longest):
    assert longest(here=False, thrift=10) <= SHORT


@pytest.mark.parametrize("here", [False, True])
def test_any_other_run_kills_long_words_too(longest, here):
    assert longest(here=here, thrift=1) > SHORT


def test_a_quick_run_kills_long_words_too_where_a_start_costs_nothing(longest):
    assert longest(here=True, thrift=10) > SHORT
