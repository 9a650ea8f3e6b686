"""Text of an implementation is shown whole, as text, and in its place."""

import pytest

from turncheck.model.rendering.printable import WIDEST, columns, shown, spelled


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ntext", "plain\ntext"),
        ("\u202eevil", "⟨U+202E⟩evil"),
        ("\x00\x1b\x85", "⟨U+0000⟩⟨U+001B⟩⟨U+0085⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("été 日本 🙂", "été 日本 🙂"),
        ("\u200d\u2066", "⟨U+200D⟩⟨U+2066⟩"),
    ],
)
def test_what_is_no_visible_character_is_spelled(text, expected):
    assert spelled(text) == expected


@pytest.mark.parametrize("text", ["x" * 100, "漢" * 100, "\u202e" * 100, "a b " * 100])
def test_long_texts_are_cut(text):
    """However wide its characters, a text keeps to its columns and ends in an ellipsis."""
    assert columns(shown(text)) <= WIDEST
    assert shown(text).endswith("…")


def test_short_texts_are_whole():
    """Lines are joined, nothing else changes."""
    assert shown("one\n\ttwo") == "one two"
