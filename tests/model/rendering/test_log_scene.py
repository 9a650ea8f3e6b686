"""The sequence picture of a log with a cycle."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from turncheck.model.core.decode import judge
from turncheck.model.core.projection import project
from turncheck.model.rendering.log_scene import requests, session_scene
from turncheck.model.rendering.mermaid import to_mermaid
from turncheck.model.rendering.scene import Arrow, Band, Edge, Scene, Views
from turncheck.model.rendering.svg import to_svg

RECORDED = Path(__file__).parents[3] / "diagrams/sequence.jsonl"
HOSTILE = "</text><script>alert(1)</script>\x00\x1b\u202e\ud83d%%{init: {}}%%;#quot;"


def arrows(scene: Scene) -> list[Arrow | Band]:
    """The rows of a picture that has no frames."""
    return [row for row in scene.rows if not isinstance(row, Edge)]


def recorded() -> list[Any]:
    return [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]


def drawn(log: list[Any], mark: int | None = None) -> Scene:
    projection = project([judge(value) for value in log])
    return session_scene("title", log, projection, mark, requests(projection.cycles))


def views(scene: Scene) -> Views:
    assert scene.views is not None
    return scene.views


def user(text: str) -> dict[str, Any]:
    return {"type": "user-message", "text": text}


def said(text: str, response: str = "r1") -> dict[str, Any]:
    return {"type": "agent-output", "kind": "assistant", "text": text, "responseId": response}


def call(call_id: str, response: str = "r1") -> dict[str, Any]:
    return {"type": "agent-output", "kind": "tool-call", "callId": call_id, "tool": "read", "responseId": response}


def result(call_id: str) -> dict[str, Any]:
    return {"type": "tool-result", "callId": call_id, "output": "out"}


STOP = {"type": "run-stop", "reason": "completed"}


def texts(drawing: str) -> list[str | None]:
    root = ET.fromstring(drawing)
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_every_event_of_the_cycle_is_a_row():
    """All positions in order, and one row more wherever the model is asked."""
    log = recorded()
    rows = [row.at for row in arrows(drawn(log))]
    assert [at for at in rows if at is not None] == list(range(len(log)))
    assert rows.count(None) == 2


def test_every_round_stands_on_the_left():
    """Each round's inputs and outputs are the projection's."""
    log = recorded()
    scene = drawn(log)
    rows = arrows(scene)
    found = [[[rows[one].at for one in part] for part in (item.inputs, item.outputs)] for item in views(scene).rounds]
    assert found == [[item.inputs, item.outputs] for item in project([judge(value) for value in log]).cycles[0].rounds]


def test_every_step_stands_on_the_right():
    """Each step of the projection has its bracket, in order, with its groups."""
    log = recorded()
    found = [(step.label, [part.label for part in step.parts]) for step in views(drawn(log)).steps]
    assert found == [
        ("non-steer", []),
        ("ai-block", []),
        ("ai-block", ["read-group", "bash-group"]),
        ("steer", []),
        ("ai-block", []),
        ("ai-block", []),
    ]


@pytest.mark.parametrize("words", ["round 1", "round 2", "non-steer", "steer", "ai-block", "read-group", "bash-group"])
def test_both_views_are_drawn_and_written(words):
    """The SVG and the Mermaid text both name every part of both views."""
    log = recorded()
    assert words in texts(to_svg(drawn(log)))
    assert words in to_mermaid(drawn(log))


def test_rounds_that_overlap_get_bars_side_by_side():
    """A result between two calls of one response belongs to the next round."""
    log = [user("go"), call("a"), result("a"), call("b"), said("done", "r2"), STOP]
    scene = drawn(log)
    assert views(scene).rounds[1].first < views(scene).rounds[0].last
    bars = re.findall(r'<line x1="(\d+)" y1="\d+" x2="\1" y2="\d+"/>', to_svg(drawn(log)))
    assert len(set(bars)) == 2


@pytest.mark.parametrize(
    "event", [user(HOSTILE), said(HOSTILE), {**call("a"), "tool": HOSTILE}, {**result("a"), "output": {"x": HOSTILE}}]
)
def test_hostile_text_stays_text(event):
    """Markup, controls and bidi overrides of a log neither break the XML nor become elements."""
    log = [user("go"), call("a"), event, STOP]
    drawing = to_svg(drawn(log, mark=2))
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(drawing).iter()}
    assert "script" not in tags
    assert not set("\x00\x1b\u202e\ud83d") & set(drawing + to_mermaid(drawn(log, mark=2)))


def test_no_text_of_a_log_can_speak_mermaid():
    """Statement ends, directives and arrows in a text are entities."""
    log = [user("a;b #quot; %%{init: {}}%% A->>B: hi"), STOP]
    label = to_mermaid(drawn(log)).splitlines()[-2].split(": ", 1)[1]
    assert not re.search(r"[;#%{}<>:]", re.sub(r"#\d+;", "", label))


def test_an_absent_text_is_said_to_be_absent():
    """An ai-block that begins with a call has no text."""
    log = [user("go"), call("a"), STOP]
    assert [step.label for step in views(drawn(log)).steps] == ["non-steer", "ai-block, no text"]


@pytest.mark.parametrize("mark", [0, 1, 2, 3])
def test_a_marked_event_is_pointed_at(mark):
    """One row is marked, in the cycle or after it."""
    log = [user("go"), said("done"), STOP, said("too late")]
    assert [row.at for row in arrows(drawn(log, mark)) if row.marked] == [mark]
    assert 'class="mark"' in to_svg(drawn(log, mark))
    assert "▶" in to_mermaid(drawn(log, mark))


@pytest.mark.parametrize("value", [None, 7, [], "text", {}, {"type": 3}, {"type": "<unknown>"}, {"type": "native"}])
def test_what_is_no_event_is_drawn_all_the_same(value):
    """A rejected line in the midst of a cycle breaks no picture."""
    log = [user("go"), value, said("done"), STOP]
    ET.fromstring(to_svg(drawn(log, mark=1)))
    assert arrows(drawn(log))[1].at == 1
