"""`turncheck project` from the outside: the JSON to the letter, sessions, policies, views and text."""

import json
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
EXAMPLES = [json.loads(line) for line in (TESTS / "data" / "examples.jsonl").read_text("utf-8").splitlines()]
PI = TESTS / "recordings" / "logs" / "pi-0.73.1" / "steer.jsonl"
USER = {"type": "user-message", "text": "red"}
STEER = {"type": "user-message", "text": "blue", "delivery": "steer"}
WAITING = {"type": "user-message", "text": "blue"}
TEXT = {"type": "agent-output", "kind": "assistant", "text": "red"}
CALL = {"type": "agent-output", "kind": "tool-call", "callId": "a", "tool": "read"}
RESULT = {"type": "tool-result", "callId": "a"}


def stop(reason="completed"):
    return {"type": "run-stop", "reason": reason}


def of(session, *events):
    return [{**event, "sessionId": session} for event in events]


def written(events):
    """A log's bytes; null stands for an unreadable line."""
    return b"".join((b"{" if event is None else json.dumps(event).encode()) + b"\n" for event in events)


@pytest.fixture
def project(invoke, tmp_path):
    """Project a log that stands on standard input."""
    return lambda events, *options: invoke(tmp_path, "project", "-", *options, stdin=written(events))


def parsed(ran):
    return [json.loads(line) for line in ran.out.splitlines()]


# ---- JSON ----


@pytest.mark.parametrize("example", EXAMPLES, ids=[example["name"] for example in EXAMPLES])
def test_an_example_is_projected_to_the_letter(project, example):
    wanted = json.dumps({"sessionId": None, **example["projection"]}, separators=(",", ":"))
    assert project(example["log"], "--json").out == wanted + "\n"


def test_an_empty_log_prints_nothing(project):
    assert project([], "--json") == (0, "", "")


def test_an_empty_log_prints_no_text_either(project):
    assert project([]) == (0, "", "")


def test_sessions_stand_in_the_order_in_which_they_appear(project):
    events = [*of("b", USER), *of("a", USER), USER, *of("a", stop()), *of("b", stop())]
    assert [session["sessionId"] for session in parsed(project(events, "--json"))] == ["b", "a", None]


def test_a_session_in_which_nothing_closed_is_there(project):
    events = [*of("a", USER, stop()), *of("b", USER)]
    assert [len(session["cycles"]) for session in parsed(project(events, "--json"))] == [1, 1]


def test_a_session_whose_only_line_was_rejected_is_there(project):
    (session,) = parsed(project(of("a", TEXT), "--json"))
    assert session == {
        "sessionId": "a",
        "cycles": [],
        "queued": [],
        "dropped": [],
        "anomalies": [{"kind": "outside-run", "at": 0}],
    }


def test_an_unreadable_line_belongs_to_the_session_without_a_name(project):
    assert [session["sessionId"] for session in parsed(project([*of("a", USER), None], "--json"))] == ["a", None]


def test_positions_are_those_of_the_whole_log(project):
    events = [*of("a", USER), *of("b", USER), *of("a", stop()), *of("b", stop())]
    assert [session["cycles"][0]["stop"] for session in parsed(project(events, "--json"))] == [2, 3]


def test_a_session_is_named_as_the_log_names_it(project):
    name = 'ü"\n\x1b'
    assert parsed(project(of(name, USER), "--json"))[0]["sessionId"] == name


def test_a_log_in_another_format_is_mapped_first(invoke, tmp_path):
    (session,) = parsed(invoke(tmp_path, "project", PI, "--json"))
    assert [(cycle["root"], cycle["stop"]) for cycle in session["cycles"]] == [(2, 24)]


# ---- policies ----


@pytest.mark.parametrize(
    ("option", "value", "events", "wanted"),
    [
        ("--while-active", "followUp", [USER, WAITING], [1]),
        ("--while-active", "steer", [USER, WAITING], []),
        ("--queue-after-interrupted", "promote", [USER, WAITING, stop("interrupted")], []),
        ("--queue-after-interrupted", "hold", [USER, WAITING, stop("interrupted")], [1]),
        ("--queue-after-error", "promote", [USER, WAITING, stop("error")], []),
        ("--queue-after-error", "hold", [USER, WAITING, stop("error")], [1]),
    ],
)
def test_a_policy_decides_what_waits(project, option, value, events, wanted):
    assert parsed(project(events, option, value, "--json"))[0]["queued"] == wanted


