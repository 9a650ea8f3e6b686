"""Adapters that harm whoever drives them: the verdict is right, in bounded time and memory, and no process is left."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
from processes import living

DOUBLES = Path(__file__).parents[2] / "adapters" / "doubles"
PYTHON, NODE = (sys.executable, DOUBLES / "hostile_runtime.py"), ("node", DOUBLES / "hostile_runtime.mjs")
TIMEOUT = 1.0
MEGABYTES = 600
"""Of memory. A run of a good adapter takes 60; sixty megabytes of text with one character beyond the basic plane are
the most: they are text of four bytes a character, and an object of the answer."""
SECONDS = 90
"""More than any of these runs takes on two busy cores (most take two, 30 where hello never comes), less than a hang."""
PASS: tuple[int, str] = (0, "")
QUIET = "hangs: no answer"
DEAD = "where an answer was due"
RUBBISH = "not JSON"
DEEP = "more than 200 levels deep"
SEQ = "wrong seq"
TEXT_OF_PYTHON = {
    "floods_stderr_and_never_answers": QUIET,
    "floods_both_at_once": "more than 67,108,864 bytes",
    "writes_a_gigabyte_to_stderr": None,
    "dribbles_without_end": "hangs: no end of the answer",
    "dribbles_byte_by_byte": None,
    "sleeps_just_under_the_timeout": "the time of the whole run is over",
    "stops_itself": QUIET,
    "stops_reading": QUIET,
    "answers_before_the_question": SEQ,
    "answers_with_an_old_seq": SEQ,
    "answers_a_thousand_times": SEQ,
    "answers_hello_again": "missing required field `seq`",
    "aborts": "SIGABRT",
    "is_killed": "SIGKILL",
    "overflows_the_stack": "SIGSEGV",
    "kills_its_group": "SIGTERM",
    "kills_its_supervisor": DEAD,
    "leaves_without_a_word": "exit code 0",
    "forks_a_small_bomb": QUIET,
    "forks_without_end": None,
    "leaves_a_daemon_with_its_stderr": None,
    "leaves_a_daemon_without_environment": None,
    "leaves_zombies": None,
    "leads_sessions_of_its_own": None,
    "joins_another_group": None,
    "renames_itself": None,
    "adopts_orphans_itself": None,
    "writes_to_the_terminal": None,
    "exhausts_its_descriptors": None,
    "answers_three_million_values": "more than 1,000,000 values",
    "answers_three_million_events": "more than 1,000,000 values",
    "answers_a_million_quotes": "more than 1,000,000 values",
    "answers_sixty_megabytes_of_text": None,
    "nests_deeply": DEEP,
    "nests_deeply_in_its_events": DEEP,
    "hides_bytes_that_are_no_utf_8": RUBBISH,
    "hides_half_of_a_surrogate_pair": "half of a surrogate pair",
    "hides_an_infinite_number": "too large",
    "hides_a_giant_integer": "more than 64 bits",
    "says_its_seq_twice": "the name 'seq' is there twice",
    "begins_with_a_byte_order_mark": RUBBISH,
    "answers_in_utf_16": RUBBISH,
    "answers_nul_bytes": RUBBISH,
    "colours_its_answer": RUBBISH,
    "ends_its_lines_with_cr_lf": None,
    "ends_its_lines_with_cr": "hangs: no end of the answer",
    **{f"leaves_without_a_word:{command}": "exit code 0" for command in ("hello", "reset", "run")},
    "leaves_without_a_word:stop": None,
    **{f"stops_itself:{command}": QUIET for command in ("hello", "reset", "run")},
    "stops_itself:stop": None,
    "is_killed:hello": "SIGKILL",
    "changes_its_capabilities:hello": "no longer model-input and also tools",
    "changes_its_name:hello": "somebody-else",
    "changes_its_protocol:hello": "speaks protocol 2, not 1",
}
"""Harm → what is said of it, None where the runtime is judged all the same."""
TEXT_OF_NODE = {
    "behaves": None,
    "never_answers": QUIET,
    "spins": QUIET,
    "floods_stdout": "more than 67,108,864 bytes",
    "floods_stderr": QUIET,
    "answers_half_a_line": "hangs: no end of the answer",
    "answers_twice": SEQ,
    "answers_the_next_question_too": SEQ,
    "answers_with_an_old_seq": SEQ,
    "answers_with_a_text_as_seq": "Expected `int`, got `str`",
    "logs_to_stdout": RUBBISH,
    "throws": "exit code 1",
    "rejects_a_promise": "exit code 1",
    "aborts": "SIGABRT",
    "is_killed": "SIGKILL",
    "stops_itself": QUIET,
    "exits": "exit code 7",
    "exits:hello": "exit code 7",
    "exits:reset": "exit code 7",
    "exits:run": "exit code 7",
    "exits:stop": None,
    "closes_stdout": "closed its stdout",
    "closes_stdin": "closed its stdin",
    "leaves_a_daemon": None,
    "leaves_a_daemon_with_its_pipes": QUIET,
    "exhausts_its_heap": "SIGABRT",
    "answers_three_million_values": "more than 1,000,000 values",
    "nests_deeply": DEEP,
    "answers_not_a_number": "NaN is no number of JSON",
    "answers_undefined": RUBBISH,
    "hides_half_of_a_surrogate_pair": "half of a surrogate pair",
    "begins_with_a_byte_order_mark": RUBBISH,
    "answers_in_utf_16": RUBBISH,
    "prints_its_answer": RUBBISH,
    "ends_its_lines_with_cr_lf": None,
}
CHANGES = ("changes_its_",)


MEASURED = """
import atexit, resource
from pathlib import Path
from turncheck.conformance.cli.group import main
atexit.register(lambda: Path("memory").write_text(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)))
main()
"""
LARGE = {
    "writes_a_gigabyte_to_stderr",
    "answers_three_million_values",
    "answers_three_million_events",
    "answers_a_million_quotes",
    "answers_sixty_megabytes_of_text",
    "exhausts_its_heap",
}
"""Harms that take a while, and do not hang."""


class Ran(NamedTuple):
    """How ``turncheck verify`` ended: what it printed, the megabytes that it had at most, and what was left."""

    code: int
    out: str
    err: str
    megabytes: float
    left: list[str]


def verified(folder, command, *options):
    """Verify *command*, and see what it cost and left."""
    mark = str(uuid4())
    arguments = ("--json", "--examples", "0", *options)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "verify", "cmd:" + shlex.join(map(str, command)), *arguments],
        cwd=folder,
        env={**os.environ, "TURNCHECK_TEST": mark},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    megabytes = int((folder / "memory").read_text()) / 1024
    return Ran(done.returncode, done.stdout, done.stderr, megabytes, living(mark.encode()))


def timeout(harm, said):
    """Bound an answer tightly only where one never comes: what is judged all the same may find a busy machine."""
    return "--timeout", str(SECONDS / 2 if harm in LARGE or said is None else TIMEOUT)


def judge(ran, said):
    """Hold a run to its bounds and to the verdict that is due."""
    assert ran.left == []
    assert ran.megabytes < MEGABYTES
    assert "Traceback (most recent call last)" not in ran.err
    if said is None:
        verdicts = {law["verdict"] for law in json.loads(ran.out)["laws"]}
        assert (ran.code, verdicts - {"pass", "skipped", "inconclusive"}) == (0, set()), ran.out
    elif ran.out:
        result = json.loads(ran.out)
        how = result["crash"]["message"] if "crash" in result else result["cut"]  # the time of the run is no crash
        assert (ran.code, said in how) == (2, True), ran.out
    else:  # it could not even be started
        assert (ran.code, said in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("harm", TEXT_OF_PYTHON)
def test_a_hostile_adapter_in_python_does_no_harm(tmp_path, harm):
    double = DOUBLES / "misbehaving_runtime.py" if harm.startswith(CHANGES) else PYTHON[1]
    bound = ("--run-timeout", "8") if harm == "sleeps_just_under_the_timeout" else ()
    said = TEXT_OF_PYTHON[harm]
    judge(verified(tmp_path, (sys.executable, double, harm), *timeout(harm, said), *bound), said)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("harm", TEXT_OF_NODE)
def test_a_hostile_adapter_in_javascript_does_no_harm(tmp_path, harm):
    flags = ("--max-old-space-size=64",) if harm == "exhausts_its_heap" else ()
    said = TEXT_OF_NODE[harm]
    judge(verified(tmp_path, (NODE[0], *flags, NODE[1], harm), *timeout(harm, said)), said)
