"""`turncheck verify --baseline` from the outside: exit codes, output, and the written file."""

import json
import tomllib

import pytest
import tomlkit

WRONG = "python:projectors.wrong:LastInFirstOut"
RIGHT = "python:projectors.plain:Plain"
KNOWN = '[known]\nfollow-up-fifo = {reason = "the queue is a stack", issue = "#12"}\n'


@pytest.fixture
def verified(invoke, tmp_path):
    """Verify a projector by two laws, with a baseline of this text."""

    def verified(target, text=None, *options, laws=("follow-up-fifo", "order")):
        if text is not None:
            (tmp_path / "known.toml").write_text(text)
        chosen = [part for law in laws for part in ("--laws", law)]
        return invoke(tmp_path, "verify", target, "--examples", "0", *chosen, "--baseline", "known.toml", *options)

    return verified


def test_a_failure_that_is_listed_exits_0(verified):
    assert verified(WRONG, KNOWN).code == 0


def test_a_failure_that_is_listed_is_shown_with_its_reason(verified):
    assert "waited longest (baseline: the queue is a stack, #12)" in verified(WRONG, KNOWN).out


def test_the_counterexample_of_a_failure_that_is_listed_is_not_shown(verified):
    assert "✗ follow-up-fifo: " not in verified(WRONG, KNOWN).out


def test_a_listed_law_that_passes_exits_1(verified):
    ran = verified(RIGHT, KNOWN)
    assert ran.code == 1
    assert "stale: follow-up-fifo passes; take it out of the baseline" in ran.out


def test_an_expired_entry_exits_1(verified):
    ran = verified(WRONG, KNOWN.replace("}", ", expires = 2020-01-01}"))
    assert ran.code == 1
    assert "expired: follow-up-fifo is not excused any more" in ran.out


def test_json_names_the_entry(verified):
    law = next(law for law in json.loads(verified(WRONG, KNOWN, "--json").out)["laws"] if "baseline" in law)
    said = {"state": "known", "entry": "follow-up-fifo", "reason": "the queue is a stack", "issue": "#12"}
    assert (law["law"], law["baseline"]) == ("follow-up-fifo", said)


def test_a_target_that_breaks_exits_2_whatever_is_listed(verified):
    text = KNOWN.replace("follow-up-fifo", '"*"')
    assert verified("python:projectors.wrong:dies", text, laws=("one-root",)).code == 2


@pytest.mark.parametrize("text", [None, "known", KNOWN.replace("fifo", "lifo")])
def test_a_baseline_that_cannot_be_used_exits_2_before_anything_is_started(invoke, tmp_path, text):
    if text is not None:
        (tmp_path / "known.toml").write_text(text)
    ran = invoke(tmp_path, "verify", "cmd:touch started", "--baseline", "known.toml")
    assert (ran.code, "known.toml" in ran.err, (tmp_path / "started").exists()) == (2, True, False)


def test_a_baseline_does_not_go_with_fail_fast(verified):
    assert verified(WRONG, KNOWN, "--fail-fast").code == 2


# ---- the update ----


def test_an_update_makes_the_file_and_excuses_what_fails(verified, tmp_path):
    ran = verified(WRONG, None, "--update-baseline")
    assert ran.code == 0
    assert "[cause.follow-up-fifo]\nreason = " in (tmp_path / "known.toml").read_text()


def test_an_update_takes_out_what_passes(verified, tmp_path):
    assert verified(RIGHT, "# ours\n" + KNOWN, "--update-baseline").code == 0
    assert (tmp_path / "known.toml").read_text() == "# ours\n[known]\n\n[flaky]\n"


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        (WRONG, None, "1 added"),
        (RIGHT, KNOWN, "1 taken out"),
        (WRONG, KNOWN.replace("}", ", expires = 2020-01-01}"), "1 added, 1 taken out"),
        (WRONG, KNOWN, "1 added, 1 taken out"),
    ],
)
def test_an_update_says_what_it_wrote(verified, target, text, said):
    assert f"the baseline known.toml is written: {said}\n" in verified(target, text, "--update-baseline").err


def test_an_update_moves_an_entry_without_a_counterexample_to_its_cause(verified, tmp_path):
    verified(WRONG, "# ours\n" + KNOWN, "--update-baseline")
    document = tomllib.loads((tmp_path / "known.toml").read_text())
    entry = document["cause"]["follow-up-fifo"]
    assert document["known"] == {}
    assert (entry["reason"], entry["issue"], entry["laws"]) == ("the queue is a stack", "#12", ["follow-up-fifo"])
    assert (tmp_path / "known.toml").read_text().startswith("# ours\n")


