"""The table of breaks does not rot: each edit applies to the tree, and each break that was tried was noticed."""

import json
from pathlib import Path

import pytest

from broken.breaks import ROOT, breaks
from broken.page import FIGURES

ALL = breaks()


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.clause)
def test_an_edit_applies_to_the_tree_and_changes_it(one) -> None:
    text = (ROOT / one.file).read_text("utf-8")
    assert one.applied(text) != text


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.clause)
def test_the_tests_that_an_edit_names_exist(one) -> None:
    for test in one.tests:
        file, _, name = test.partition("::")
        path: Path = ROOT / "tests" / file
        assert path.exists()
        assert f"def {name.partition('[')[0]}" in path.read_text("utf-8") or not name


def test_no_clause_is_broken_twice() -> None:
    assert len({one.clause for one in ALL}) == len(ALL)


def test_every_break_that_was_tried_was_noticed() -> None:
    noticed = json.loads(FIGURES.read_text("utf-8"))["noticed"]
    assert [clause for clause, by in noticed.items() if by is None] == []
