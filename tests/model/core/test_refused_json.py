"""What the strict decoder refuses is named for what it is."""

import pytest

from turncheck.model.core.refused_json import why_refused


@pytest.mark.parametrize(
    ("text", "half"),
    [
        (rb'"\ud800"', r"\ud800 at byte 1"),
        (rb'{"\\ud800": "\udc00"}', r"\udc00 at byte 13"),
        (rb'"\ud83d\ude00 \uD83D"', r"\uD83D at byte 14"),
        (rb'"\ud83d \ude00"', r"\ud83d at byte 1"),
        (rb'"\ud83d\ud83d\ude00"', r"\ud83d at byte 1"),
        (rb'"\ud83d\n\ude00"', r"\ud83d at byte 1"),
    ],
)
def test_json_with_a_lone_surrogate_is_called_that(text, half):
    told = f"JSON with a lone surrogate, {half}, which is half of a character: no text has it"
    assert why_refused(text, ValueError("x")) == told


@pytest.mark.parametrize("text", [b"{", rb'"\ud800', rb'"\\ud800', b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_called_that(text):
    assert why_refused(text, ValueError("why")) == "not JSON (why)"
