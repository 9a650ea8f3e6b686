"""A whole session as one sequence picture."""

from turncheck.model.core.decode import judge
from turncheck.model.core.policies import DEFAULT, Policies
from turncheck.model.core.projection import project
from turncheck.model.rendering.log_scene import session_scene
from turncheck.model.rendering.scene import Arrow, Band
from turncheck.model.rendering.svg import HEAD, embedded, to_svg

ROOT = {"type": "user-message", "text": "go"}
CALL = {"type": "agent-output", "kind": "tool-call", "callId": "c1", "tool": "bash"}
RESULT = {"type": "tool-result", "callId": "c1", "output": "ok"}
TEXT = {"type": "agent-output", "kind": "assistant", "text": "done"}
STOP = {"type": "run-stop", "reason": "completed"}
ASKS = {"type": "model-request", "requestId": "r1"}


def scene(*log, mark=None, before=None, policies=DEFAULT):
    return session_scene("title", log, project([*map(judge, log)], policies), mark, before or {})


def captions(*log, **options):
    return [arrow.caption for arrow in scene(*log, **options).rows]


def test_every_event_is_a_row():
    assert [arrow.at for arrow in scene(ROOT, CALL, RESULT, TEXT, STOP).rows] == [0, 1, 2, 3, 4]


def test_a_log_without_a_cycle_can_be_drawn():
    assert [(row.caption, row.stroke) for row in scene(STOP).rows] == [("run-stop, outside-run", "other")]


def test_all_cycles_have_their_views():
    drawn = scene(ROOT, TEXT, STOP, ROOT, TEXT, STOP)
    assert [span.label for span in drawn.views.rounds] == ["round 1", "round 1"]
    assert [span.label for span in drawn.views.steps] == ["non-steer", "ai-block", "non-steer", "ai-block"]


def test_a_promoted_root_says_what_it_waited_for():
    assert captions(ROOT, ROOT, STOP) == [
        "user message, root",
        "user message, root, promoted follow-up, truncated",
        "run-stop",
    ]


def test_a_follow_up_that_still_waits_says_so():
    assert captions(ROOT, ROOT, policies=DEFAULT)[1] == "user message, waits"


def test_a_steer_and_what_is_dropped_say_so():
    steers = Policies(while_active="steer", queue_after_error="drop")
    follow_up = {**ROOT, "delivery": "followUp"}
    assert captions(ROOT, ROOT, follow_up, {**STOP, "reason": "error"}, policies=steers) == [
        "user message, root",
        "user message, steer",
        "user message, dropped",
        "run-stop",
    ]


def test_an_unanswered_call_is_part_of_its_cycle():
    (call,) = [arrow for arrow in scene(ROOT, CALL, STOP).rows if arrow.at == 1]
    assert (call.caption, call.stroke) == ("tool call, unanswered-call", "")


def test_a_result_is_attached_to_its_call():
    assert scene(ROOT, CALL, RESULT, STOP).views.attached == {2: 1}


def test_a_request_goes_from_the_agent_to_the_model():
    assert [(arrow.source, arrow.dest) for arrow in scene(ROOT, ASKS).rows if arrow.caption == "asks"] == [
        ("agent", "model")
    ]


def test_the_mark_is_on_its_event():
    assert [arrow.at for arrow in scene(ROOT, STOP, mark=1).rows if arrow.marked] == [1]


def test_rows_that_the_log_says_nothing_of_stand_before_their_position():
    abort, quiet = Arrow("user", "agent", "abort"), Band("quiet")
    assert captions(ROOT, STOP, before={1: [abort], 2: [quiet]}) == ["user message, root", "abort", "run-stop", "quiet"]


def test_rows_in_between_move_the_views():
    between = {1: [Arrow("user", "agent", "abort")]}
    assert [span.outputs for span in scene(ROOT, TEXT, before=between).views.rounds] == [(2,)]


def test_an_embedded_picture_brings_no_style_and_no_arrow_head():
    drawing = embedded(scene(ROOT, STOP))
    assert ("<style>" in drawing, HEAD in drawing) == (False, False)


def test_a_picture_of_its_own_brings_both():
    drawing = to_svg(scene(ROOT, STOP))
    assert ("<style>" in drawing, HEAD in drawing) == (True, True)
