"""The situations that generation knows, and the words that reach them."""

from typing import Any

import pytest

from turncheck.conformance.generation.situations import access_words, directed, idle, revisit_words, rows_for
from turncheck.model.machines.interaction import SPEC, tables

ALL = frozenset(
    (
        *("steer", "follow-up", "abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input", "clock"),
        *("approval", "client-tools", "compaction", "clients"),
    )
)
POLICIES: list[dict[str, Any]] = [
    {},
    {"busy": "steer"},
    {"busy": "steer", "steerWhilePaused": "instead"},
    {"busy": "followUp"},
    {"retries": 2, "compactionRetries": 1},
    {"compactionRetries": 1},
    {"steerLands": "after-call"},
    {"queueAfterError": "hold", "queueAfterInterrupted": "hold"},
    {"queueAfterError": "drop", "queueAfterInterrupted": "drop"},
    {"queueAfterError": "join", "queueAfterInterrupted": "join"},
    *({"disconnect": "abort", "queueAfterInterrupted": fate} for fate in ("promote", "hold", "drop", "join")),
]


def test_some_policies_let_every_row_be_taken():
    reached = {row for policies in POLICIES for row in access_words(tables(policies), ALL)}
    wanted = {row for row in SPEC.rows if not idle(row)}
    assert wanted - reached == set()


@pytest.mark.parametrize("policies", POLICIES, ids=str)
def test_an_access_word_ends_with_its_row_and_is_the_shortest(policies):
    words = access_words(tables(policies), ALL)
    assert all(row.event == word[-1] for row, word in words.items())
    assert max(map(len, words.values())) <= 7


@pytest.mark.parametrize("policies", POLICIES, ids=str)
def test_a_word_to_a_row_once_more_goes_on_from_its_access_word(policies):
    words, again = access_words(tables(policies), ALL), revisit_words(tables(policies), ALL)
    begun = [again[row][: len(words[row])] == words[row] and again[row][-1] == row.event for row in again]
    assert (set(again), all(begun)) == (set(words), True)


@pytest.mark.parametrize("policies", POLICIES, ids=str)
def test_the_directed_words_take_every_row_that_is_allowed(policies):
    rows = rows_for(ALL, policies)
    words = access_words(tables(policies), ALL)
    prefixes = {word[:end] for word in directed(rows, words) for end in range(len(word) + 1)}
    assert all(words[row] in prefixes for row in rows)


def test_what_is_not_declared_has_no_row():
    events = {row.event for row in rows_for(frozenset(("tools",)), {})}
    assert events == {"user", "text", "tool-call", "model-stop", "tool-return"}


def test_a_message_while_busy_is_tried_only_where_its_fate_is_declared():
    assert [row.source for row in rows_for(ALL, {}) if row.event == "user"] == ["idle"]  # nor amid a compaction
    assert rows_for(ALL, {"busy": "concurrent"}) == rows_for(ALL, {})  # ``overlapping_words`` send one there
    declared = rows_for(ALL, {"busy": "reject"})
    assert [row.source for row in declared if row.event == "user"] == [
        *("idle", "inferring", "executing", "paused", "compacting")
    ]


def test_an_access_word_compacts_what_was_said_before():
    words = access_words(tables({}), ALL)
    compacting = [word for row, word in words.items() if row.source == "compacting"]
    assert compacting
    assert all("model-stop" in word[: word.index("compact")] for word in compacting)
