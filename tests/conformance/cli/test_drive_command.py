"""`turncheck drive` from the outside, and the short forms that it reads."""

import json
import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from turncheck.conformance.cli.commands.drive import CONTROLS, completions
from turncheck.conformance.cli.options.shorthand import FORMS, Shorthand, ShorthandError
from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    Awaited,
    ClientToolAwaited,
    ModelAwaited,
    Stimulus,
    ToolAwaited,
)

NULL_RUNTIME = Path(__file__).parents[2] / "adapters" / "kit" / "null_runtime.py"
TARGET = "cmd:" + shlex.join([sys.executable, str(NULL_RUNTIME)])
AWAITING: list[Awaited] = [
    ModelAwaited(request_id="r1"),
    ToolAwaited(call_id="c1", execution="e1"),
    ToolAwaited(call_id="c2", execution="e2"),
    ApprovalAwaited(call_id="c3"),
    ClientToolAwaited(call_id="c4"),
]


@pytest.fixture
def drive(invoke, tmp_path):
    """Type lines."""

    def drive(*lines, target=TARGET):
        return invoke(tmp_path, "drive", target, "--timeout", "20", stdin="\n".join(lines).encode())

    return drive


def printed(ran, line):
    """Return the output after *line* was typed for the last time."""
    return ran.out.rpartition(f"> {line}\n")[2].partition("\n>")[0].splitlines()


def plain(stimulus):
    return json.loads(msgspec.json.encode(stimulus))


@pytest.mark.parametrize(
    ("line", "stimulus"),
    [
        ("user hello you", {"kind": "user", "id": "u1", "text": "hello you"}),
        ("steer x", {"kind": "user", "id": "u1", "text": "x", "delivery": "steer"}),
        ("follow x", {"kind": "user", "id": "u1", "text": "x", "delivery": "followUp"}),
        ("abort", {"kind": "abort"}),
        ("text hi", {"kind": "model-output", "item": {"kind": "assistant", "text": "hi"}}),
        ("reason hm", {"kind": "model-output", "item": {"kind": "reasoning", "text": "hm"}}),
        ("stop", {"kind": "model-stop", "reason": "end-turn"}),
        ("stop length", {"kind": "model-stop", "reason": "length"}),
        ("fail retryable", {"kind": "model-fail", "class": "retryable"}),
        ("return", {"kind": "tool-return", "callId": "c1", "output": ""}),
        ("return two words", {"kind": "tool-return", "callId": "c1", "output": "two words"}),
        ("return [1]", {"kind": "tool-return", "callId": "c1", "output": [1]}),
        ("toolfail no such file", {"kind": "tool-fail", "callId": "c1", "message": "no such file"}),
        ("advance 0.5", {"kind": "advance", "seconds": 0.5}),
        ("join", {"kind": "client", "clientId": "k1", "action": "join"}),
        ("leave k2", {"kind": "client", "clientId": "k2", "action": "leave"}),
        ('{"kind": "abort", "sessionId": "a"}', {"kind": "abort", "sessionId": "a"}),
    ],
)
def test_a_short_form_means_a_stimulus(line, stimulus):
    assert plain(Shorthand().read(line, AWAITING)) == stimulus


@pytest.mark.parametrize(
    ("line", "arguments"),
    [("call read", {}), ('call read {"path": "x"}', {"path": "x"}), ('call read {"path": ', '{"path":')],
)
def test_a_call_s_arguments_are_json_or_the_very_text(line, arguments):
    item = plain(Shorthand().read(line))["item"]
    assert item == {"kind": "tool-call", "callId": "c1", "tool": "read", "arguments": arguments}


def test_messages_and_calls_are_numbered():
    word = Shorthand()
    lines = ["user a", "call read", "steer b", "call bash"]
    read = [plain(word.read(line)) for line in lines]
    assert [stimulus.get("id") or stimulus["item"]["callId"] for stimulus in read] == ["u1", "c1", "u2", "c2"]


def test_a_stop_after_a_call_is_for_tool_use_once():
    word = Shorthand()
    assert [plain(word.read(line)).get("reason") for line in ("call read", "stop", "stop")] == [
        None,
        "tool-use",
        "end-turn",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("shout x", "no command 'shout': there is user, steer,"),
        ("user", "nothing follows it; expected user TEXT"),
        ("stop now", "Invalid enum value 'now' - at `$.reason`; expected stop [REASON]"),
        ("fail", "nothing follows it; expected fail CLASS"),
        ("advance soon", "could not convert string to float: 'soon'; expected advance SECONDS"),
        ("abort now", "'now' follows it; expected abort"),
        ("return x", "no tool is awaited; expected return [OUTPUT]"),
        (
            '{"kind": "scream"}',
            "Invalid value 'scream' - at `$.kind`; expected a stimulus as JSON (docs/protocol.md#apply)",
        ),
        ("{", "Input data was truncated; expected a stimulus as JSON"),
    ],
)
def test_a_line_that_is_no_stimulus_is_told_what_was_expected(line, told):
    with pytest.raises(ShorthandError) as caught:
        Shorthand().read(line)
    assert told in str(caught.value)


def test_every_form_can_be_read_as_it_is_written():
    unread = [name for name in FORMS if not _reads(name)]
    assert unread == []


def _reads(name):
    given = {"stop": "length", "fail": "fatal", "advance": "1"}
    rest = given.get(name, "" if name in {"abort", "compact", "approve", "join", "leave"} else "x")
    return isinstance(Shorthand().read(f"{name} {rest}", AWAITING), Stimulus.__args__)


