"""Sequence pictures as plain text fit a terminal, and say what they are told."""

from turncheck.model.rendering.exchange import Exchange, Message, Part
from turncheck.model.rendering.exchange_text import to_text
from turncheck.model.rendering.sequence import columns

TWO = ("user", "agent")
FOUR = ("user", "agent", "model", "tools")


def drawn(*lines, parties=TWO):
    return to_text(Exchange("title", parties, lines)).splitlines()


def test_an_arrow_points_at_who_is_told():
    _, there, back = drawn(Message("user", "agent", "hello"), Message("agent", "user", "hi"))
    assert (there.rstrip("│")[-1], back.strip("│ ")[0]) == ("▶", "◀")


def test_an_answer_is_dashed():
    assert "╌" in drawn(Message("agent", "user", "hi", answer=True))[1]


def test_the_parties_stand_over_their_lifelines():
    heads, row = drawn(Message("user", "agent", "hello"), parties=FOUR)
    assert [heads.index(party) for party in FOUR] == [at - 2 for at, char in enumerate(row) if char == "│"]


def test_words_that_are_too_long_are_cut():
    row = drawn(Message("user", "agent", "long " * 40), parties=FOUR)[1]
    assert "…" in row


def test_no_row_is_wider_than_a_screen():
    rows = drawn(Message("user", "tools", "広い" * 90), Message("tools", "tools", "x" * 200), parties=FOUR)
    assert [row for row in rows[:2] if columns(row) > 80] == []


def test_wide_characters_take_two_columns():
    _, wide, narrow = drawn(Message("user", "agent", "広い"), Message("user", "agent", "abcd"))
    assert columns(wide) == columns(narrow)


def test_what_a_party_does_by_itself_stands_beside_its_lifeline():
    assert drawn(Message("user", "user", "waits"))[1].startswith("   │ waits ")


def test_a_part_is_a_line_of_its_own():
    assert drawn(Part("at once"))[1].strip() == "── at once"
