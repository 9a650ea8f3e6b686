"""Strings of an implementation become text: nothing hidden, nothing too long."""

import sys

from turncheck.conformance.report.formats.html.strings import (
    DEEP,
    LINES,
    LONGEST,
    Folded,
    compact,
    compared,
    said,
    shortened,
)
from turncheck.conformance.report.text import LONG


def texts(lines):
    return ["".join(map(str, line.pieces)) for line in lines]


def differing(lines):
    return [place for place, line in enumerate(lines) if line.differs]


def test_a_string_of_four_kilobytes_is_shown_as_it_is():
    assert said("x" * LONG) == ["x" * LONG]


def test_a_longer_string_is_folded_with_its_length():
    assert said("x" * (LONG + 1)) == [Folded(LONG + 1, "x" * (LONG + 1), cut=False)]


def test_only_the_beginning_of_a_very_long_string_is_there():
    assert said("x" * 1_000_000) == [Folded(1_000_000, "x" * LONGEST, cut=True)]


def test_spelling_makes_no_string_longer_than_what_is_shown():
    (folded,) = said("\u202e" * 1_000_000)
    assert isinstance(folded, Folded)
    assert len(folded.text) == LONGEST


def test_a_long_string_is_folded_where_it_stands():
    assert compact({"text": "x" * 5000, "n": 1}) == ['{"text": "', Folded(5000, "x" * 5000, cut=False), '", "n": 1}']


def test_a_text_cannot_stand_for_a_folded_one():
    assert compact(["\ue0000\ue000", "x" * 5000])[0] == '["⟨U+E000⟩0⟨U+E000⟩", "'


def test_what_is_nested_too_deeply_is_left_out():
    value: list[object] = []
    for _ in range(sys.getrecursionlimit() - 200):
        value = [value]
    assert compact(value) == ["[" * DEEP + '"⟨nested deeper⟩"' + "]" * DEEP]


def test_a_number_that_python_refuses_to_write_is_told_by_its_bits():
    assert compact(1 << 20_000) == ['"⟨a number of 20001 bits⟩"']


def test_a_short_value_stands_on_one_line():
    assert texts(compared({"a": [1, 2]}, None)[0]) == ['{"a": [1, 2]}']


def test_a_long_value_stands_on_lines_of_its_own():
    first, _ = compared({"a": ["x" * 40, "y" * 40], "b": 1}, None)
    assert texts(first) == ["{", '  "a": [', f'    "{"x" * 40}",', f'    "{"y" * 40}"', "  ],", '  "b": 1', "}"]


def test_lines_that_the_other_value_lacks_are_marked():
    first, second = compared([["x" * 40], ["y" * 40]], [["x" * 40], ["z" * 40]])
    assert (differing(first), differing(second)) == ([2], [2])


def test_equal_values_differ_nowhere():
    first, second = compared({"a": 1}, {"a": 1})
    assert (differing(first), differing(second)) == ([], [])


def test_a_value_of_too_many_lines_is_cut():
    first, _ = compared(["x" * 70] * 1000, None)
    assert (len(first), texts(first)[-1]) == (LINES + 1, "…")


def test_a_picture_gets_the_beginning_of_a_long_text():
    assert shortened({"text": "x" * 5000}) == {"text": "x" * LONG}
