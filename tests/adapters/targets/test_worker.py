"""The worker serves Python projectors, and keeps their output apart from its answers."""

from pathlib import Path

import pytest

from turncheck.adapters.protocol.errors import (
    DiedError,
    HangingError,
    ImplementationError,
    RubbishError,
    StartError,
    UnsupportedError,
)
from turncheck.adapters.targets import worker
from turncheck.adapters.targets.registry import open_projector
from turncheck.model.core.policies import Policies

DOUBLES = Path(__file__).parents[1] / "doubles"
EVENT = {"type": "user-message", "text": "u", "seq": 1}


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.chdir(DOUBLES)
    targets = []

    def serve(attribute, **options):
        targets.append(open_projector(f"python:projectors:{attribute}", **{"timeout": 20.0, **options}))
        return targets[-1]

    yield serve
    for target in targets:
        target.close()


def test_a_function_of_the_events_is_a_projector(serve):
    assert serve("counts").project([EVENT, None]).queued == (2,)


def test_a_functions_parameter_declares_policies(serve):
    assert serve("counts").profile.can("policies")


def test_a_function_without_it_does_not(serve):
    assert serve("empty").profile.capabilities == ("steps", "rounds")


def test_default_policies_are_not_passed(serve):
    assert serve("counts").project([EVENT], Policies()).dropped == ()


def test_other_policies_are_passed_as_a_dict_in_camel_case(serve):
    assert serve("hold").project([EVENT], Policies(queue_after_error="hold")).queued == (1,)


def test_other_policies_are_unsupported_where_they_are_not_declared(serve):
    with pytest.raises(UnsupportedError, match="policies"):
        serve("empty").project([EVENT], Policies("steer"))


def test_a_class_is_instantiated_and_feeds(serve):
    target = serve("Adds")
    target.feed([EVENT])
    target.feed([EVENT, EVENT])
    assert target.fed().queued == (0, 1, 2)


def test_a_reset_forgets_what_was_fed(serve):
    target = serve("Adds")
    target.feed([EVENT])
    target.reset()
    assert target.fed().queued == ()


def test_an_empty_log_is_projected_whatever_was_fed(serve):
    target = serve("Adds")
    target.feed([EVENT])
    assert (target.project([]).queued, target.fed().queued) == ((), (0,))


def test_a_function_cannot_be_fed(serve):
    with pytest.raises(UnsupportedError, match="feed"):
        serve("empty").feed([EVENT])


def test_a_profile_of_its_own_overrides(serve):
    target = serve("text_view")
    assert (target.profile.capabilities, target.project([EVENT]).cycles[0].rounds) == (("steps",), [])


def test_it_is_named_by_its_text(serve):
    implementation = serve("empty").implementation
    assert (implementation.name, implementation.version, implementation.language) == (
        "projectors:empty",
        "unknown",
        "python",
    )


def test_what_it_raises_is_its_own_failure_with_a_traceback(serve):
    with pytest.raises(ImplementationError, match="KeyError: 'callId'") as caught:
        serve("raises").project([EVENT])
    assert 'raise KeyError("callId")' in str(caught.value.detail)


def test_a_traceback_begins_in_its_own_code(serve):
    with pytest.raises(ImplementationError) as caught:
        serve("raises").project([EVENT])
    assert "worker.py" not in str(caught.value.detail)


def test_it_goes_on_after_it_raised(serve):
    target = serve("raises_on_two")
    with pytest.raises(ImplementationError):
        target.project([EVENT, EVENT])
    assert target.project([EVENT]).queued == ()


@pytest.mark.parametrize("attribute", ["changes_its_input", "puts_true_for_one", "puts_in_what_is_no_json"])
def test_changed_input_is_reported(serve, attribute):
    target = serve(attribute)
    target.project([EVENT])
    assert target.last_input_changed is True


def test_untouched_input_is_reported_too(serve):
    target = serve("empty")
    target.project([EVENT])
    assert target.last_input_changed is False


