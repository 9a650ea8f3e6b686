"""The Python kit's protocol: messages in, answers out, and faults of an adapter."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from python_client import ABORT, FAKES, KIT, Client, does, events, said, says, stops, user


def test_the_example_at_the_kits_top_is_a_whole_adapter(tmp_path):
    text = (KIT / "turncheck_kit.py").read_text()
    example = text.partition("A whole adapter::\n")[2].partition("A tool is")[0]
    (tmp_path / "mine.py").write_text(textwrap.dedent(example))
    with Client.of(tmp_path / "mine.py") as client:
        client.reset()
        steps = client.run(user("one"), user("two"), says("hi"), stops(), user("three"), ABORT)
    assert events(steps) == [
        *("user one", "request r1", "assistant hi", "stop* completed"),
        *("user three", "request r2", "stop* interrupted"),
    ]
    assert steps[1]["refused"] == {"why": "rejected", "message": "agent is busy"}


@pytest.mark.parametrize(
    ("declares", "problem"),
    [
        ("pass", "Mine.implementation lacks name, version, language"),
        ("implementation = {'name': 'm', 'version': '1', 'language': 'python'}", "Mine.profile lacks roles"),
        (
            "implementation = dict(name='m', version='1', language='x'); profile = dict(roles=['p'], capabilities=[])",
            "has the roles ['p'], not runtime",
        ),
    ],
)
def test_an_adapter_that_declares_no_runtime_is_told_so(tmp_path, declares, problem):
    (tmp_path / "mine.py").write_text(
        f"from turncheck_kit import Adapter, serve\nclass Mine(Adapter):\n    {declares}\nserve(Mine())\n"
    )
    with Client.of(tmp_path / "mine.py") as client, pytest.raises(EOFError) as error:
        client.ask("hello", protocol=1)
    assert problem in str(error.value)


def test_hello_tells_who_is_there_and_what_it_claims(process):
    assert process.ask("hello", protocol=1) == {
        "ok": True,
        "protocol": 1,
        "implementation": {"name": "fakes", "version": "1", "language": "python"},
        "profile": {
            "roles": ["runtime"],
            "capabilities": [
                *("abort", "tools", "tool-failure", "model-failure", "reasoning"),
                *("clock", "deaf", "together", "observer", "approval", "client-tools", "compaction"),
            ],
        },
    }


def test_another_protocol_is_refused(process):
    answer = process.ask("hello", protocol=2)
    assert (answer["ok"], answer["error"]["message"]) == (False, "this adapter speaks protocol 1, not 2")


def test_reset_answers_like_apply(process):
    assert process.reset() == {"seq": process.seq, "ok": True, "events": [], "awaiting": []}


def test_an_unknown_command_is_unsupported(fakes):
    answer = fakes.ask("dance")
    assert (answer["seq"], answer["ok"], answer["error"]["kind"]) == (fakes.seq, False, "unsupported")


def test_a_stimulus_before_the_first_reset_fails():
    with Client.of(FAKES) as client:
        assert "before a successful reset" in does(client, "nothing")["error"]["message"]


BAD = {
    "apply lacks stimulus": {"cmd": "apply", "seq": 1},
    "stimulus of apply is []; expected an object": {"cmd": "apply", "seq": 1, "stimulus": []},
    "seq of run is true; expected an integer": {"cmd": "run", "seq": True, "word": []},
    "expected one of user, abort,": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "dance"}},
    "user lacks text": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "user", "id": "1"}},
    'delivery of user is "stear"; expected "steer" or "followUp"': {
        "cmd": "run",
        "seq": 1,
        "word": [{"kind": "user", "id": "1", "text": "nothing", "delivery": "stear"}],
    },
    "abort has no field txt": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "abort", "txt": 1}},
    "sessionId of abort is 5": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "abort", "sessionId": 5}},
    "seconds of advance is -1": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "advance", "seconds": -1}},
    "expected one of assistant, reasoning, tool-call": {
        "cmd": "apply",
        "seq": 1,
        "stimulus": {"kind": "model-output", "item": {"kind": "image"}},
    },
    "tool-call lacks tool": {
        "cmd": "apply",
        "seq": 1,
        "stimulus": {"kind": "model-output", "item": {"kind": "tool-call", "callId": "c"}},
    },
    "no stimulus": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "together", "stimuli": [{"kind": "together"}]}},
    "clock of options is": {"cmd": "reset", "seq": 1, "options": {"clock": "fast"}},
    "options has no field deaf": {"cmd": "reset", "seq": 1, "options": {"deaf": True}},
    "tools of options is": {"cmd": "reset", "seq": 1, "options": {"tools": [{}]}},
}


@pytest.mark.parametrize("problem", BAD)
def test_a_bad_message_is_told_with_what_was_expected(fakes, problem):
    answer = fakes.send(json.dumps(BAD[problem]))
    assert answer["error"]["kind"] == "failed"
    assert problem in answer["error"]["message"]
    assert "docs/protocol.md#" in answer["error"]["message"]


@pytest.mark.parametrize("line", ["{", "[]", "1", '"hello"', '{"seq": 4}', "\xff"])
def test_what_is_no_message_is_answered(fakes, line):
    assert fakes.send(line)["error"]["kind"] == "failed"


def test_a_bad_stimulus_in_a_word_is_told_before_any_is_applied(fakes):
    assert not fakes.ask("run", word=[user("timer"), {"kind": "dance"}])["ok"]
    assert said(does(fakes, "nothing")) == []


def test_null_is_as_good_as_absent(fakes):
    assert fakes.apply("user", id="u", text="nothing", delivery=None, content=None, sessionId=None)["ok"]


def test_a_message_may_come_in_pieces_and_two_at_once():
    with Client.of(FAKES) as client:
        pipe = client.process.stdin
        for piece in (
            b'{"cmd": "res',
            b'et", "seq": 1}\n\n{"cmd": "apply", "seq": 2, "stimulus": ',
            b'{"kind": "abort"}}\n',
        ):
            pipe.write(piece)
            pipe.flush()
        assert [json.loads(client.process.stdout.readline())["seq"] for _ in "12"] == [1, 2]


def test_a_message_may_be_megabytes_long(fakes):
    text = "x" * 3_000_000
    answer = fakes.apply("user", id=text, text="nothing")
    assert answer["ok"]


def test_stop_ends_the_process():
    with Client.of(FAKES) as client:
        client.reset()
        client.close()
        assert client.process.returncode == 0


def test_the_end_of_stdin_ends_the_process():
    with Client.of(FAKES) as client:
        client.process.stdin.close()
        assert client.process.wait(timeout=20) == 0


def test_a_last_message_without_a_line_feed_is_answered():
    done = subprocess.run(
        [sys.executable, str(FAKES)],
        input=b'{"cmd": "reset", "seq": 7}',
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(KIT)},
        check=True,
    )
    assert json.loads(done.stdout)["seq"] == 7


# What an adapter does wrong


def test_an_exception_of_the_adapter_is_failed_with_its_traceback(fakes):
    error = does(fakes, "raises")["error"]
    assert (error["kind"], error["message"]) == ("failed", "LookupError: broken")
    assert "in raises" in error["detail"]


def test_the_kit_survives_an_exception(fakes):
    does(fakes, "raises")
    assert does(fakes, "nothing")["ok"]


def test_an_exception_of_a_later_step_is_that_steps_failure(fakes):
    fakes.reset(clock="manual")
    assert does(fakes, "raises_later")["ok"]
    assert fakes.apply("advance", seconds=5)["error"]["message"] == "LookupError: broken later"


def test_a_word_that_fails_returns_the_steps_that_were_done(fakes):
    answer = fakes.ask("run", word=[user("nothing"), user("raises"), user("timer")])
    assert (answer["ok"], len(answer["steps"])) == (False, 1)


def test_what_is_printed_goes_to_stderr():
    with Client.of(FAKES) as client:
        client.reset()
        assert said(does(client, "rubbish")) == [""]
        assert client.close().count("rubbish") == 3


def test_an_event_that_is_no_json_fails_where_it_is_logged(fakes):
    error = does(fakes, "logs_no_json")["error"]
    assert "TypeError" in error["message"]
    assert "in logs_no_json" in error["detail"]


def test_nan_is_logged_as_null(fakes):
    assert said(does(fakes, "logs_nan")) == [{"x": [None, 1]}]


def test_a_lone_surrogate_is_logged(fakes):
    assert said(does(fakes, "logs_surrogate")) == ["\ud83d"]


def test_an_event_is_logged_as_it_was_then(fakes):
    assert said(does(fakes, "logs_what_it_changes")) == [["before"]]


def test_a_refusal_with_an_unknown_reason_fails(fakes):
    assert "rejected, unsupported, not-awaited" in does(fakes, "refuses_badly")["error"]["message"]


def test_waiting_for_a_tool_in_the_loops_own_thread_fails(fakes):
    assert "would block the event loop" in does(fakes, "blocks_the_loop")["error"]["message"]


def test_what_is_held_back_is_the_last_event_of_a_step(fakes):
    assert said(does(fakes, "holds_back")) == ["first", "held"]
