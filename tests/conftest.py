"""Slow tests, each with the measured reason: ``make quick`` leaves them out, ``make slow`` runs them alone."""

from pathlib import Path
from typing import Final

import pytest
from slow_places import SLOW

TESTS: Final = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow places, and put the longest of them first."""
    places = {name: place for place, name in enumerate(SLOW)}

    def place(item: pytest.Item) -> int:
        own = item.path.relative_to(TESTS)
        return next((places[str(one)] for one in (own, *own.parents) if str(one) in places), len(places))

    for item in items:
        name = next(iter([*SLOW][place(item) :]), None)
        if name is not None:
            item.add_marker(pytest.mark.slow(reason=SLOW[name]))
    items.sort(key=place)
