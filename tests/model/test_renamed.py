"""The names of version 0.1 still lead to what they named."""

import importlib

import pytest

from turncheck.model import renamed


@pytest.mark.parametrize("old", sorted(renamed.MODULES))
def test_an_old_module_warns_and_has_the_names_of_the_new_one(old):
    with pytest.warns(DeprecationWarning, match=renamed.MODULES[old]):
        module = _imported(old)
    assert module.__doc__ == importlib.import_module(renamed.MODULES[old]).__doc__


def _imported(name):
    import sys

    sys.modules.pop(name, None)
    return importlib.import_module(name)


def test_an_old_class_is_the_new_one():
    from turncheck.model.core.projection import LogProjector

    with pytest.warns(DeprecationWarning, match="since 0.2"):
        assert _imported("turncheck.model.projection").Sessions is LogProjector