def test_the_events_of_the_caller_stay_as_they_are(serve):
    events = [dict(EVENT)]
    serve("changes_its_input").project(events)
    assert events == [EVENT]


def test_prints_do_not_reach_the_protocol(serve):
    assert serve("prints").project([EVENT]).queued == ()


def test_it_finds_its_stdin_empty(serve):
    assert serve("reads_stdin").project([EVENT]).queued == ()


@pytest.mark.parametrize(("attribute", "came"), [("returns_none", "null"), ("returns_an_object", "<object object")])
def test_what_is_no_projection_is_rubbish_and_shown(serve, attribute, came):
    with pytest.raises(RubbishError, match=came):
        serve(attribute).project([EVENT])


def test_hanging_is_noticed(serve):
    with pytest.raises(HangingError):
        serve("hangs", timeout=0.3).project([EVENT])


def test_leaving_is_noticed(serve):
    with pytest.raises(DiedError, match="exit code 5"):
        serve("leaves").project([EVENT])


def test_the_hash_seed_is_fixed(serve):
    assert serve("returns_the_hash_of_a").project([EVENT]) == serve("returns_the_hash_of_a").project([EVENT])


def test_another_hash_seed_is_another_process(serve):
    target = serve("returns_the_hash_of_a")
    with target.again(1) as again:
        assert again.project([EVENT]) != target.project([EVENT])


def test_an_attribute_that_is_not_there_is_told_with_what_is(serve):
    with pytest.raises(StartError, match=r"has no 'nothing'; it has:.*returns_none"):
        serve("nothing")


def test_an_attribute_that_is_no_projector_is_told(serve):
    with pytest.raises(StartError, match="nor an object with `project` or `collate`: 5"):
        serve("number")


@pytest.mark.parametrize("text", ["projectors:nothing", "projectors:number", "no_such_module:project"])
def test_what_is_misspelt_is_told_on_one_line(monkeypatch, text):
    monkeypatch.chdir(DOUBLES)
    with pytest.raises(StartError) as caught:
        open_projector(f"python:{text}", timeout=20.0)
    assert [line for line in caught.value.stderr if not line.startswith(f"turncheck: cannot load {text}: ")] == []


def test_a_syntax_error_is_shown_with_its_line(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def project(:\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StartError) as caught:
        open_projector("python:mine:project", timeout=20.0)
    assert "    def project(:" in caught.value.stderr


def test_an_import_error_is_told(monkeypatch):
    monkeypatch.chdir(DOUBLES)
    with pytest.raises(StartError, match="No module named 'a_package_that_nobody_has'"):
        open_projector("python:broken_import:project", timeout=20.0)


def test_a_module_that_shadows_one_of_ours_does_no_harm(tmp_path, monkeypatch):
    (tmp_path / "msgspec.py").write_text("raise SystemExit('the wrong msgspec')")
    (tmp_path / "mine.py").write_text((DOUBLES / "projectors.py").read_text())
    monkeypatch.chdir(tmp_path)
    with open_projector("python:mine:empty", timeout=20.0) as target:
        assert target.project([EVENT]).queued == ()


def test_the_path_of_the_environment_is_importable(tmp_path, monkeypatch):
    (tmp_path / "elsewhere.py").write_text((DOUBLES / "projectors.py").read_text())
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with open_projector("python:elsewhere:empty", timeout=20.0) as target:
        assert target.project([EVENT]).queued == ()


def test_without_an_argument_it_says_how_to_use_it():
    from turncheck.adapters.targets.worker import main

    assert main([]) == 2


def test_a_bug_of_the_worker_is_not_the_targets(capfd, tmp_path):
    def broken(_message):
        raise KeyError("seq")

    (tmp_path / "requests").write_bytes(b'{"cmd": "hello", "protocol": 1}\n')
    with (tmp_path / "requests").open("rb") as requests:
        assert worker._serve("python:their:project", broken, requests, 1) == 2
    told = "turncheck: a bug in turncheck's worker, and no fault of python:their:project: KeyError: 'seq'"
    assert capfd.readouterr().err.splitlines()[-1] == told
