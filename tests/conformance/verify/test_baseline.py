"""The baseline: what its file may say, what it excuses, when an entry is stale, and what an update writes."""

import datetime as dt

import msgspec
import pytest

from turncheck.adapters.protocol.messages import Implementation, Profile
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.kept.baseline import Baseline, BaselineError, Entry, grade, parse, read
from turncheck.conformance.verify.kept.updating import updated
from turncheck.conformance.verify.outcome.results import INTERRUPTED, Evidence, LawResult, Result, summary

TODAY = dt.date(2026, 11, 22)
ENTRY = Entry("the queue is a stack", "#12")
INPUT = ("results-attached", "results-survive", "results-not-invented")


def result(cut=None, **verdicts):
    """A result with these laws' verdicts."""
    laws = tuple(
        LawResult(name.replace("_", "-"), "run", ("X-1",), verdict, Evidence(1, 0), f"it is {verdict}")
        for name, verdict in verdicts.items()
    )
    who = Implementation("a", "1", "python")
    return Result(
        turncheck="0",
        target="cmd:a",
        implementation=who,
        profile=Profile(("runtime",), ()),
        seed=0,
        laws=laws,
        coverage={},
        summary=summary(laws),
        cut=cut,
    )


def inputs(*verdicts):
    return {name.replace("-", "_"): verdict for name, verdict in zip(INPUT, verdicts, strict=True)}


def states(graded):
    return {law.law: law.baseline.state if law.baseline else None for law in graded.laws}


def graded(entries, cut=None, flaky=(), **verdicts):
    known = entries if isinstance(entries, dict) else dict.fromkeys(entries, ENTRY)
    return grade(result(cut, **verdicts), Baseline(known, dict.fromkeys(flaky, ENTRY)), TODAY)


# ---- what it excuses ----


def test_a_failure_without_an_entry_exits_1():
    assert graded([], calls_answered="fail", items_conserved="pass").exit_code == 1


def test_a_failure_that_is_listed_is_excused():
    assert graded(["calls-answered"], calls_answered="fail", items_conserved="pass").exit_code == 0


def test_a_listed_failure_says_which_entry_excuses_it():
    (law,) = graded(["calls-*"], calls_answered="fail").laws
    assert (law.verdict, law.baseline.state, law.baseline.entry, law.baseline.reason, law.baseline.issue) == (
        *("fail", "known", "calls-*", "the queue is a stack"),
        "#12",
    )


def test_a_failure_beside_a_listed_one_exits_1():
    assert graded(["calls-answered"], calls_answered="fail", items_conserved="fail").exit_code == 1


def test_a_run_in_which_nothing_passes_but_a_failure_is_expected_exits_0():
    assert graded(["calls-answered"], calls_answered="fail").exit_code == 0


def test_an_error_is_never_excused():
    done = graded(["calls-answered"], calls_answered="error", items_conserved="pass")
    assert (done.exit_code, states(done)["calls-answered"]) == (2, None)


def test_an_interrupted_run_exits_130_whatever_is_listed():
    assert graded(["calls-answered"], cut=INTERRUPTED, calls_answered="fail").exit_code == 130


def test_verdicts_and_summary_stay_as_they_are():
    done = graded(["calls-answered"], calls_answered="fail", items_conserved="pass")
    assert done.summary == result(calls_answered="fail", items_conserved="pass").summary


# ---- stale ----


def test_a_listed_law_that_passes_is_stale():
    done = graded(["calls-answered"], calls_answered="pass")
    assert (done.exit_code, states(done)) == (1, {"calls-answered": "stale"})


def test_a_glob_is_not_stale_while_one_of_its_laws_fails():
    done = graded(["results-*"], **inputs("pass", "fail", "pass"))
    assert (done.exit_code, [*states(done).values()]) == (0, [None, "known", None])


