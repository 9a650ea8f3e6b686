"""The picture of the single-chat turn: every step and every story is in it, and it says what the machine did."""

from xml.etree import ElementTree as ET

import pytest

from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines.turn import SPEC
from turncheck.model.rendering.mermaid import to_mermaid
from turncheck.model.rendering.scene import Arrow, Band
from turncheck.model.rendering.stories.turn import PARTIES, STORIES, scene
from turncheck.model.rendering.svg import to_svg

STEPS = ("receive", "understand", "decide", "execute", "respond", "record")


def told(story):
    """The lines of one story."""
    lines = scene().rows
    begin = lines.index(Band(story)) + 1
    rest = (at for at in range(begin, len(lines)) if isinstance(lines[at], Band))
    return lines[begin : next(rest, len(lines))]


def story(words):
    return next(title for title in STORIES if words in title)


def to(dest, lines):
    return [line.caption for line in lines if line.dest == dest != line.source]


def steps(lines):
    return [line.caption for line in lines if line.source == line.dest]


def test_every_story_is_told_in_order():
    assert [line.caption for line in scene().rows if isinstance(line, Band)] == list(STORIES)


def test_a_turn_takes_the_six_steps():
    path = list(dict.fromkeys(words.partition(":")[0] for title in STORIES for words in steps(told(title))))
    assert set(STEPS) < set(path)
    assert path[0] == "idle"


def test_every_box_is_a_state_and_all_but_torn_are_there():
    boxes = {words.rpartition(": ")[2] for title in STORIES for words in steps(told(title))}
    assert boxes == set(SPEC.states) - {"torn"}


def test_every_party_says_or_is_told_something():
    said = {party for line in scene().rows if isinstance(line, Arrow) for party in (line.source, line.dest)}
    assert said == set(PARTIES)


@pytest.mark.parametrize("title", STORIES)
def test_no_event_of_a_story_is_ignored(title):
    before, word = STORIES[title]
    stepper = Stepper(SPEC, {"while_active": "followUp", "max_calls": 1, "max_rounds": 16, "token_bound": 9})
    for at, (event, heard) in enumerate((*before, *word)):
        assert "ignore" not in stepper.take(event, heard, at).effects


def test_what_the_user_sees_is_in_the_journal_before():
    lines = told("a turn")
    words = [line.caption for line in lines if line.dest in {"user", "journal"}]
    assert words.index("text") == words.index("agent-output: assistant, all well") + 1
    assert words.index("run-stop: completed") < words.index("completed")


@pytest.mark.parametrize(
    ("words", "terminal"),
    [
        ("denies the turn", "denied"),
        ("invalid", "failed: invalid input"),
        ("bound", "failed: too many calls"),
        ("process ends", "failed: recovered"),
        ("comes during", "completed"),
    ],
)
def test_each_way_ends_with_its_terminal(words, terminal):
    assert to("user", told(story(words))) == [terminal]


def test_only_a_turn_that_was_locked_releases_the_lock():
    releases = {title for title in STORIES if "release" in to("lock", told(title))}
    assert releases == {"a turn", story("denies the turn"), story("bound"), story("comes during")}


@pytest.mark.parametrize(("words", "call"), [("bound", "c2"), ("process ends", "c1"), ("denies the turn", "c1")])
def test_a_call_that_was_not_executed_is_answered_all_the_same(words, call):
    assert f"tool-result: {call}, isError, synthetic" in to("journal", told(story(words)))


def test_a_turn_goes_on_where_a_call_is_denied():
    lines = told(story("denies the call"))
    assert to("journal", lines)[0] == "tool-result: c1, isError"
    assert to("model", lines) == ["request"]
    assert to("user", lines) == []


def test_a_collected_message_begins_the_next_turn():
    assert steps(told(story("comes during"))) == ["decide", "respond", "record", "receive"]


def test_the_pictures_are_well_formed_and_the_same_each_time():
    picture = scene()
    assert ET.fromstring(to_svg(picture)).tag.endswith("svg")
    assert (to_svg(picture), to_mermaid(picture)) == (to_svg(scene()), to_mermaid(scene()))
