"""Which tests are slow, each with the measured reason; ``make quick`` leaves them out, ``make slow`` runs them alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parent

SLOW: Final[Mapping[str, str]] = {
    "docs": "",
    "teeth/museum": "",
    "teeth/variants": "",
    "conformance/cli/test_init_command.py": "",
    "conformance/test_pytest_plugin.py": "",
    "test_action.py": "",
    "test_packaging.py": "",
    "adapters/targets/test_known_runtimes.py": "",
    "adapters/targets/test_environments.py": "",
    "adapters/http/test_pydantic_ai_server.py": "",
    "conformance/report/html/test_html_browser.py": "",
    "conformance/verify/test_reference_targets.py": "",
    "model/checking/test_promela.py": "",
    "model/checking/test_explore.py": "",
    "conformance/n_complete": "",
    "conformance/mutation": "",
    "teeth/mutation": "",
    "adapters/references/test_turn_crashes.py": "",
    "benchmarks": "",
}
"""Folder or file → why it is slow: seconds of processor time on one core, or what it needs that a clone does not have.

The longest come first, since workers take files in this order, and none shall begin a long one when the others end.
"""


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
