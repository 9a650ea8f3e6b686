"""The examples of docstrings run, and print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest
from sources import FOLDERS

ROOT = Path(__file__).parents[1]
WRITTEN_FOR_OTHERS = (ROOT / "adapters/runtimes", ROOT / "conformance/templates")
MODULES = [
    "turncheck." + ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
    if ">>> " in path.read_text("utf-8") and not any(path.is_relative_to(other) for other in WRITTEN_FOR_OTHERS)
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_print_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
