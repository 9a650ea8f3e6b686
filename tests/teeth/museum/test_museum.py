"""The museum in short: fewer generated words than in ``make museum``, which makes the page."""

import os
import re
from pathlib import Path

import pytest

from turncheck.conformance.verify.subjects.projector import EXAMPLES

from .exhibit import FOLDER, hunks
from .page import page, recorded
from .registry import EXHIBITS
from .showing import LONGEST, found, objections

SHORT = 10  # generated words, or logs, beside the directed and classic ones
BUDGETS = (0, SHORT, 40, EXAMPLES)
"""Generated words, tried in turn: of 57 exhibits 43 are caught without any, 11 by 10, and 3 by 40."""
THREAD = re.compile(r"[\w.-]+/[\w.-]+#[1-9]\d*")


@pytest.fixture(autouse=True)
def museum_importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, FOLDER.parents[:2])))


@pytest.mark.parametrize("name", EXHIBITS)
def test_a_law_catches_the_exhibit_in_a_short_sequence(name):
    tried = (found(name, words, up_to=EXHIBITS[name].law) for words in BUDGETS)
    what = next((what for what in tried if what.laws), None)
    assert what is not None
    assert what.laws[0] == EXHIBITS[name].law
    assert len(what.sequence) <= LONGEST


@pytest.mark.parametrize("name", EXHIBITS)
def test_nothing_is_held_against_the_mended_exhibit(name):
    assert objections(name, SHORT) == {}


@pytest.mark.parametrize("name", EXHIBITS)
def test_one_hunk_mends_the_exhibit(name):
    assert len(hunks(name)) == 1


@pytest.mark.parametrize("name", EXHIBITS)
def test_the_reference_is_a_thread_of_a_tracker(name):
    assert THREAD.fullmatch(EXHIBITS[name].reference)


@pytest.mark.parametrize("name", EXHIBITS)
def test_the_exhibit_is_a_page_long(name):
    assert len((FOLDER / f"{name}.py").read_text().splitlines()) <= 120


def test_no_report_is_shown_twice():
    references = [exhibit.reference for exhibit in EXHIBITS.values()]
    assert sorted(set(references)) == sorted(references)


def test_every_exhibit_in_the_folder_is_registered():
    files = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.glob("*/*.p[ya]*")}
    assert {name for name in files if "__pycache__" not in name} == set(EXHIBITS)


def test_it_has_defects_of_many_runtimes_that_many_laws_catch():
    assert len(EXHIBITS) >= 25
    assert len({exhibit.runtime for exhibit in EXHIBITS.values()}) >= 8
    assert len({exhibit.law for exhibit in EXHIBITS.values()}) >= 10


def test_what_was_written_down_is_what_the_labels_say():
    assert {name: what.laws[0] for name, what in recorded().items()} == {
        name: exhibit.law for name, exhibit in EXHIBITS.items()
    }


def test_no_sequence_that_was_written_down_is_long():
    assert {name: what for name, what in recorded().items() if len(what.sequence) > LONGEST} == {}


def test_the_page_is_in_step():
    assert (Path(__file__).parents[3] / "docs" / "museum.md").read_text(encoding="utf-8") == page(recorded())
