"""`turncheck check` from the outside: exit codes, output, and manners at the terminal."""

import gzip
import json
import os
import signal
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from turncheck.conformance.check.fleet.one import How
from turncheck.conformance.cli.group import COMMANDS, main
from turncheck.conformance.cli.options import log_jobs
from turncheck.conformance.cli.options.inputs import Input

USER: Final = b'{"type":"user-message","text":"red"}\n'
STOP: Final = b'{"type":"run-stop","reason":"completed"}\n'
SOUND: Final = USER + STOP
BROKEN: Final = USER + STOP + STOP
OPEN: Final = USER
NATIVE: Final = b'{"type":"native","event":"heartbeat"}\n'
HEAVY: Final = ("hypothesis", "transitions", "jsonschema", "graphviz", "wasmtime", "rich")
LIMIT: Final = 60.0  # seconds; never waited for


class Ran(NamedTuple):
    code: object
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command line in this process, in a folder of its own, with given bytes on standard input."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        return Ran(stop.value.code, *capsys.readouterr())

    return run


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "turncheck.conformance", *arguments]


def write(name: str, data: bytes) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return name


# Exit codes


@pytest.mark.parametrize(
    ("data", "options", "code"),
    [
        (SOUND, (), 0),
        (BROKEN, (), 1),
        (OPEN, (), 0),
        (OPEN, ("--strict",), 1),
        (SOUND, ("--strict",), 0),
        (b"", (), 2),
        (b"\n\n", (), 2),
        (NATIVE, (), 2),
        (NATIVE, ("--strict",), 2),
        (NATIVE + BROKEN, (), 1),
        (b"rubbish", (), 2),
        (b"rubbish", ("--format", "turncheck"), 2),
        (SOUND, ("--format", "ag-ui"), 2),
        (gzip.compress(SOUND, mtime=0), (), 0),
        (gzip.compress(BROKEN, mtime=0), (), 1),
        (gzip.compress(SOUND, mtime=0)[:-9], (), 2),
        (b'{"kind":"header","v":4,"storageVersion":1}', (), 2),
    ],
)
def test_a_log_has_its_exit_code(run: Any, data: bytes, options: tuple[str, ...], code: int) -> None:
    assert run("check", write("log.jsonl", data), *options).code == code


@pytest.mark.parametrize(
    ("data", "code"),
    [((SOUND, SOUND), 0), ((SOUND, BROKEN), 1), ((BROKEN, OPEN), 1), ((b"", BROKEN), 2), ((BROKEN, b"", SOUND), 2)],
)
def test_of_several_logs_the_worst_counts(run: Any, data: tuple[bytes, ...], code: int) -> None:
    names = [write(f"{number}.jsonl", log) for number, log in enumerate(data)]
    ran = run("check", *names, "--json")
    assert ran.code == code
    assert [json.loads(line)["log"] for line in ran.out.splitlines()] == names


def test_a_log_without_a_run_says_why_it_is_not_judged(run: Any) -> None:
    out = run("check", write("log.jsonl", NATIVE)).out
    assert out.splitlines()[1:] == ["    no event opens a run: there is nothing to judge"]


def test_a_missing_file_is_an_error_and_the_others_are_judged(run: Any) -> None:
    ran = run("check", "nowhere.jsonl", write("log.jsonl", SOUND), "--json")
    missing, sound = map(json.loads, ran.out.splitlines())
    assert (ran.code, missing["verdict"], missing["why"]) == (2, "error", "No such file or directory")
    assert sound["verdict"] == "pass"


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that opens and cannot be read")
def test_an_unreadable_file_is_an_error(run: Any) -> None:
    ran = run("check", "/proc/self/mem", "--json")
    assert (ran.code, json.loads(ran.out)["verdict"]) == (2, "error")


def test_a_folder_is_searched_for_logs_in_the_order_of_their_paths(run: Any) -> None:
    for name in ("logs/b.sse", "logs/a/z.ndjson", "logs/a.jsonl", "logs/notes.txt", "logs/a/deep/er/x.jsonl"):
        write(name, SOUND)
    ran = run("check", "logs", "--json")
    names = [json.loads(line)["log"] for line in ran.out.splitlines()]
    assert names == ["logs/a.jsonl", "logs/a/deep/er/x.jsonl", "logs/a/z.ndjson", "logs/b.sse"]


def test_a_folder_without_logs_is_an_error(run: Any) -> None:
    write("logs/notes.txt", SOUND)
    ran = run("check", "logs", write("log.jsonl", SOUND), "--json")
    empty, sound = map(json.loads, ran.out.splitlines())
    assert (ran.code, empty["log"], sound["verdict"]) == (2, "logs", "pass")
    assert empty["why"] == "no log in the folder: looked for .jsonl, .ndjson, .sse, also as .gz and .zst, and .parquet"


