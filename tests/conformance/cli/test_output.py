"""Text of an implementation on a terminal."""

from turncheck.conformance.cli.printing.output import style


def test_what_is_no_visible_character_is_spelled_on_one_line(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert style("a\x1b[2J\u202e\nb") == "a⟨U+001B⟩[2J⟨U+202E⟩⟨U+000A⟩b"
