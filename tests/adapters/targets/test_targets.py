"""Targets are opened by their text, held to the same examples, and come back after they broke."""

import json
import shlex
import sys
from pathlib import Path

import msgspec
import pytest

from turncheck.adapters.protocol import connection
from turncheck.adapters.protocol.errors import (
    BadTargetError,
    DiedError,
    HangingError,
    ImplementationError,
    RubbishError,
    StartError,
    TargetError,
    UnsupportedError,
)
from turncheck.adapters.protocol.messages import Profile
from turncheck.adapters.targets import remote_projector as remote
from turncheck.adapters.targets.registry import KINDS, open_projector
from turncheck.model.core.policies import Policies

HERE = Path(__file__).parents[1]
JS = HERE.parent / "projectors" / "js"
EXAMPLES = [json.loads(line) for line in (HERE.parent / "data" / "examples.jsonl").read_text().splitlines()]
EVENT = {"type": "user-message", "text": "u"}
LONG = 20.0


def javascript(name):
    return f"cmd:node {shlex.quote(str(JS / name))}"


def double(*arguments):
    return "cmd:" + shlex.join([sys.executable, str(HERE / "doubles" / "misbehaving.py"), *arguments])


@pytest.fixture
def misbehaving():
    targets = []

    def misbehaving(*arguments, timeout=LONG, **options):
        targets.append(open_projector(double(*arguments), timeout=timeout, **options))
        return targets[-1]

    yield misbehaving
    for target in targets:
        target.close()


@pytest.fixture(
    scope="module",
    params=["reference", "python:turncheck.adapters.targets.reference_projector:Reference", "javascript"],
)
def right(request):
    text = javascript("projector.mjs") if request.param == "javascript" else request.param
    with open_projector(text, timeout=LONG) as target:
        yield target


def plain(projection):
    return json.loads(msgspec.json.encode(projection))


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["name"] for example in EXAMPLES])
def test_a_right_projector_projects_the_example(right, example):
    assert plain(right.project(example["log"])) == example["projection"]


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["name"] for example in EXAMPLES])
def test_a_right_projector_fed_event_by_event_projects_the_same(right, example):
    right.reset()
    for event in example["log"]:
        right.feed([event])
    assert plain(right.fed()) == example["projection"]


@pytest.mark.parametrize("fate", ["promote", "hold", "drop"])
def test_a_right_projector_honours_policies(right, fate):
    log = [EVENT, EVENT, {"type": "run-stop", "reason": "interrupted"}]
    projection = right.project(log, Policies(queue_after_interrupted=fate))
    assert (len(projection.cycles), projection.queued, projection.dropped) == {
        "promote": (2, (), ()),
        "hold": (1, (1,), ()),
        "drop": (1, (), (1,)),
    }[fate]


def test_a_right_projector_is_unmoved_by_an_unescaped_line_separator(right):
    log = [{"type": "user-message", "text": "a\u2028b\u2029c\u0085d"}]
    assert plain(right.project(log))["queued"] == []


def test_the_last_in_first_out_projector_shows_with_two_waiting():
    with (
        open_projector(javascript("wrong_lifo.mjs"), timeout=LONG) as wrong,
        open_projector("reference", timeout=LONG) as right,
    ):
        stop = {"type": "run-stop", "reason": "completed"}
        same = [wrong.project(log) == right.project(log) for log in ([EVENT, EVENT, stop], [EVENT, EVENT, EVENT, stop])]
    assert same == [True, False]


def test_the_reference_sees_that_its_input_is_untouched():
    with open_projector("reference", timeout=LONG) as target:
        target.project([EVENT])
        assert target.last_input_changed is False


def test_nobody_sees_what_a_command_does_to_its_input(misbehaving):
    target = misbehaving("behaves")
    target.project([EVENT])
    assert target.last_input_changed is None


def test_the_reference_with_a_hash_seed_is_a_process():
    with open_projector("reference", timeout=LONG).again(3) as target:
        assert isinstance(target, remote.RemoteProjector)


def test_a_command_gets_the_hash_seed(misbehaving):
    with misbehaving("says_its_hash_seed").again(41) as target:
        assert target.project([EVENT]).queued == (41,)


def test_a_given_profile_counts(misbehaving):
    target = misbehaving("behaves", profile=Profile(("projector",), ()))
    with pytest.raises(UnsupportedError):
        target.feed([EVENT])


def test_an_unknown_kind_is_told_with_those_that_exist():
    with pytest.raises(BadTargetError) as caught:
        open_projector("perl:script", timeout=LONG)
    assert all(kind.form in str(caught.value) for kind in KINDS.values())


