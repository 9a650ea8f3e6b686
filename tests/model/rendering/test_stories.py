"""Sequence pictures of machines at work: drawn from what the machine does, well-formed, the same each time."""

import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from turncheck.model.machines.engine import SPEC
from turncheck.model.rendering.mermaid import to_mermaid
from turncheck.model.rendering.scene import Arrow, Band, Edge, Scene
from turncheck.model.rendering.stories import engine, event_flow
from turncheck.model.rendering.stories.paths import PATHS
from turncheck.model.rendering.svg import to_svg
from turncheck.model.rendering.text import to_text

PICTURES = {"engine": engine.scene, "event flow": event_flow.scene}
PICTURES |= {f"{name}'s path": path.scene for name, path in PATHS.items()}
HOSTILE = Scene("a < b", ("one", "two"), (Band("x --> y"), Arrow("one", "two", "<script>; end\n%%")))


@pytest.fixture(params=PICTURES)
def picture(request):
    return PICTURES[request.param]()


def test_every_line_is_between_parties_of_the_picture(picture):
    named = {party for line in picture.rows if isinstance(line, Arrow) for party in (line.source, line.dest)}
    assert named <= set(picture.lifelines)


def test_every_party_says_or_is_told_something(picture):
    named = {party for line in picture.rows if isinstance(line, Arrow) for party in (line.source, line.dest)}
    assert set(picture.lifelines) <= named


def test_the_svg_is_well_formed(picture):
    assert ET.fromstring(to_svg(picture)).tag.endswith("svg")


def test_the_mermaid_has_a_line_for_each_line(picture):
    assert len(to_mermaid(picture).splitlines()) == 4 + len(picture.lifelines) + len(picture.rows)


def test_what_is_said_is_escaped_in_the_svg():
    assert "<script>" not in to_svg(HOSTILE)


def test_what_is_said_is_escaped_in_the_mermaid():
    said = to_mermaid(HOSTILE).split("one->>two: ")[1].strip()
    assert re.fullmatch(r"(\w| |#\d+;)+", said)


def test_the_request_sequence_tells_every_event_that_the_engine_hears():
    heard = {event for before, word in engine.STORIES.values() for event, _ in (*before, *word)}
    assert heard == set(SPEC.events)


def test_the_request_sequence_shows_every_error():
    words = {line.caption for line in engine.scene().rows if isinstance(line, Arrow)}
    assert {f"error {code}" for code in ("llm_error", "stream_error", "tool_error", "max_tool_rounds")} <= words


@pytest.fixture(params=PATHS)
def path(request):
    return PATHS[request.param]


def test_a_path_numbers_its_arrows(path):
    numbers = [row.at for row in path.scene().rows if isinstance(row, Arrow)]
    assert numbers == [*range(1, len(numbers) + 1)]


def frames(path):
    """The frames of a path, each with its depth; the last one is the depth at the end."""
    depth, found = 0, []
    for row in path.scene().rows:
        if isinstance(row, Edge):
            depth += {"else": 0, "end": -1}.get(row.kind, 1)
            found += [(row.kind, depth)] if row.kind in {"opt", "alt", "loop"} else []
    return [*found, depth]


def test_the_frames_of_a_path_end(path):
    assert frames(path)[-1] == 0


def test_every_branch_of_a_path_has_rows(path):
    rows = path.scene().rows
    pairs = [(one, other) for one, other in pairwise(rows) if isinstance(one, Edge) and isinstance(other, Edge)]
    assert [one.caption for one, other in pairs if one.kind != "end" and other.kind in {"else", "end"}] == []


def test_the_engines_path_has_the_frames_of_the_source_one_inside_the_other():
    expected = [("opt", 1), ("alt", 2), ("loop", 1), ("loop", 2), ("alt", 3), ("opt", 4), ("opt", 4), ("alt", 2)]
    assert frames(PATHS["engine"])[:-1] == expected


def bands(name):
    return [row.caption for row in PATHS[name].scene().rows if isinstance(row, Band)]


def test_the_turns_path_has_the_six_steps_of_the_source():
    assert [one.partition(")")[0] for one in bands("turn")] == ["1", "2", "3", "4", "5", "6"]


def test_the_conversations_path_has_the_requirements_that_are_an_exchange():
    assert bands("conversation") == [f"REQ-BED-{n:03}" for n in (2, 3, 4, 5, 6, 7, 8, 11, 12)]


def test_a_frame_surrounds_its_rows_in_the_svg():
    rows = (Edge("loop", "twice"), Arrow("one", "two", "hello"), Edge("end"), Arrow("two", "one", "bye"))
    root = ET.fromstring(to_svg(Scene("frames", ("one", "two"), rows)))
    (frame,) = [one for one in root.iter() if one.get("class") == "frame"]
    top, height = (float(frame.attrib[name]) for name in ("y", "height"))
    inside = [top < float(one.attrib["y1"]) < top + height for one in root.iter() if one.get("marker-end")]
    assert inside == [True, False]


def test_a_frame_opens_branches_and_ends_in_text():
    rows = (Edge("alt", "sunny"), Edge("else", "rainy"), Edge("end"))
    assert to_text(Scene("weather", ("one", "two"), rows)).splitlines()[1:] == [
        "   ┌ alt sunny",
        "   ├ else rainy",
        "   └",
    ]


def test_the_collation_ends_with_one_block_an_iteration():
    shown = [line.dest for line in event_flow.scene().rows if isinstance(line, Arrow) and line.stroke == "answer"]
    assert shown == ["block 1", "block 1", "block 2", "block 2"]
