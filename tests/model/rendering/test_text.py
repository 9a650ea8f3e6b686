"""Sequence pictures as plain text fit a terminal, and say what they are told."""

from turncheck.model.rendering.printable import columns
from turncheck.model.rendering.scene import Arrow, Band, Scene
from turncheck.model.rendering.text import to_text

TWO = ("user", "agent")
FOUR = ("user", "agent", "model", "tools")


def drawn(*lines, parties=TWO):
    return to_text(Scene("title", parties, lines)).splitlines()


def test_an_arrow_points_at_who_is_told():
    _, there, back = drawn(Arrow("user", "agent", "hello"), Arrow("agent", "user", "hi"))
    assert (there.rstrip("│")[-1], back.strip("│ ")[0]) == ("▶", "◀")


def test_an_answer_is_dashed():
    assert "╌" in drawn(Arrow("agent", "user", "hi", stroke="answer"))[1]


def test_the_parties_stand_over_their_lifelines():
    heads, row = drawn(Arrow("user", "agent", "hello"), parties=FOUR)
    assert [heads.index(party) for party in FOUR] == [at - 2 for at, char in enumerate(row) if char == "│"]


def test_words_that_are_too_long_are_cut():
    row = drawn(Arrow("user", "agent", "long " * 40), parties=FOUR)[1]
    assert "…" in row


def test_no_row_is_wider_than_a_screen():
    rows = drawn(Arrow("user", "tools", "広い" * 90), Arrow("tools", "tools", "x" * 200), parties=FOUR)
    assert [row for row in rows[:2] if columns(row) > 80] == []


def test_wide_characters_take_two_columns():
    _, wide, narrow = drawn(Arrow("user", "agent", "広い"), Arrow("user", "agent", "abcd"))
    assert columns(wide) == columns(narrow)


def test_what_a_party_does_by_itself_stands_beside_its_lifeline():
    assert drawn(Arrow("user", "user", "waits"))[1].startswith("   │ waits ")


def test_a_part_is_a_line_of_its_own():
    assert drawn(Band("at once"))[1].strip() == "── at once"


def test_a_marked_row_is_told_by_a_cross():
    assert "✗ 3 hello" in drawn(Arrow("user", "agent", "hello", at=3, marked=True))[1]