def test_a_file_that_is_named_is_read_whatever_it_is_called(run: Any) -> None:
    assert run("check", write("notes.txt", BROKEN)).code == 1


@pytest.mark.parametrize(
    "arguments", [("check",), ("check", "-", "--max-line", "0"), ("check", "-", "--format", "x"), ("chekc",)]
)
def test_a_wrong_command_line_is_an_error(run: Any, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err


def test_a_dash_is_standard_input(run: Any) -> None:
    ran = run("check", "-", "--json", stdin=BROKEN)
    assert (ran.code, json.loads(ran.out)["log"]) == (1, "-")


def test_the_limit_on_lines_is_kept(run: Any) -> None:
    assert run("check", "-", "--max-line", "38", stdin=SOUND).code == 1
    assert run("check", "-", "--max-line", "50", stdin=SOUND).code == 0


# Output


def test_ten_findings_of_a_law_are_shown_and_all_of_them_if_asked(run: Any) -> None:
    log = write("log.jsonl", SOUND + STOP * 25)
    shown, every = run("check", log).out.splitlines(), run("check", log, "--all").out.splitlines()
    assert (len(shown), shown[-1]) == (12, "    … and 15 more of outside-run; --all shows them")
    assert (len(every), [line for line in every if "more of" in line]) == (26, [])


def test_json_streams_every_finding_if_asked(run: Any) -> None:
    lines = run("check", write("log.jsonl", SOUND + STOP * 25), "--all", "--json").out.splitlines()
    assert [json.loads(line).get("line") for line in lines[:-1]] == [*range(3, 28)]
    assert json.loads(lines[-1])["verdict"] == "fail"


def test_an_unknown_format_is_one_line_that_helps(run: Any) -> None:
    out = run("check", write("log.jsonl", b'{"type":"response.created"}\n' * 2000)).out.splitlines()
    assert len(out) == 2
    assert "8 of the type 'response.created'" in out[1] or "64 of the type 'response.created'" in out[1]
    assert "read are ag-ui" in out[1]


def test_json_has_exactly_these_keys(run: Any) -> None:
    judged = json.loads(run("check", write("log.jsonl", BROKEN), "--json").out)
    assert list(judged) == ["log", "format", "events", "cycles", "findings", "verdict"]
    assert list(judged["findings"][0]) == ["law", "clauses", "at", "line", "message"]


def test_json_of_an_error_says_why(run: Any) -> None:
    judged = json.loads(run("check", "-", "--json").out)
    assert list(judged) == ["log", "format", "events", "cycles", "findings", "verdict", "why"]


def test_text_shows_the_line_the_law_and_its_clauses(run: Any) -> None:
    out = run("check", write("log.jsonl", BROKEN)).out
    assert "log.jsonl  turncheck, 3 events, 1 cycles: fail" in out
    assert "line 3  outside-run  " in out
    assert "RC-7.4, X-3" in out


def test_a_name_that_is_not_utf8_can_be_told(run: Any, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.jsonl")).write_bytes(SOUND)
    ran = run("check", ".", "--json")
    assert (ran.code, json.loads(ran.out)["log"]) == (0, "\ufffd.jsonl")


HOSTILE: Final = (
    rb'{"type":"\u001b]0;owned\u0007\u001b[2J\r\u009b31m\u202e"}' + b"\n" + b'{"type":"run-stop","reason":"\x1b[2J"}\n'
)


def test_control_characters_of_a_log_are_not_shown(run: Any) -> None:
    out = run("check", write("log.jsonl", HOSTILE)).out
    assert [character for character in out if not character.isprintable() and character != "\n"] == []


def test_control_characters_of_a_name_are_not_shown(run: Any) -> None:
    out = run("check", write("\x1b[2J.jsonl", SOUND)).out
    assert "\x1b" not in out


def on_terminal(arguments: list[str], **environment: str) -> bytes:
    """Return the command's output on a terminal."""
    reader, writer = os.openpty()
    env = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"} | environment
    subprocess.run(command(*arguments), stdout=writer, stderr=subprocess.PIPE, check=False, env=env, timeout=LIMIT)
    os.close(writer)
    shown = b""
    try:
        while piece := os.read(reader, 65536):
            shown += piece
    except OSError:  # a terminal without a writer ends so
        pass
    os.close(reader)
    return shown


def test_a_terminal_is_coloured_and_safe(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(HOSTILE)
    shown = on_terminal(["check", str(log)])
    assert b"\x1b[31m" in shown
    assert b"\x1b[2J" not in shown
    assert b"\x1b]" not in shown


def test_no_color_is_obeyed(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(BROKEN)
    shown = on_terminal(["check", str(log)], NO_COLOR="1")
    assert b"outside-run" in shown
    assert b"\x1b" not in shown


# Manners


def test_a_broken_pipe_is_quiet(tmp_path: Path) -> None:
    big = tmp_path / "big.jsonl"
    big.write_bytes(b"rubbish\n" * 50_000)
    with (
        subprocess.Popen(command("check", str(big)), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as check,
        subprocess.Popen(["head", "-1"], stdin=check.stdout, stdout=subprocess.PIPE) as head,
    ):
        assert check.stdout is not None
        assert check.stderr is not None
        check.stdout.close()
        assert head.communicate(timeout=LIMIT)[0].count(b"\n") == 1
        assert check.stderr.read() == b""
        check.wait(LIMIT)


def test_an_interrupt_ends_with_130(tmp_path: Path) -> None:
    pipe = tmp_path / "log.jsonl"
    os.mkfifo(pipe)
    with subprocess.Popen(command("check", str(pipe)), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as check:
        writer = os.open(pipe, os.O_WRONLY)  # returns once the command has opened it for reading
        try:
            os.write(writer, USER)
            check.send_signal(signal.SIGINT)
            _, err = check.communicate(timeout=LIMIT)
        finally:
            os.close(writer)
    assert check.returncode == 130
    assert b"interrupted" in err
    assert b"Traceback" not in err


def modules_after(*arguments: str) -> set[str]:
    script = (
        "import sys\n"
        "from turncheck.conformance.cli.group import main\n"
        "try:\n"
        f"    main({list(arguments)!r})\n"
        "except SystemExit:\n"
        "    print(*sys.modules, file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=LIMIT)
    return set(ran.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("check", "--help")])
def test_help_loads_nothing_heavy(arguments: tuple[str, ...]) -> None:
    assert modules_after(*arguments).isdisjoint(HEAVY)


def test_check_loads_nothing_heavy(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(BROKEN)
    loaded = modules_after("check", str(log))
    assert "turncheck.model.core.loop" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_help_lists_every_command(run: Any) -> None:
    ran = run("--help")
    assert ran.code == 0
    assert [name for name in COMMANDS if f"  {name} " not in ran.out] == []


def test_findings_that_are_not_listed_are_counted_in_the_text_and_in_json(run: Any) -> None:
    log = write("log.jsonl", b'{"type":"run-stop"}\n' * 2500)
    assert run("check", log).out.splitlines()[-1] == "    … and 2,490 more of malformed; --all shows them"
    ran = run("check", log, "--json")
    assert (ran.code, json.loads(ran.out)["more"]) == (1, {"malformed": 1500})


# Several processes


@pytest.mark.parametrize("options", [(), ("--all",), ("--json",), ("--json", "--all"), ("--report", "markdown")])
def test_the_output_is_the_same_for_any_number_of_processes(run: Any, options: tuple[str, ...]) -> None:
    for name, text in (("a", SOUND), ("b", BROKEN + STOP * 20), ("c", b""), ("d/e", b"rubbish"), ("d/f", BROKEN)):
        write(f"logs/{name}.jsonl", text)
    Path("logs/gone.jsonl").symlink_to("nowhere")
    arguments = ("check", "logs", "-", "nowhere", "logs/a.jsonl", *options)
    one, *others = (run(*arguments, "-j", jobs, stdin=BROKEN) for jobs in ("1", "2", "3"))
    assert one.code == 2
    assert others == [one, one]


@pytest.mark.parametrize(
    ("sizes", "processes"), [([], 1), ([200], 1), ([50, 40], 1), ([50, 51], 2), ([200, 1], 2), ([0, 0, 0, 0, 0], 2)]
)
def test_logs_that_pay_for_them_are_shared_among_as_many_processes_as_processors(
    sizes: list[int], processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_jobs, "LARGE", 100)
    monkeypatch.setattr(log_jobs, "LOOKED_AT", 5)
    monkeypatch.setattr(log_jobs, "processors", lambda: 2)
    logs = [Input(write(str(tmp_path / str(number)), b" " * size)) for number, size in enumerate(sizes)]
    count, inputs = log_jobs.jobs_for(None, iter(logs), How(None, 1000))
    assert (count, list(inputs)) == (processes, logs)


def test_a_number_of_processes_that_is_named_is_taken() -> None:
    assert log_jobs.jobs_for(3, iter(()), How(None, 1000))[0] == 3
