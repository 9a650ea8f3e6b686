"""Near misses: no word is its own, and every literal of the core has some."""

from typing import get_args

import pytest

from turncheck.conformance.generation.logs import _KINDS
from turncheck.conformance.generation.near_misses import near, near_events, near_logs, near_tools
from turncheck.model.core.cycles import GROUPS, OTHER, group_of
from turncheck.model.core.decode import judge
from turncheck.model.core.events import Delivery, Malformed, OutputKind, StopReason, UnknownType

LITERALS = (*get_args(Delivery), *get_args(OutputKind), *get_args(StopReason), *GROUPS, "user-message", "run-stop")


@pytest.mark.parametrize("word", LITERALS)
def test_a_near_miss_differs_in_case_by_spaces_by_a_prefix_and_by_a_letter_that_looks_alike(word):
    found = near(word)
    assert word not in found
    assert {word.swapcase(), f" {word}", f"{word} ", word[:-1], f"{word}s"} <= {*found}
    assert any(not one.isascii() for one in found) or not set(word) & set("aceops")


def test_no_near_miss_of_an_event_is_one():
    assert [event for event in near_events() if not isinstance(judge(event), Malformed | UnknownType)] == []


def test_no_near_miss_of_a_tool_is_of_a_group_of_its_own():
    assert {group_of(tool) for tool in near_tools()} == {OTHER}


def test_a_log_of_near_misses_is_short_enough_to_be_read():
    assert max(map(len, near_logs())) <= 16


def test_no_kind_of_template_is_so_large_that_a_seed_would_vary():
    """Hypothesis mixes constants of loaded modules into choices among more than 127."""
    assert max(map(len, _KINDS)) <= 127
