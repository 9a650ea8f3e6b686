"""Any scene can be drawn, with as many lifelines as it has."""

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from turncheck.model.rendering.mermaid import to_mermaid
from turncheck.model.rendering.scene import Arrow, Band, Scene, Views
from turncheck.model.rendering.svg import to_svg
from turncheck.model.rendering.text import to_text

MANY = ("client 1", "client 2", "root", "root/child", "model", "tools")
VIEWS = Views((), (), {})


def heads(drawing):
    boxes = ET.fromstring(drawing).iter("{http://www.w3.org/2000/svg}rect")
    return [(int(box.attrib["x"]), int(box.attrib["width"])) for box in boxes if box.get("y") == "62"]


@pytest.mark.parametrize("views", [None, VIEWS])
def test_every_lifeline_has_its_head_beside_the_others(views):
    boxes = heads(to_svg(Scene("many", MANY, (Band("paused", stroke="other"),), views)))
    assert len(boxes) == len(MANY)
    assert all(x + width < after for (x, width), (after, _) in pairwise(boxes))


def test_a_long_name_of_a_lifeline_fits_its_head():
    ((_, short), (_, wide)) = heads(to_svg(Scene("t", ("a", "compactor of the root"), ())))
    assert short < wide


@pytest.mark.parametrize("draw", [to_svg, to_mermaid, to_text])
def test_an_arrow_can_join_any_two_lifelines(draw):
    assert "spawns" in draw(Scene("many", MANY, (Arrow("root", "root/child", "spawns"),)))


def test_the_lifelines_of_mermaid_have_names_that_it_takes():
    assert "    root->>root_child: spawns" in to_mermaid(Scene("many", MANY, (Arrow("root", "root/child", "spawns"),)))


@pytest.mark.parametrize(("words", "grounds"), [("short", 0), ("long " * 20, 1)])
def test_words_that_reach_another_lifeline_get_a_ground(words, grounds):
    drawing = to_svg(Scene("t", ("one", "two", "three"), (Arrow("one", "three", words),)))
    assert drawing.count('class="paper"') == 1 + grounds


def test_a_mark_needs_no_position():
    assert 'class="mark"' in to_svg(Scene("t", ("one", "two"), (Arrow("one", "two", "here", marked=True),)))
