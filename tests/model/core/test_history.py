"""What an arrangement makes of a history, where no policy is in the way: nothing."""

import pytest

from turncheck.model.core.history import ARRANGEMENTS, Entry, arranged
from turncheck.model.core.stimuli import Shown

HISTORY = [
    Entry(Shown(role="user", text="say one", ids=("u1",))),
    Entry(Shown(role="assistant", call_id="c1", tool="read"), 1),
    Entry(Shown(role="assistant", text="I look."), 1),
    Entry(Shown(role="tool", call_id="c1", text="no such file", is_error=True), 1),
    Entry(Shown(role="assistant", text="It is not there."), 2),
    Entry(Shown(role="user", text="say two", ids=("u2",))),
]


def test_by_default_it_is_as_it_was_said():
    assert arranged(HISTORY, {}) == [entry.shown for entry in HISTORY]


@pytest.mark.parametrize(("policy", "value"), [(name, value) for name, them in ARRANGEMENTS.items() for value in them])
def test_an_arrangement_neither_loses_nor_invents_an_entry(policy, value):
    shown = arranged(HISTORY, {policy: value})
    texts = " ".join(str(one.text) for one in shown)
    hidden = "no such file" if value == "own-words" else None
    assert all(str(entry.shown.text) in texts for entry in HISTORY if entry.shown.text != hidden)
    assert [one.call_id for one in shown].count("c1") == 2


def test_where_a_tool_ended_amid_its_response_its_result_stands_there():
    call, text = Shown(role="assistant", call_id="c1"), Shown(role="assistant", text="I look.")
    entries = [Entry(call, 1, 1), Entry(text, 1, 3), Entry(Shown(role="tool", call_id="c1"), 1, 2)]
    orders = {
        value: [one.role for one in arranged(entries, {"resultOrder": value})] for value in ("as-ended", "at-once")
    }
    assert orders == {"as-ended": ["assistant", "assistant", "tool"], "at-once": ["assistant", "tool", "assistant"]}


def test_a_failure_that_is_told_in_its_text_alone_has_no_mark():
    assert not any(one.is_error for one in arranged(HISTORY, {"failures": "told"}))


def test_a_failure_in_the_runtime_s_own_words_keeps_its_mark_and_place():
    shown = arranged(HISTORY, {"failures": "own-words"})
    told = [entry.shown for entry in HISTORY]
    assert [(one.call_id, one.is_error) for one in shown] == [(one.call_id, one.is_error) for one in told]
    assert shown[3].text != "no such file"
