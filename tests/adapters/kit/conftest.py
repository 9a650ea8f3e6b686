"""A process of an agent on the Python kit that does what it is told, reset before each test."""

import pytest
from python_client import FAKES, Client


@pytest.fixture(scope="module")
def process():
    with Client.of(FAKES) as client:
        yield client


@pytest.fixture
def fakes(process):
    process.reset()
    return process
