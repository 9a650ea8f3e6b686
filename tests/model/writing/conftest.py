"""A file that is there, to be written again."""

import pytest
from folders import OLD


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(OLD)
    return path