def test_a_forgotten_kind_is_guessed():
    with pytest.raises(BadTargetError, match=r"perhaps you mean python:myapp\.turns:project"):
        open_projector("myapp.turns:project", timeout=LONG)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("projector.mjs", "'cmd:node projector.mjs'"),
        ("./adapter.py", "'cmd:python ./adapter.py'"),
        ("deno projector.mjs", "'cmd:deno projector.mjs'"),
    ],
)
def test_a_program_is_guessed(text, meant):
    with pytest.raises(BadTargetError, match=rf"perhaps you mean {meant}$"):
        open_projector(text, timeout=LONG)


@pytest.mark.parametrize("text", ["reference:motor", "python:", "python:module", "cmd:", "cmd:  ", "cmd:'"])
def test_what_follows_the_kind_is_judged(text):
    with pytest.raises(BadTargetError, match="no target"):
        open_projector(text, timeout=LONG)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("exits_at_start", "exit code 3"),
        ("speaks_version_2", "speaks protocol 2, not 1"),
        ("refuses_hello", "no database"),
        ("is_a_runtime_only", "not a projector"),
    ],
)
def test_what_cannot_be_spoken_with_does_not_start(function, why):
    with pytest.raises(StartError, match=why):
        open_projector(double(function), timeout=LONG)


def test_a_target_that_never_answers_hangs_at_its_start():
    with pytest.raises(HangingError):
        open_projector(double("never_answers"), timeout=0.3, start_seconds=0.3)


@pytest.mark.parametrize(
    ("function", "error", "why"),
    [
        ("answers_the_wrong_seq", RubbishError, "wrong seq: 8 came where 1 was due"),
        ("prints_between_lines", RubbishError, "came: DEBUG: projecting"),
        ("lacks_a_view", UnsupportedError, "lacks `rounds`, which the profile declares"),
        ("closes_stdin", DiedError, "closed its stdin"),
        ("fails", ImplementationError, "boom"),
    ],
)
def test_misbehaviour_has_a_name(misbehaving, function, error, why):
    with pytest.raises(error, match=why):
        misbehaving(function).project([EVENT])


def test_an_answer_too_many_is_found_at_the_next_message(misbehaving):
    target = misbehaving("answers_twice")
    target.project([EVENT])
    with pytest.raises(RubbishError, match="already given"):
        target.project([EVENT])


def test_an_error_tells_what_was_sent_and_expected_and_where_to_read(misbehaving):
    with pytest.raises(RubbishError) as caught:
        misbehaving("answers_the_wrong_seq").project([EVENT])
    assert [line.partition(":")[0].strip() for line in str(caught.value).splitlines()[1:]] == [
        "sent",
        "expected",
        "came",
        "see",
    ]


def test_a_hanging_target_is_replaced_at_the_next_call(misbehaving, tmp_path):
    target = misbehaving("hangs_once", str(tmp_path / "flag"), timeout=0.3)
    with pytest.raises(HangingError):
        target.project([EVENT])
    assert target.project([EVENT]).cycles == ()


def test_a_target_that_always_breaks_is_given_up(misbehaving, monkeypatch):
    monkeypatch.setattr(connection, "RESTARTS", 1)
    target = misbehaving("hangs_after", "0", timeout=0.1)
    for _ in range(2):
        with pytest.raises(HangingError):
            target.project([EVENT])
    started = []
    monkeypatch.setattr(target._connection, "_start", lambda: started.append(1))
    with pytest.raises(HangingError):
        target.project([EVENT])
    assert not started


def test_a_replaced_target_can_be_fed_where_nothing_was_lost(misbehaving, tmp_path):
    target = misbehaving("hangs_once", str(tmp_path / "flag"), timeout=0.3)
    with pytest.raises(HangingError):
        target.project([EVENT])
    target.feed([EVENT])
    assert target.fed().cycles == ()


def test_what_was_fed_is_lost_with_the_process(misbehaving):
    target = misbehaving("hangs_after", "1", timeout=0.3)
    target.feed([EVENT])
    with pytest.raises(HangingError):
        target.fed()
    with pytest.raises(TargetError, match="reset first"):
        target.fed()


def test_after_a_reset_the_new_process_is_fed(misbehaving):
    target = misbehaving("hangs_after", "2", timeout=0.3)
    target.feed([EVENT])
    target.feed([EVENT])
    with pytest.raises(HangingError):
        target.feed([EVENT])
    target.reset()
    target.feed([EVENT])


def test_a_reset_that_fails_is_no_verdict(misbehaving):
    with pytest.raises(TargetError, match="cannot reset: boom"):
        misbehaving("fails").reset()


def test_the_reference_passes_over_events_that_it_was_fed():
    """L-N4."""
    log = [{"type": "user-message", "text": name} for name in ("one", "two", "three")]
    with open_projector("reference", timeout=20.0) as target:
        target.feed(log[:2])
        target.feed(log[1:], 1)
        assert target.fed() == target.project(log)
