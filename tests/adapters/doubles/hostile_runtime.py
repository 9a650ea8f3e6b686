"""A runtime that is out to harm whoever drives it, one harm a function: ``FAULT[:COMMAND[:COUNT]] [MARKER]``.

As ``misbehaving_runtime``, whose process and whose conversation it has.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

from misbehaving_runtime import SLEEPER, forever, main, say, start, write

GIGABYTE = 1 << 30
PR_SET_NAME = 15  # linux/prctl.h


def text_of(answer):
    return json.dumps(answer).encode()


def with_field(answer, value):
    """Write *answer* with a field that the protocol does not know, whose JSON is *value*."""
    write(text_of(answer)[:-1] + b', "mood": ' + value + b"}\n")


# ---- floods and silence ----


def floods_stderr_and_never_answers(message, answer):
    while True:
        os.write(2, b"still working\n" * 4096)


def floods_both_at_once(message, answer):
    if os.fork():
        floods_stderr_and_never_answers(message, answer)
    while True:
        write(b"x" * 65536)


def writes_a_gigabyte_to_stderr(message, answer):
    if message["seq"] == 2:
        for _ in range(GIGABYTE >> 16):
            os.write(2, b"e" * 65536)
    say(answer)


def dribbles_without_end(message, answer):
    for byte in b'{"seq": 2, "ok": true, "events": [' + b"1, " * 10_000:
        write(bytes([byte]))
        time.sleep(0.02)


def dribbles_byte_by_byte(message, answer):
    for byte in text_of(answer) + b"\n":
        write(bytes([byte]))


def sleeps_just_under_the_timeout(message, answer):
    time.sleep(0.8)
    say(answer)


def stops_itself(message, answer):
    os.kill(os.getpid(), signal.SIGSTOP)


def stops_reading(message, answer):
    """Leaves its stdin to a child that does not read either."""
    subprocess.Popen(SLEEPER)
    say(answer)
    forever()


# ---- answers that were not asked for ----


def answers_before_the_question(message, answer):
    say(answer, {**answer, "seq": answer["seq"] + 1})


def answers_with_an_old_seq(message, answer):
    say({**answer, "seq": 0})


def answers_a_thousand_times(message, answer):
    say(*[answer] * 1000)


def answers_hello_again(message, answer):
    say({"ok": True, "protocol": 1})


# ---- deaths ----


def aborts(message, answer):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.abort()


def is_killed(message, answer):
    os.kill(os.getpid(), signal.SIGKILL)


def overflows_the_stack(message, answer):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(1 << 30)
    ctypes.string_at(1)


def kills_its_group(message, answer):
    os.killpg(0, signal.SIGTERM)
    forever()


def kills_its_supervisor(message, answer):
    os.kill(os.getppid(), signal.SIGKILL)
    forever()


def leaves_without_a_word(message, answer):
    os._exit(0)


# ---- processes ----


def forks_a_small_bomb(message, answer):
    """Has 2^5 processes, which hold all pipes and are deaf to SIGTERM; only one of them goes away."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for _ in range(5):
        os.fork()
    forever()


def forks_without_end(message, answer):
    """Has a line of descendants, each of which ends as soon as it has one of its own."""
    say(answer)
    if not os.fork():
        os.setsid()
        while os.fork() == 0:
            time.sleep(0.002)
        os._exit(0)


def leaves_a_daemon_with_its_stderr(message, answer):
    if message["seq"] == 2 and not os.fork():
        os.setsid()
        if not os.fork():
            os.execv(SLEEPER[0], SLEEPER)
        os._exit(0)
    say(answer)


def leaves_a_daemon_without_environment(message, answer):
    if message["seq"] == 2 and not os.fork():
        os.setsid()
        if not os.fork():
            os.closerange(0, 256)
            os.execve(SLEEPER[0], SLEEPER, {})
        os._exit(0)
    say(answer)


def leaves_zombies(message, answer):
    for _ in range(20):
        if not os.fork():
            os._exit(0)
    say(answer)


def leads_sessions_of_its_own(message, answer):
    start(SLEEPER, session=True)
    say(answer)


def joins_another_group(message, answer):
    if not os.fork():
        os.setpgid(0, 0)
        forever()
    say(answer)


def renames_itself(message, answer):
    """Has a name that looks like a row of the process table, and its child too."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, b"a) Z 1 1 (b", 0, 0, 0)
    if message["seq"] == 2 and not os.fork():
        forever()
    say(answer)


def adopts_orphans_itself(message, answer):
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    leaves_a_daemon_with_its_stderr(message, answer)


def writes_to_the_terminal(message, answer):
    try:
        with open("/dev/tty", "w") as terminal:  # noqa: PTH123
            terminal.write("you have been had\n")
    except OSError:
        say(answer)


def exhausts_its_descriptors(message, answer):
    while True:
        try:
            os.open(os.devnull, os.O_RDONLY)
        except OSError:
            break
    say(answer)


def ends_the_harness(message, answer):
    """Tells the harness, the supervisor's parent, to end; a deaf daemon of its own is there."""
    start(SLEEPER, session=True)
    status = Path(f"/proc/{os.getppid()}/status").read_text()
    os.kill(int(status.partition("PPid:")[2].split()[0]), int(os.environ["TURNCHECK_TEST_SIGNAL"]))
    if answer:
        say(answer)


# ---- texts that are no answer ----


def answers_three_million_values(message, answer):
    with_field(answer, b"[" + b",".join([b"{}"] * 3_000_000) + b"]")


def answers_three_million_events(message, answer):
    write(text_of({**answer, "events": ["?"]}).replace(b'"?"', b",".join([b"1"] * 3_000_000)) + b"\n")


def answers_a_million_quotes(message, answer):
    write(b'"' * 60_000_000 + b"," * 1_000_000 + b"\n")


def answers_sixty_megabytes_of_text(message, answer):
    if message["seq"] == 2:
        with_field(answer, b'"' + b"x" * 60_000_000 + "😀".encode() + b'"')
    else:
        say(answer)


def nests_deeply(message, answer):
    with_field(answer, b"[" * 500_000 + b"]" * 500_000)


def nests_deeply_in_its_events(message, answer):
    write(text_of({**answer, "events": ["?"]}).replace(b'"?"', b"[" * 5_000 + b"]" * 5_000) + b"\n")


def hides_bytes_that_are_no_utf_8(message, answer):
    with_field(answer, b'"\xff\xfe"')


def hides_half_of_a_surrogate_pair(message, answer):
    with_field(answer, rb'"\ud800"')


def hides_an_infinite_number(message, answer):
    with_field(answer, b"1e999")


def hides_a_giant_integer(message, answer):
    with_field(answer, b"9" * 1_000_000)


def says_its_seq_twice(message, answer):
    write(text_of(answer)[:-1] + b', "seq": %d}\n' % (answer["seq"] + 7))


def begins_with_a_byte_order_mark(message, answer):
    write(b"\xef\xbb\xbf" + text_of(answer) + b"\n")


def answers_in_utf_16(message, answer):
    write(json.dumps(answer).encode("utf-16") + b"\n")


def answers_nul_bytes(message, answer):
    write(text_of(answer).replace(b" ", b"\0") + b"\n")


def colours_its_answer(message, answer):
    write(b"\x1b[2J\x1b[31m" + text_of(answer) + b"\x1b[0m\n")


def ends_its_lines_with_cr_lf(message, answer):
    write(text_of(answer) + b"\r\n")


def ends_its_lines_with_cr(message, answer):
    write(text_of(answer) + b"\r")
    forever()


if __name__ == "__main__":
    main(globals(), *sys.argv[1:])
