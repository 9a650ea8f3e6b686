"""The JavaScript kit knows when a runtime is quiet, and lives on whatever the runtime does."""

import os
import select
import signal
import subprocess
from pathlib import Path

import pytest
from python_client import Client, says, user

FAKES = Path(__file__).parent / "js" / "fakes.mjs"


def fake(name, *patience):
    return Client("node", str(FAKES), name, *patience)


def notes(step):
    return [event["text"] for event in step["events"] if event["type"] == "native"]


def first_step(name, *patience):
    with fake(name, *patience) as client:
        client.reset()
        return client.run(user("go"))[0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("immediates", "done"),
        ("promises", "done"),
        ("worker", "42"),
        ("child", "42"),
        ("socket", "echo"),
        ("fetch", "served"),
    ],
)
def test_what_is_at_work_is_waited_for(name, expected):
    assert first_step(name) == {"events": [{"type": "native", "text": expected}], "awaiting": []}


@pytest.mark.parametrize("name", ["open server", "endless immediates"])
def test_a_loop_that_never_runs_dry_is_unsettled_after_the_patience(name):
    assert first_step(name, "0.1") == {"events": [], "awaiting": [], "unsettled": True}


def test_a_word_ends_at_the_step_that_is_unsettled():
    with fake("open server", "0.1") as client:
        client.reset()

        assert len(client.run(user("one"), user("two"))) == 1


def test_an_unsettled_step_says_on_stderr_what_keeps_the_loop_alive():
    with fake("open server", "0.1") as client:
        client.reset()
        client.run(user("go"))

        assert "kept alive by TCPServerWrap" in client.close()


def test_an_endless_loop_of_promises_is_left_to_the_timeout_of_the_harness():
    with fake("endless promises", "0.1") as client:
        client.reset()
        client.process.stdin.write(b'{"cmd":"apply","seq":2,"stimulus":{"kind":"user","id":"u1","text":"go"}}\n')
        client.process.stdin.flush()
        answered, _, _ = select.select([client.process.stdout], [], [], 0.5)
        client.process.kill()

        assert not answered
        assert client.process.wait() == -signal.SIGKILL


def test_what_is_printed_goes_to_stderr_and_stdin_is_empty_for_the_runtime():
    with fake("prints") as client:
        client.reset()

        assert notes(client.run(user("go"))[0]) == ["stdin is empty"]
        assert client.close() == "rubbish\nmore rubbish\n"


@pytest.mark.parametrize("name", ["throws", "rejects"])
def test_an_adapter_that_throws_has_failed_with_its_stack_and_the_kit_lives_on(name):
    with fake(name) as client:
        client.reset()
        answer = client.apply("user", id="u1", text="go")

        assert (answer["ok"], answer["error"]["kind"]) == (False, "failed")
        assert answer["error"]["message"] == "RangeError: the adapter broke"
        assert "fakes.mjs" in answer["error"]["detail"]
        assert client.reset()["ok"]


def test_an_adapter_that_rejects_later_fails_in_that_step_and_the_steps_before_are_told():
    with fake("rejects later") as client:
        client.reset()
        answer = client.ask("run", word=[user("go"), says("hi"), says("more")])

    assert answer["error"]["message"] == "RangeError: the adapter broke on hi"
    assert [step["awaiting"][0]["requestId"] for step in answer["steps"]] == ["r1"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("unhandled rejection", "RangeError: nobody looks"), ("uncaught exception", "RangeError: nobody catches")],
)
def test_what_the_runtime_lets_escape_is_a_fault_and_the_process_goes_on(name, message):
    with fake(name) as client:
        client.reset()
        steps = client.run(user("one"), user("two"))

    assert [step["events"] for step in steps] == [[{"type": "fault", "message": message}]] * 2


def test_a_runtime_that_exits_ends_the_process_without_an_answer():
    with fake("exits") as client:
        client.reset()
        with pytest.raises(EOFError):
            client.run(user("go"))

        assert client.process.wait() == 3


def test_an_environment_that_is_over_is_heard_no_more():
    with fake("old environment") as client:
        client.reset()
        heard = client.run(user("go"))[0]
        client.reset()
        unheard = client.run(user("go"))[0]

    assert notes(heard) == ["heard"]
    assert unheard == {"events": [], "awaiting": []}


def test_time_that_was_spent_waiting_for_a_message_is_none_of_the_patience():
    with fake("immediates", "0.1") as client:
        client.reset()
        select.select([client.process.stdout], [], [], 0.2)  # twice the patience

        assert "unsettled" not in client.run(user("go"))[0]


def test_the_end_of_stdin_ends_the_process():
    ended = subprocess.run(["node", str(FAKES), "echo"], input=b"", check=False, timeout=10)

    assert ended.returncode == 0


def test_pipes_that_do_not_block_are_waited_for():
    ours_in, theirs_out = os.pipe()
    theirs_in, ours_out = os.pipe()
    os.set_blocking(theirs_in, False)
    os.set_blocking(theirs_out, False)
    text = "x" * 300_000  # more than a pipe holds
    stimulus = f'{{"cmd":"apply","seq":2,"stimulus":{{"kind":"user","id":"u1","text":"{text}"}}}}\n'
    with subprocess.Popen(["node", str(FAKES), "echo"], stdin=theirs_in, stdout=theirs_out) as process:
        os.close(theirs_in)
        os.close(theirs_out)
        with open(ours_out, "w") as requests, open(ours_in) as answers:  # noqa: PTH123
            requests.write('{"cmd":"reset","seq":1}\n')
            requests.flush()
            answers.readline()
            requests.write(stimulus)
            requests.flush()
            answer = answers.readline()
            requests.write('{"cmd":"stop"}\n')
        assert process.wait(timeout=10) == 0

    assert text in answer
