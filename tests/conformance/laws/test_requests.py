"""A law on runtimes, on requests that no double shows: more calls than a generated word has."""

from types import SimpleNamespace
from typing import Any

import pytest

from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.runtime.requests import input_loses_nothing


def lost(*inputs):
    """Return the findings on requests with these inputs, one after the other."""
    requests = [SimpleNamespace(at=at, cycle=0, input=shown) for at, shown in enumerate(inputs)]
    trace: Any = SimpleNamespace(requests=requests, policies={}, log=[], whole_responses=list)
    return [item.at for item in input_loses_nothing.judge(trace) if isinstance(item, Finding)]


def result(name):
    return {"role": "tool", "callId": name, "text": "done"}


def said(text):
    return {"role": "assistant", "text": text}


def test_a_result_is_lost_though_one_stays_whose_name_begins_alike():
    assert lost([result("c1"), result("c10")], [result("c10")]) == [1]


@pytest.mark.parametrize("later", [[said("one two")], [said("one"), said("two")]])
def test_a_text_that_is_joined_to_another_is_not_lost(later):
    assert lost([said("one"), said("two")], later) == []


def test_a_text_is_lost_though_somebody_else_says_it():
    assert lost([said("one")], [{"role": "user", "text": "one"}]) == [1]
