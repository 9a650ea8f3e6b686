"""Start runtimes that misbehave, and end them with the test."""

import pytest
from faulty_targets import LONG, double

from turncheck.adapters.targets.registry import open_runtime


@pytest.fixture
def start():
    targets = []

    def start(fault, *arguments, timeout=LONG, **options):
        targets.append(open_runtime(double(fault, *arguments), timeout=timeout, **options))
        return targets[-1]

    yield start
    for target in targets:
        target.close()
