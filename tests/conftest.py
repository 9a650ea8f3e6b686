"""Slow tests, each with the measured reason: ``make quick`` leaves them out, ``make slow`` runs them alone."""

import gc
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from slow_places import SLOW

TESTS: Final = Path(__file__).parent
PLACES: Final[Mapping[str, int]] = {name: place for place, name in enumerate(SLOW)}


gc.set_threshold(50_000, 20, 100)  # from here on: collecting makes thousands of objects, and no garbage


def slow_place(path: Path) -> str | None:
    """The slow place that a file is in, or None."""
    own = path.relative_to(TESTS)
    return next((str(one) for one in (own, *own.parents) if str(one) in SLOW), None)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file whose tests are all left out: that is half of what collecting costs."""
    wanted = {"slow": True, "not slow": False}.get(config.option.markexpr)
    if wanted is None or collection_path.suffix != ".py" or collection_path == Path(__file__):
        return None
    return True if (slow_place(collection_path) is not None) is not wanted else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow places, and put the longest of them first."""
    found = {item: slow_place(item.path) for item in items}
    for item, name in found.items():
        if name is not None:
            item.add_marker(pytest.mark.slow(reason=SLOW[name]))
    items.sort(key=lambda item: PLACES.get(found[item] or "", len(SLOW)))


def pytest_collection_finish() -> None:
    """Spare the thousands of collected tests, which stay to the end, each search for garbage: a sixth of the time."""
    gc.freeze()