@pytest.mark.parametrize(
    ("typed", "goes_on"),
    [
        ("st", ["steer ", "stop "]),
        ("re", ["reason ", "return ", "reset "]),
        ("stop ", ["end-turn", "tool-use", "length"]),
        ("fail f", ["fatal"]),
        ("user st", []),
        ("fail fatal ", []),
    ],
)
def test_completion_knows_the_commands_and_the_choices(typed, goes_on):
    assert completions(typed) == goes_on


def test_each_stimulus_shows_the_new_events_and_what_is_awaited_with_its_input(drive):
    ran = drive("user hello", "text hi")
    assert ran.code == 0
    assert printed(ran, "user hello") == [
        '  user-message  id="u1"  text="hello"',
        '  model-request requestId="r1"',
        '  awaiting model r1: user "hello"',
    ]


def test_an_awaited_tool_shows_its_arguments_its_call_and_its_execution(drive):
    ran = drive("user hello", 'call read {"path": "x"}', "stop")
    assert printed(ran, "stop")[-1] == '  awaiting tool c1 (e1): read {"path": "x"}'


def test_the_end_of_a_run_shows_the_cycles_with_their_content(drive):
    ran = drive(
        "user hello", "text hi", "call read", "stop", "steer quick", "follow then", "return OUT", "stop", "abort"
    )
    assert [line for line in printed(ran, "abort") if "awaiting" not in line and "run-stop" not in line] == [
        "  cycle 1  direct, completed",
        '  ├─ non-steer "hello"',
        '  ├─ ai-block "hi"',
        '  │     read-group: read {} → "OUT"',
        '  └─ steer "quick"',
        "  cycle 2  followUp, interrupted",
        '  └─ non-steer "then"',
    ]


def test_a_refusal_is_shown_with_its_reason(drive):
    ran = drive("text hi")
    assert printed(ran, "text hi")[0].startswith("  refused, not-awaited: ")


def test_log_shows_the_whole_log(drive):
    ran = drive("user hello", "abort", "log")
    assert [line.split()[0] for line in printed(ran, "log")] == ["user-message", "model-request", "run-stop"]


def test_log_writes_a_file_that_check_reads(drive, invoke, tmp_path):
    drive("user hello", "text hi", "stop", "log seen.jsonl")
    assert invoke(tmp_path, "check", "seen.jsonl").code == 0


def test_save_writes_what_drive_reads_again_with_the_same_log(drive, tmp_path):
    first = drive('reset {"clock": "manual"}', "user hello", "text hi", "stop", "log", "save word.txt")
    lines = (tmp_path / "word.txt").read_text().splitlines()
    assert (lines[0], len(lines)) == ('reset {"clock":"manual"}', 4)
    assert printed(drive(*lines, "log"), "log") == printed(first, "log")


def test_reset_forgets_the_log_and_numbers_anew(drive):
    ran = drive("user hello", "reset", "user again", "log")
    assert printed(ran, "log")[0] == '  user-message  id="u1"  text="again"'


def test_reset_takes_options(drive):
    ran = drive(
        'reset {"limits": {"maxRounds": 1}, "tools": [{"name": "read", "schema": {}}]}',
        "user hello",
        "call read",
        "stop",
        "return x",
    )
    assert any("run-stop" in line for line in printed(ran, "return x"))


def test_help_lists_every_command(drive):
    ran = drive("help")
    listed = printed(ran, "help")
    assert [
        form.form for form in (*FORMS.values(), *CONTROLS.values()) if not any(form.form in line for line in listed)
    ] == []


def test_quit_ends_it_and_so_does_the_end_of_the_input(drive):
    ran = drive("quit", "user hello")
    assert (ran.code, "user-message" in ran.out) == (0, False)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("shout", "shout: no command 'shout'"),
        (
            "reset {",
            "reset {: not JSON (Input data was truncated); expected reset [OPTIONS], see docs/protocol.md#reset",
        ),
        ("log /dev/null/log", "a folder is needed where /dev/null is a file"),
    ],
)
def test_without_a_terminal_the_first_wrong_line_ends_it_with_2(drive, line, told):
    ran = drive("user hello", line, "text hi")
    assert (ran.code, "> text hi" in ran.out) == (2, False)
    assert told in ran.err


def test_a_target_that_breaks_is_told_with_what_was_sent(drive):
    double = Path(__file__).parents[1] / "doubles" / "tampering.py"
    ran = drive("user hello", target="cmd:" + shlex.join([sys.executable, str(double), "dies_at_the_first_message"]))
    assert ran.code == 2
    assert 'user hello: the process ended with exit code 1 where an answer was due\n  sent: {"cmd":"apply"' in ran.err


def test_a_projector_cannot_be_driven(drive):
    ran = drive(target="reference")
    assert ran.code == 2
    assert "not a runtime" in ran.err


def test_on_a_terminal_there_is_completion_and_a_wrong_line_does_not_end_it():
    ours, theirs = pty.openpty()
    program = "from turncheck.conformance.cli.commands.drive import command; command()"
    with subprocess.Popen(
        [sys.executable, "-c", program, TARGET], stdin=theirs, stdout=theirs, stderr=theirs
    ) as driving:
        os.close(theirs)
        seen = b""
        for typed in (b"shout\n", b"us\thello\n", b"quit\n"):
            while not seen.endswith(b"> "):
                seen += os.read(ours, 1)
            os.write(ours, typed)
            seen += b"|"
        assert driving.wait(60) == 0
    os.close(ours)
    assert b"no command 'shout'" in seen
    assert b'user-message  id="u1"  text="hello"' in seen
