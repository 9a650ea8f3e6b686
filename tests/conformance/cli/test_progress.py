"""Progress: a line on stderr for what lasts, unless told to keep quiet."""

import click
import pytest

from turncheck.conformance.cli.group import COMMANDS, turncheck
from turncheck.conformance.cli.printing import output
from turncheck.conformance.cli.printing.output import Progress, notice


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr("time.monotonic", found)
    return found


@pytest.fixture
def told_to_keep_quiet():
    with click.Context(click.Command("check")) as context:
        context.meta["turncheck.quiet"] = True
        yield


@pytest.fixture
def said(clock, capsys, monkeypatch):
    """The output while progress is reported at so many seconds: ``said(seconds, terminal=True)``."""

    def said(at, *, terminal=True):
        monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
        with Progress("log") as progress:
            for clock.now in at:
                progress.say(f"{clock.now:g} events")
            return capsys.readouterr().err

    return said


def test_nothing_is_said_for_two_seconds(said):
    assert said([0.1, 1.0, 1.9]) == ""


def test_what_lasts_is_said_on_one_line(said):
    assert said([2.0]) == "\r\x1b[Klog: 2 events"


def test_it_is_said_four_times_a_second_at_most(said):
    assert said([2.0, 2.1, 2.2, 2.3]).count("events") == 2


def test_the_line_is_taken_away_at_the_end(said, capsys):
    said([2.0])
    assert capsys.readouterr().err == "\r\x1b[K"


def test_nothing_is_said_for_ten_seconds_where_there_is_no_terminal(said):
    assert said([2.0, 3.0, 9.9], terminal=False) == ""


def test_a_line_each_ten_seconds_is_said_where_there_is_no_terminal(said):
    assert said([10.0, 11.0, 19.0, 20.0, 29.0], terminal=False) == "log: 10 events\nlog: 20 events\n"


def test_what_is_said_without_a_terminal_is_spelled(clock, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    with Progress("\x1b[31mlog") as progress:
        clock.now = 10.0
        progress.say("1 event")
    assert "\x1b" not in capsys.readouterr().err


def test_nothing_is_said_to_who_wants_it_quiet(said, told_to_keep_quiet):
    assert said([2.0, 3.0]) == ""


def test_no_notice_is_given_to_who_wants_it_quiet(told_to_keep_quiet, capsys):
    notice("making an environment")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_can_be_kept_quiet(command):
    found = turncheck.get_command(click.Context(turncheck), command)
    assert found is not None
    assert [option for parameter in found.params for option in parameter.opts].count("--quiet") == 1


def test_the_option_reaches_what_shows_progress(invoke, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(Progress, "__exit__", lambda *_: seen.append(output.quiet()))
    (tmp_path / "log.jsonl").write_text('{"type":"user-message","text":"red"}\n', "utf-8")
    invoke(tmp_path, "check", "log.jsonl", "--quiet")
    invoke(tmp_path, "check", "log.jsonl")
    assert seen == [True, False]