@pytest.mark.parametrize("reason", ["interrupted", "error"])
def test_a_policy_decides_what_is_dropped(project, reason):
    ran = project([USER, WAITING, stop(reason)], f"--queue-after-{reason}", "drop", "--json")
    assert parsed(ran)[0]["dropped"] == [1]


def test_a_policy_that_does_not_exist_exits_2(project):
    assert project([USER], "--while-active", "drop").code == 2


# ---- exit codes ----


def test_anomalies_exit_0(project):
    assert project([None, TEXT]).code == 0


def test_strict_stops_at_the_first_anomaly(project):
    ran = project([USER, stop(), TEXT, None], "--strict")
    assert (ran.code, ran.out, ran.err) == (1, "", "-: outside-run at position 2\n")


def test_strict_goes_by_the_line_that_reveals_an_anomaly(project):
    log = [USER, CALL, {"type": "x"}, stop()]
    assert project(log, "--strict") == (1, "", "-: unknown-type at position 2\n")


def test_strict_sees_a_log_that_ends_in_a_run(project):
    assert project([USER], "--strict", "--json") == (1, "", "-: truncated at position 0\n")


def test_strict_names_the_session(project):
    assert "of session 'a'" in project(of("a", USER), "--strict").err


def test_strict_lets_a_log_without_anomalies_pass(project):
    assert project([USER, stop()], "--strict").code == 0


def test_a_missing_file_exits_2(invoke, tmp_path):
    ran = invoke(tmp_path, "project", "nowhere.jsonl")
    assert (ran.code, ran.out) == (2, "")
    assert "nowhere.jsonl: " in ran.err


def test_a_format_that_is_not_read_exits_2(project):
    assert project([{"kind": "header", "v": 4, "storageVersion": 1}]).code == 2


# ---- text ----

WORKED = [USER, TEXT, CALL, RESULT, STEER, TEXT, WAITING, stop("interrupted")]
HELD = ("--queue-after-interrupted", "hold")


def test_text_is_a_tree_of_both_views(project):
    assert project(WORKED, *HELD).out.splitlines() == [
        "cycle 1  direct root 0, interrupted at 7",
        "├─ non-steer 0",
        "├─ ai-block text 1",
        "│     read-group: 2 → 3",
        "├─ steer 4",
        "├─ ai-block text 5",
        "├─ round 1: fed 0; made 1, 2",
        "└─ round 2: fed 3, 4; made 5",
        "queued  6",
    ]


def test_text_of_an_open_cycle_says_so(project):
    assert project([USER]).out.splitlines()[0] == "cycle 1  direct root 0, still open"


def test_text_shows_the_anomalies(project):
    assert project([TEXT]).out == "outside-run  at 0\n"


def test_text_names_the_sessions(project):
    assert project(of("a", TEXT)).out.splitlines()[0] == "session a"


@pytest.mark.parametrize(("view", "hidden"), [("steps", "round"), ("rounds", "ai-block")])
def test_a_view_leaves_the_other_out(project, view, hidden):
    shown = project(WORKED, *HELD, "--view", view).out
    assert (hidden in shown, "└─" in shown) == (False, True)


def test_a_view_does_not_change_the_json(project):
    assert project(WORKED, "--view", "steps", "--json") == project(WORKED, "--json")


def test_control_characters_of_a_session_are_not_shown(project):
    out = project(of("\x1b[2J\x9b31m\u202e", TEXT)).out
    assert [character for character in out if not character.isprintable() and character != "\n"] == []


# ---- sub-agents (L-S1) ----


def test_a_sub_agent_stands_in_its_session(project):
    (shown,) = parsed(project([USER, {**USER, "agentId": "a"}, {**stop(), "agentId": "a"}, stop()], "--json"))
    assert (shown["cycles"][0]["stop"], shown["agents"]["a"]["cycles"][0]["stop"]) == (3, 2)


def test_a_sub_agent_is_shown_below_its_session(project):
    ran = project([USER, {**USER, "agentId": "a"}, stop()])
    assert ran.out.splitlines().index("sub-agent a") > ran.out.splitlines().index(
        "cycle 1  direct root 0, completed at 2"
    )
