"""The places that ``make quick`` leaves out exist: a renamed one would fall back into the quick tests unseen."""

from pathlib import Path

import pytest
from slow_places import SLOW

TESTS = Path(__file__).parent


@pytest.mark.parametrize("place", SLOW)
def test_a_slow_place_exists(place):
    assert (TESTS / place).exists()