def test_a_second_update_changes_nothing(verified):
    verified(WRONG, None, "--update-baseline")
    assert "known.toml is written: nothing has changed\n" in verified(WRONG, None, "--update-baseline").err


# ---- causes ----


@pytest.fixture
def known(verified):
    """Write a baseline with the cause of the one failure of a projector that is last in, first out."""
    verified(WRONG, None, "--update-baseline")


@pytest.mark.usefixtures("known")
def test_a_cause_whose_counterexample_is_listed_is_excused(verified):
    ran = verified(WRONG)
    assert (ran.code, "baseline: 1 known" in ran.out) == (0, True)


@pytest.mark.usefixtures("known")
def test_a_known_cause_excuses_another_law_that_it_breaks(verified):
    assert verified(WRONG, laws=("follow-up-fifo", "equals-reference")).code == 0


@pytest.mark.usefixtures("known")
def test_a_failure_that_no_counterexample_explains_is_new_though_its_law_is_listed(verified, tmp_path):
    file = tmp_path / "known.toml"
    file.write_text(file.read_text().replace("follow-up-fifo", "equals-reference"))
    other = "python:projectors.wrong:MergesTwoTexts"
    ran = verified(other, laws=("equals-reference",))
    assert (ran.code, "✗ equals-reference: " in ran.out) == (1, True)


@pytest.mark.usefixtures("known")
def test_a_cause_whose_replay_and_run_pass_is_stale(verified):
    ran = verified(RIGHT)
    assert ran.code == 1
    assert "stale: follow-up-fifo passes; take it out of the baseline" in ran.out


@pytest.mark.usefixtures("known")
def test_a_cause_is_not_stale_where_its_law_was_left_out(verified):
    assert verified(RIGHT, laws=("order",)).code == 0


@pytest.mark.usefixtures("known")
def test_an_update_takes_out_a_cause_that_is_mended(verified, tmp_path):
    assert verified(RIGHT, None, "--update-baseline").code == 0
    assert "cause" not in (tmp_path / "known.toml").read_text().splitlines()[-1]
    assert tomllib.loads((tmp_path / "known.toml").read_text()) == {"known": {}, "flaky": {}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"counterexample": "{"}, "cause.follow-up-fifo: the counterexample is neither a word, a log nor a flow"),
        ({"counterexample": '{"events": 1}'}, "neither a word, a log nor a flow: Expected `array`"),
        ({"laws": ["follow-up-lifo"]}, "`verify` judges no law of that name; perhaps follow-up-fifo"),
        ({"laws": []}, "Expected `array` of length >= 1"),
        ({"issue": None}, "missing required field `issue`; expected reason, issue, laws, counterexample"),
    ],
)
@pytest.mark.usefixtures("known")
def test_a_cause_that_cannot_be_used_exits_2(verified, tmp_path, changes, said):
    document = tomllib.loads((tmp_path / "known.toml").read_text())
    entry = {**document["cause"]["follow-up-fifo"], **changes}
    document["cause"]["follow-up-fifo"] = {key: value for key, value in entry.items() if value is not None}
    ran = verified(WRONG, tomlkit.dumps(document))
    assert (ran.code, said in ran.err) == (2, True), ran.err


def test_an_update_of_a_run_that_was_cut_changes_nothing(verified, tmp_path):
    ran = verified(WRONG, KNOWN, "--update-baseline", "--examples", "300", "--budget", "0.001")
    assert (tmp_path / "known.toml").read_text() == KNOWN
    assert "known.toml is left as it is: the run was cut short" in ran.err


def test_an_update_without_a_file_exits_2(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "reference", "--update-baseline")
    assert ran.code == 2
    assert "--update-baseline needs --baseline FILE" in ran.err


def test_a_file_that_cannot_be_written_does_not_hide_the_result(invoke, tmp_path):
    (tmp_path / "taken").write_text("")
    options = ("--examples", "0", "--laws", "follow-up-fifo", "--baseline", "taken/known.toml", "--update-baseline")
    ran = invoke(tmp_path, "verify", WRONG, *options)
    assert (ran.code, "✗ follow-up-fifo" in ran.out, "left as it is" in ran.err) == (1, True, True)