def test_a_glob_whose_laws_all_pass_is_stale():
    done = graded(["results-*"], **inputs("pass", "pass", "pass"))
    assert (done.exit_code, {*states(done).values()}) == (1, {"stale"})


def test_a_glob_whose_laws_pass_or_are_skipped_is_stale():
    assert graded(["results-*"], **inputs("pass", "skipped", "pass")).exit_code == 1


def test_a_glob_with_a_law_without_evidence_is_not_stale():
    assert graded(["results-*"], **inputs("pass", "inconclusive", "pass")).exit_code == 0


def test_a_glob_is_not_stale_while_one_of_its_laws_was_left_out():
    assert graded(["results-*"], results_survive="pass").exit_code == 0


@pytest.mark.parametrize("verdict", ["skipped", "inconclusive"])
def test_a_listed_law_that_was_not_judged_is_not_stale(verdict):
    done = graded(["calls-answered"], calls_answered=verdict, items_conserved="pass")
    assert (done.exit_code, states(done)["calls-answered"]) == (0, None)


def test_nothing_is_stale_in_a_run_that_was_cut_short():
    assert graded(["calls-answered"], cut="the time budget was used up", calls_answered="pass").exit_code == 0


def test_an_entry_about_the_other_role_is_left_alone():
    assert graded(["follow-up-fifo"], calls_answered="pass").exit_code == 0


# ---- flaky ----


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_a_flaky_law_may_pass_or_fail_and_is_told(verdict):
    done = graded([], flaky=["calls-answered"], calls_answered=verdict)
    assert (done.exit_code, states(done)) == (0, {"calls-answered": "flaky"})


def test_a_known_law_that_is_flaky_too_is_not_stale():
    assert graded(["calls-answered"], flaky=["calls-*"], calls_answered="pass").exit_code == 0


# ---- expiry ----


def expiring(day):
    return {"calls-answered": Entry("later", "#1", day)}


def test_an_entry_counts_on_its_last_day():
    assert graded(expiring(TODAY), calls_answered="fail").exit_code == 0


def test_an_entry_does_not_count_on_the_day_after():
    done = graded(expiring(TODAY - dt.timedelta(1)), calls_answered="fail")
    assert (done.exit_code, states(done)) == (1, {"calls-answered": "expired"})


def test_an_expired_entry_is_not_stale():
    done = graded(expiring(TODAY - dt.timedelta(1)), calls_answered="pass")
    assert (done.exit_code, states(done)) == (0, {"calls-answered": None})


def test_a_glob_that_lives_excuses_what_an_expired_entry_does_not():
    entries = {**expiring(TODAY - dt.timedelta(1)), "calls-*": ENTRY}
    assert graded(entries, calls_answered="fail").laws[0].baseline.entry == "calls-*"


# ---- the file ----


def test_the_file_is_read_as_it_stands():
    text = "[known]\ncalls-answered = {reason = 'r', issue = 'i', expires = 2027-01-31}\n"
    text += "[flaky]\n'run-*' = {reason = 'x', issue = 'y'}\n"
    assert parse(text, "f") == Baseline(
        {"calls-answered": Entry("r", "i", dt.date(2027, 1, 31))}, {"run-*": Entry("x", "y")}
    )


