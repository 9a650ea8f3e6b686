"""The parts of a failure's pictures: the machine's rows, the environment's stimuli, the views."""

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from turncheck.adapters.protocol.messages import Profile
from turncheck.conformance.report.formats.html.failure import failure_of
from turncheck.conformance.report.formats.html.machine import picture_of
from turncheck.conformance.report.formats.html.stimulus_rows import rows_of_word
from turncheck.conformance.report.lessons import lessons
from turncheck.conformance.verify.outcome.results import WordCounterexample
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelFail,
    ModelStop,
    Refusal,
    Step,
    Together,
    ToolReturn,
    User,
    Word,
)
from turncheck.model.machines.registry import MACHINES

machines = pytest.mark.parametrize("name", MACHINES)


def places(style):
    """The custom properties that a rule sets."""
    return set(re.findall(r"--([\w-]+):", style))


@machines
def test_every_row_is_somewhere_in_the_picture(name):
    picture = picture_of(name)
    missing = []
    for row in picture.rows:
        properties = places(picture.lit("#x", {row: "lit"}))
        if not any(re.search(f'class="{place}[ "]', picture.symbol) for place in properties):
            missing.append(row.label)
    assert missing == []


@machines
def test_every_state_is_somewhere_in_the_picture(name):
    picture = picture_of(name)
    properties = places(picture.lit("#x", {}, picture.machine.states))
    assert len(properties) == len(picture.machine.states)
    assert [place for place in properties if f'class="{place}"' not in picture.symbol] == []


@machines
def test_the_picture_is_well_formed_and_styles_nothing_by_itself(name):
    symbol = ET.fromstring(picture_of(name).symbol)
    assert {attribute for element in symbol.iter() for attribute in element.attrib} & {
        "style",
        "fill",
        "stroke",
    } == set()


@machines
def test_no_two_rows_of_a_picture_share_their_ground(name):
    grounds = re.findall(r'<rect class="[\w-]+" x="([^"]*)" y="([^"]*)"', picture_of(name).symbol)
    assert len(grounds) == len(set(grounds))


def word(*pairs, applied=()):
    stimuli = tuple(stimulus for stimulus, _ in pairs)
    return WordCounterexample(
        schema=1,
        target="x",
        profile=Profile(("runtime",), ()),
        seed=0,
        law="run-ends-once",
        clauses=(),
        message="",
        word=Word(stimuli[: len(stimuli) - len(applied)]),
        applied=stimuli,
        steps=tuple(step for _, step in pairs),
    )


def captions(found):
    return {at: [arrow.caption for arrow in arrows] for at, arrows in rows_of_word(found).items() if arrows}


def test_a_stimulus_that_an_event_tells_of_is_no_row_of_its_own():
    assert captions(word((User(id="u1", text="a"), Step(({"type": "user-message", "id": "u1"},))))) == {}


def test_an_abort_stands_before_what_it_led_to():
    user = (User(id="u1", text="a"), Step(({"type": "user-message", "id": "u1"},)))
    assert captions(word(user, (Abort(), Step(({"type": "run-stop"},))))) == {1: ["abort"]}


def test_what_is_refused_says_so():
    assert captions(word((User(id="u1", text="a"), Step(refused=Refusal("rejected"))))) == {
        0: ["sends, refused: rejected"]
    }


def test_of_two_messages_at_once_the_lost_one_is_drawn():
    both = Together(stimuli=(User(id="u1", text="a"), User(id="u2", text="b")))
    assert captions(word((both, Step(({"type": "user-message", "id": "u1"},))))) == {0: ["2 stimuli at once", "sends"]}


def test_what_the_log_never_tells_of_is_drawn():
    given = [ModelStop(reason="end-turn"), ModelFail(failure="stream"), Advance(seconds=1), ToolReturn(call_id="c")]
    assert captions(word(*((stimulus, Step()) for stimulus in given))) == {
        0: ["ends: end-turn", "fails: stream", "1 s pass", "returns"]
    }


def test_where_the_environment_begins_to_close_is_told():
    closing = (ModelStop(reason="end-turn"), Step())
    assert captions(word(closing, applied=[closing])) == {
        0: ["from here on the environment answers what is awaited", "ends: end-turn"]
    }


def test_ids_that_are_no_strings_do_no_harm():
    assert captions(word((User(id="u1", text="a"), Step(({"type": "user-message", "id": [{}]},))))) == {0: ["sends"]}


def failure(given, name):
    law = next(law for law in given.result.laws if law.law == name)
    return failure_of(1, law, given.counterexamples[name])


def test_the_finding_is_marked_in_the_list(projector):
    found = failure(projector, "follow-up-fifo")
    marked = [entry.at for entry in found.entries if entry.marked]
    assert marked == [projector.counterexamples["follow-up-fifo"].position]


def test_the_finding_is_marked_in_the_sequence_picture(projector):
    assert failure(projector, "follow-up-fifo").picture.count('class="mark"') == 1


def test_both_tellings_of_the_cycles_are_there_where_they_differ(projector):
    assert [told.who for told in failure(projector, "follow-up-fifo").views] == ["the model", "the implementation"]


def test_the_lines_that_differ_are_marked_in_both_tellings(projector):
    ours, theirs = failure(projector, "follow-up-fifo").views
    assert [line.differs for line in ours.rest] == [line.differs for line in theirs.rest] != []
    assert any(line.differs for line in ours.rest)


def test_the_offending_transition_is_told_in_words(projector):
    assert "the offending transition is active: user-message" in failure(projector, "follow-up-fifo").path


def test_the_way_and_the_offending_transition_have_colours_of_their_own(projector):
    style = failure(projector, "follow-up-fifo").style
    assert (style.startswith("#failure-1-path{"), "var(--lit)" in style, "var(--offending)" in style) == (True,) * 3


def test_an_abort_is_in_the_sequence_picture_of_a_runtime(runtime):
    name = next(iter(runtime.counterexamples))
    assert ">abort<" in failure(runtime, name).picture


def test_a_restart_is_in_the_list_and_in_the_sequence_picture(law):
    found: Any = lessons()["restart-remembers"].wrong
    shown = failure_of(1, law("fail", found.law), found)
    kinds = [entry.kind for entry in shown.entries]
    assert kinds[kinds.index("restarted") :] == ["restarted", "instead", "event", "event", "awaits"]
    assert "the process is killed" in shown.picture
