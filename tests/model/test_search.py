"""Breadth-first search: nearest first, each state once, and the same order every time."""

from turncheck.model.search import reached, shortest

RING = {0: [("a", 1), ("b", 2)], 1: [("a", 3)], 2: [("a", 3), ("b", 0)], 3: []}


def test_each_state_comes_once_with_the_first_of_its_shortest_words():
    assert list(reached([(0, ())], lambda at: RING[at])) == [
        (0, ()),
        (1, ("a",)),
        (2, ("b",)),
        (3, ("a", "a")),
    ]


def test_a_start_is_preferred_to_a_word_of_its_length():
    found = dict(reached([(0, ()), (3, ("x", "y"))], lambda at: RING[at]))
    assert found[3] == ("x", "y")


def test_a_start_that_is_reached_earlier_has_the_shorter_word():
    found = dict(reached([(2, ("x", "y", "z")), (0, ())], lambda at: RING[at]))
    assert found[2] == ("b",)


def test_a_start_that_nothing_leads_to_comes_in_its_turn():
    found = [at for at, _ in reached([(9, ("x",) * 9), (0, ())], lambda at: RING.get(at, []))]
    assert found == [0, 1, 2, 3, 9]


def test_a_state_is_yielded_before_the_next_letter_is_looked_at():
    asked = []

    def onward(at):
        for letter, after in RING[at]:
            asked.append(letter)
            yield letter, after

    assert shortest([(0, ())], onward, lambda at: at == 1) == ("a",)
    assert asked == ["a"]


def test_no_word_leads_to_what_cannot_be_reached():
    assert shortest([(1, ())], lambda at: RING[at], lambda at: at == 0) is None


def test_a_transition_that_is_looked_for_leads_to_none():
    assert shortest([(0, ())], lambda at: [(one, None if (at, one) == (2, "b") else to) for one, to in RING[at]]) == (
        "b",
        "b",
    )