def test_an_empty_file_lists_nothing():
    assert parse("", "f") == Baseline()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[known", "the baseline f.toml is not TOML: Expected ']' at the end of a table declaration"),
        ("version = 1", "the baseline f.toml: 'version' is no list; there are [cause.NAME], [known] and [flaky]"),
        ("known = 1", "the baseline f.toml: known is not a table"),
        ("[known]\ncalls-answered = 1", "the baseline f.toml: known.calls-answered: Expected `object`, got `int`"),
        ("[flaky]\ncalls-answered = {}", "flaky.calls-answered: Object missing required field `reason`"),
        ("[known]\ncalls-answered = {reason = 'r'}", "Object missing required field `issue`"),
        ("[known]\ncalls-answered = {reason = '', issue = 'i'}", "Expected `str` of length >= 1 - at `$.reason`"),
        ("[known]\ncalls-answered = {reason = 'r', issue = 'i', until = 1}", "unknown field `until`"),
        ("[known]\ncalls-answered = {reason = 'r', issue = 'i', expires = 'soon'}", "at `$.expires`"),
        ("[known]\ncalls-answerd = {reason = 'r', issue = 'i'}", "no law of that name; perhaps calls-answered"),
        ("[known]\n'no-such-*' = {reason = 'r', issue = 'i'}", "known.no-such-*: `verify` judges no law of that name"),
        ("[known]\ntruncated = {reason = 'r', issue = 'i'}", "known.truncated: `verify` judges no law of that name"),
    ],
)
def test_what_cannot_be_used_names_file_and_key(text, said):
    with pytest.raises(BaselineError) as error:
        parse(text, "f.toml")
    assert said in str(error.value)


@pytest.mark.parametrize("data", [None, b"\xff"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, data):
    path = tmp_path / "f.toml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(BaselineError, match=r"f\.toml"):
        read(path)


# ---- the update ----


def test_an_update_of_nothing_lists_what_fails():
    text = updated("", result(calls_answered="fail", items_conserved="pass"), TODAY)
    assert parse(text, "f") == Baseline({"calls-answered": Entry("it is fail", "none yet")})


def test_nothing_is_wrong_after_an_update():
    done = result(calls_answered="fail", items_conserved="pass", abort_interrupts="fail")
    text = updated("[known]\nitems-conserved = {reason = 'r', issue = 'i'}\n", done, TODAY)
    assert grade(done, parse(text, "f"), TODAY).exit_code == 0


FILE = """# ours
[known]
# about calls
calls-answered = {reason = "r", issue = "i"} # since May
# about items
items-conserved = {reason = "r", issue = "i"}

[flaky] # lots
# none
"""


def test_an_update_with_nothing_to_change_changes_no_byte():
    assert updated(FILE, result(calls_answered="fail", items_conserved="fail"), TODAY) == FILE


def test_an_update_keeps_the_comments_on_lines_of_their_own():
    text = updated(FILE, result(calls_answered="pass", items_conserved="fail", abort_interrupts="fail"), TODAY)
    kept = ["# ours", "# about calls", "# about items", "[flaky] # lots", "# none"]
    assert [line for line in kept if line not in text.splitlines()] == []


def test_an_update_takes_out_what_is_stale():
    text = updated(FILE, result(calls_answered="pass", items_conserved="fail"), TODAY)
    assert [*parse(text, "f").known] == ["items-conserved"]


def test_an_update_keeps_reason_and_issue_of_what_has_expired():
    text = '[known]\ncalls-answered = {reason = "r", issue = "i", expires = 2020-01-01}\n'
    assert parse(updated(text, result(calls_answered="fail"), TODAY), "f").known == {"calls-answered": Entry("r", "i")}


@pytest.mark.parametrize("why", ['"]\n[known]\n', "\x00\x1b", "é\\u", "''' \"\"\""])
def test_a_hostile_reason_is_written_as_one_string(why):
    done = result(calls_answered="fail")
    hostile = msgspec.structs.replace(done, laws=(msgspec.structs.replace(done.laws[0], why=why),))
    assert parse(updated("", hostile, TODAY), "f").known["calls-answered"].reason == why


def test_every_law_that_verify_judges_can_be_listed():
    lines = [f'{law.name} = {{reason = "r", issue = "i"}}' for law in selected(["projector", "runtime"])]
    assert len(parse("\n".join(["[known]", *lines]), "f").known) == len(lines)


def test_an_integer_of_too_many_digits_is_no_baseline():
    with pytest.raises(BaselineError, match="the baseline f is not TOML"):
        parse("x = " + "9" * 5000, "f")
