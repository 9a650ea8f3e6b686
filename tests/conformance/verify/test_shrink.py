"""Delta debugging on strings: letters are stimuli, and a capital letter is one with an option."""

from typing import Any

import pytest

from turncheck.conformance.verify.shrink import shrink


class Letters:
    """A subject whose cases are strings."""

    def size(self, case):
        return (len(case),)

    def without(self, case, places):
        return "".join(letter for place, letter in enumerate(case) if place not in places)

    def simpler(self, case):
        return [
            case[:place] + letter.lower() + case[place + 1 :] for place, letter in enumerate(case) if letter.isupper()
        ]


def shrunk(case, breaks):
    subject: Any = Letters()
    return shrink(case, subject, lambda smaller: smaller if breaks(smaller) else None)


@pytest.mark.parametrize("size", range(1, 20))
def test_one_letter_is_found_in_any_word(size):
    assert shrunk("a" * size + "x" + "b" * size, lambda word: "x" in word) == "x"


def test_letters_that_must_both_be_there_stay():
    assert shrunk("aaxaaaaybb", lambda word: "x" in word and "y" in word) == "xy"


def test_two_letters_that_need_each_other_fall_together():
    assert shrunk("c1x2r", lambda word: "x" in word and word.count("c") == word.count("r")) == "x"


def test_what_can_be_left_out_once_an_option_is_gone_is_left_out():
    assert shrunk("aXb", lambda word: "x" in word or word == "aXb") == "x"


def test_an_option_that_matters_stays():
    assert shrunk("AXb", lambda word: "X" in word) == "X"


def test_the_empty_word_is_tried():
    assert shrunk("abc", lambda _: True) == ""


def test_a_word_of_which_nothing_can_be_left_out_stays():
    assert shrunk("abc", lambda word: word == "abc") == "abc"
