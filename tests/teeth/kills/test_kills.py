"""The kills of docs/kills.md: copies of a process lose what a process loses, and each point of a word is killed."""

import sys
from pathlib import Path

import pytest

from turncheck.adapters.targets.environments import KIT
from turncheck.model.core.stimuli import ModelOutput, ModelStop, ResetOptions, Text, User, Word

from .forking import forking
from .outcome import Outcome
from .page import PAGE, figures, read
from .points import LONGEST, killed_everywhere, words_for

KEEPER = str(Path(__file__).with_name("keeper.py"))
ASKED = User(id="u1", text="say one")
WORD = Word((ASKED, ModelOutput(item=Text(text="answer two.")), ModelStop(reason="end-turn"), User(id="u4", text="on")))


def keeper(*arguments):
    return forking("keeper", (sys.executable, KEEPER, *arguments), {"PYTHONPATH": str(KIT)}, 20.0)


@pytest.fixture(scope="module")
def runtime():
    with keeper() as opened:
        yield opened


def outcome_of(runtime, words):
    outcome = Outcome("keeper", 0)
    assert len([*killed_everywhere(runtime, words, outcome)]) == len(words)
    return outcome


def texts(step):
    return [entry["text"] for event in step.events if event["type"] == "model-request" for entry in event["input"]]


def test_a_copy_that_is_killed_loses_what_it_did_not_write(runtime):
    runtime.reset()
    runtime.apply(ASKED)
    runtime.kill()
    runtime.reset()
    assert texts(runtime.apply(User(id="u2", text="say two"))) == ["say two"]


def test_the_next_copy_reads_what_the_last_one_wrote(runtime, tmp_path):
    kept = ResetOptions(state_dir=str(tmp_path))
    runtime.reset(kept)
    runtime.apply(ASKED)
    runtime.kill()
    runtime.reset(kept)
    assert texts(runtime.apply(User(id="u2", text="say two"))) == ["say one", "say two"]


def test_what_was_under_way_to_a_killed_copy_is_not_the_next_ones(runtime):
    runtime.reset()
    runtime.kill(ASKED, 0.0)
    assert runtime.reset().events == ()


def test_each_beginning_is_killed_behind_its_last_stimulus_and_within_it(runtime):
    outcome = outcome_of(runtime, [WORD, Word(WORD.stimuli[:2])])
    assert (outcome.words, outcome.stimuli, outcome.beginnings) == (2, 6, 4)
    assert outcome.evidence["restart-serves"] == 2 * outcome.beginnings
    assert outcome.kills == 2 * outcome.beginnings + 2 * outcome.evidence["idle-restart-changes-nothing"]
    assert outcome.findings == []


def test_a_runtime_that_writes_late_is_found_where_it_is_killed_early():
    with keeper("forgets") as forgets:
        found = outcome_of(forgets, [WORD]).findings
    assert [(one.law, one.message, one.shortest.stimuli) for one in found] == [
        ("restart-keeps", "after a restart the message u… is lost", (ASKED,))
    ]


def test_words_are_drawn_by_their_seed_and_no_two_begin_alike_in_all(runtime):
    words = words_for(runtime, 8, 3)
    assert [len(word.stimuli) <= LONGEST for word in words] == [True] * 8
    assert len({str(word) for word in words}) == 8
    assert words_for(runtime, 8, 3) == words


def test_the_page_shows_what_was_measured():
    assert figures(read()) in PAGE.read_text("utf-8")
