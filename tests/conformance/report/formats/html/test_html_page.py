"""The page as a text: its dependencies, its policy, its size."""

import re
from base64 import b64encode
from hashlib import sha256

import msgspec
import pytest

from turncheck.conformance.report.registry import on_result
from turncheck.model.machines.request_cycle import SPEC

MEGABYTE = 1_000_000


def hash_of(page, tag):
    (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    return b64encode(sha256(content.encode()).digest()).decode()


def policy(page):
    (found,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    return found.replace("&#39;", "'")


def failures(page):
    return page.count('<details class="failure"')


def pictures(page):
    return page.count('<use href="#machine-request_cycle"/>')


def test_the_registry_finds_it(projector):
    assert on_result("html")(*projector) == projector.page


def test_the_same_result_gives_the_same_page(runtime):
    assert runtime.page == runtime.page


def test_nothing_is_referred_to_but_the_page_itself(runtime):
    found = re.findall(r"""(?:href|src|url)\s*[=(]\s*["']?([^"')\s>]*)""", runtime.page)
    assert found
    assert [target for target in found if not target.startswith("#")] == []


def test_the_policy_allows_the_one_style_and_the_one_script(projector):
    page = projector.page
    assert policy(page) == (
        f"default-src 'none'; style-src 'sha256-{hash_of(page, 'style')}'; "
        f"script-src 'sha256-{hash_of(page, 'script')}'; base-uri 'none'; form-action 'none'"
    )


def test_no_element_has_a_style_or_a_handler_of_its_own(runtime):
    assert re.findall(r"<[^>]*\s(?:style|on\w+)=[^>]*>", runtime.page) == []


def test_a_crash_stands_before_the_laws_and_once(crashed):
    page = on_result("html")(*crashed)
    assert page.index('<div class="crash" id="target-breaks">') < page.index("<table")
    assert page.count("it died") == 1
    assert "<title>The target breaks, and 1 law is broken: reference</title>" in page


def test_a_crash_shows_its_word_and_how_to_replay_it(crashed):
    lines = re.findall(r'<div class="line"><bdi>(.*?)</bdi></div>', on_result("html")(*crashed))
    assert lines == [
        '  → user          id="u1"  text="hello"',
        "  sent: a message",
        "not decided: total, rounds",
        "turncheck replay --run found/x.target-breaks.json",
    ]


def test_every_broken_law_has_a_section(projector):
    assert failures(projector.page) == len(projector.counterexamples) > 1


def test_a_failure_names_the_command_that_replays_it(projector):
    assert "turncheck replay --run found/follow-up-fifo.json" in projector.page


@pytest.mark.parametrize("given", ["projector", "runtime"])
def test_two_hundred_failures_with_their_pictures_fit_in_three_megabytes(given, many, request):
    page = many(request.getfixturevalue(given), 200).page
    assert len(page.encode()) < 3 * MEGABYTE
    assert pictures(page) >= 200


def test_two_hundred_failures_with_texts_of_a_megabyte_fit_too(hostile, many):
    page = many(hostile("\u202e" * MEGABYTE), 200).page
    assert (len(page.encode()) < 3 * MEGABYTE, failures(page)) == (True, 200)


def test_what_does_not_fit_says_so(hostile, many):
    page = many(hostile("x" * MEGABYTE), 200).page
    assert "Its pictures are left out, or this page would be over 3 MB" in page


def test_a_template_is_never_made_of_what_is_said(obeyed):
    assert "{{ 7 * 7 }}" in obeyed.page


def test_a_page_is_text_that_can_be_written(obeyed):
    assert obeyed.page.encode().decode() == obeyed.page


def test_a_baseline_is_told_with_its_reason(law, result):
    page = on_result("html")(result(law("fail", state="known")), {})
    assert "Baseline: known, by the entry <bdi>one-root</bdi>: <bdi>it is old</bdi> (<bdi>#7</bdi>)" in page


def test_a_run_that_was_cut_says_so(law, result):
    assert "The run was cut short: <bdi>the time budget was used up</bdi>" in on_result("html")(
        result(law("pass"), cut="the time budget was used up"), {}
    )


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        (["fail", "pass"], "1 law is broken"),
        (["fail", "fail"], "2 laws are broken"),
        (["pass"], "No law is broken"),
        (["pass", "error"], "No law is broken, and not all could be judged"),
    ],
)
def test_the_heading_says_how_it_went(law, result, verdicts, outcome):
    assert f'<h2 id="laws" tabindex="-1">{outcome}</h2>' in on_result("html")(result(*map(law, verdicts)), {})


@pytest.mark.parametrize(
    ("verdict", "state", "outcome"),
    [
        ("fail", "known", "1 law is broken, as the baseline expects"),
        ("fail", "expired", "1 law is broken"),
        ("pass", "stale", "No law is broken, and the baseline has stale entries"),
    ],
)
def test_the_heading_knows_the_baseline(law, result, verdict, state, outcome):
    page = on_result("html")(result(law(verdict, state=state)), {})
    assert f'<h2 id="laws" tabindex="-1">{outcome}</h2>' in page


def coverage(page, role):
    (rule,) = re.findall(rf"#coverage-{role}\{{([^}}]*)\}}", page)
    return [rule.count(f":var(--{colour});") for colour in ("taken", "missed", "absent")]


def share(given, role):
    (found,) = [one for one in given.result.coverage["shares"] if (one.what, one.role) == ("rows", role)]
    return found


@pytest.fixture
def partial(projector):
    """A run that did not take two rows."""
    rows = share(projector, "projector")
    every = [f"{row.source}: {row.label}" for row in SPEC.rows]
    some = msgspec.structs.replace(rows, exercised=rows.total - 2, missed=(every[0], every[-1]))
    return projector._replace(result=msgspec.structs.replace(projector.result, coverage={"shares": [some]}))


def test_the_rows_that_were_not_taken_have_a_colour_of_their_own(partial):
    rows = share(partial, "projector")
    assert coverage(partial.page, "projector") == [rows.exercised, 2, 0]


def test_the_rows_that_a_runtime_cannot_take_have_another(runtime):
    rows = share(runtime, "runtime")
    taken, missed, absent = coverage(runtime.page, "runtime")
    assert (taken, missed) == (rows.exercised, len(rows.missed))
    assert absent > 0


def test_the_rows_that_were_not_taken_are_told_in_words(partial):
    assert ", ".join(share(partial, "projector").missed) in partial.page


def test_a_result_without_coverage_says_so(law, result):
    assert "Nothing was counted." in on_result("html")(result(law("pass")), {})
