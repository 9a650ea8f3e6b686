"""The page in a real browser: Debian's Chromium (debian.txt), and axe-core (tests/axe)."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

BROWSER = "/usr/bin/chromium"
AXE = Path(__file__).parents[4] / "axe" / "node_modules" / "axe-core" / "axe.min.js"
THEMES = ("light", "dark")
PAGES = ("projector", "runtime", "unbroken", "obeyed", "long")
OFFENDING = (0xFF, 0xD3, 0xCF)
"""The ground of the offending transition in the light theme, as report.css has it."""

pages = pytest.mark.parametrize("name", PAGES)
themes = pytest.mark.parametrize("theme", THEMES)


@pytest.fixture(scope="module")
def chromium():
    """The browser; it is not there in other modules, whose event loops it would disturb."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def long(hostile, obeyed):
    """Where every text has a megabyte."""
    return type(obeyed)(*hostile("long " * 200_000))


@pytest.fixture(scope="session")
def written(request, tmp_path_factory):
    """The file of a page, by the page's name."""
    folder = tmp_path_factory.mktemp("pages")

    def made(name):
        path = folder / f"{name}.html"
        if not path.exists():
            path.write_bytes(request.getfixturevalue(name).page.encode())
        return path

    return made


@pytest.fixture
def opened(chromium, written):
    """Open a page: ``opened(name, width=..., theme=...)``; ``seen`` is what its console and its network saw."""
    found = []

    def made(name, width=1280, theme="light"):
        page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        page.seen = []
        page.on("console", lambda message: page.seen.append(message.text))
        page.on("pageerror", lambda error: page.seen.append(str(error)))
        page.on("dialog", lambda dialog: page.seen.append(dialog.message))
        page.goto(written(name).as_uri())
        page.on("request", lambda request: page.seen.append(request.url))
        found.append(page)
        return page

    yield made
    for page in found:
        page.close()


def unfold(page):
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


def laws(page):
    """The names of the laws that are shown."""
    return [row.get_attribute("data-law") for row in page.locator("tr[data-law]:visible").all()]


def failures(page):
    return [row.get_attribute("data-law") for row in page.locator(".failure:visible").all()]


@pages
def test_the_console_stays_empty_and_nothing_is_loaded(opened, name):
    page = opened(name)
    unfold(page)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.seen == []


@themes
@pages
def test_axe_finds_no_violation(opened, name, theme):
    page = opened(name, theme=theme)
    unfold(page)
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run().then((result) => result.violations)")
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


@themes
def test_axe_finds_no_violation_on_a_phone(opened, theme):
    page = opened("runtime", width=360, theme=theme)
    unfold(page)
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("axe.run().then((result) => result.violations)")
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []


@pages
def test_every_control_is_reached_by_tab(opened, name):
    page = opened(name)
    unfold(page)
    wanted = page.evaluate("""() => {
        const all = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")];
        all.forEach((one, place) => one.setAttribute("data-place", place));
        return all.length;
    }""")
    reached = set()
    for _ in range(wanted):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.place"))
    assert reached == set(map(str, range(wanted)))


@pytest.mark.parametrize("width", [360, 820, 1440])
@pages
def test_the_page_never_scrolls_sideways(opened, name, width):
    page = opened(name, width=width)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_verdict_is_filtered_out(opened, projector):
    page = opened("projector")
    page.get_by_role("checkbox", name="pass").uncheck()
    assert laws(page) == [law.law for law in projector.result.laws if law.verdict != "pass"]


def test_a_kind_is_filtered_out(opened, projector):
    page = opened("projector")
    page.get_by_role("checkbox", name="relation").uncheck()
    assert laws(page) == [law.law for law in projector.result.laws if law.kind != "relation"]


def test_all_words_of_a_search_have_to_be_there(opened):
    page = opened("projector")
    page.get_by_role("searchbox").fill("QUEUED first")
    assert laws(page) == ["follow-up-fifo"]


def test_the_failures_follow_the_filter(opened):
    page = opened("projector")
    page.get_by_role("searchbox").fill("follow-up-fifo")
    assert failures(page) == ["follow-up-fifo"]


def test_how_many_laws_are_shown_is_announced(opened, projector):
    page = opened("projector")
    page.get_by_role("searchbox").fill("follow-up-fifo")
    announced = page.locator("output[aria-live=polite]")
    assert announced.inner_text() == f"1 of {len(projector.result.laws)} laws"


def test_that_no_failure_is_left_is_said(opened):
    page = opened("projector")
    page.get_by_role("checkbox", name="fail").uncheck()
    assert page.get_by_text("None of the laws that are shown has one.").is_visible()


def test_show_all_undoes_every_filter(opened, projector):
    page = opened("projector")
    page.get_by_role("checkbox", name="fail").uncheck()
    page.get_by_role("searchbox").fill("nothing of this kind")
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("document.querySelectorAll('tr[data-law]:not([hidden])').length > 0")
    assert laws(page) == [law.law for law in projector.result.laws]


def test_a_link_opens_its_counterexample(opened):
    page = opened("projector")
    page.get_by_role("link", name="the counterexample of anomalies-exact").click()
    page.wait_for_function("document.activeElement.tagName === 'SUMMARY'")
    assert page.evaluate("document.activeElement.parentElement.dataset.law") == "anomalies-exact"


def test_the_theme_can_be_chosen(opened):
    page = opened("projector", theme="light")
    page.get_by_label("Theme").select_option("dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"


@pytest.mark.parametrize(("theme", "colour"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 28)")])
def test_the_theme_is_the_systems_until_then(opened, theme, colour):
    assert opened("projector", theme=theme).evaluate("getComputedStyle(document.body).backgroundColor") == colour


def test_print_shows_what_is_folded(opened):
    page = opened("runtime")
    page.emulate_media(media="print")
    assert page.locator("details:not([open]) .entries, details:not([open]) .sequence").count() > 1
    folded = page.locator("details .entries, details .sequence").all()
    assert [one.bounding_box()["height"] > 20 for one in folded] == [True] * len(folded)


def test_print_shows_no_controls(opened):
    page = opened("runtime")
    page.emulate_media(media="print")
    assert [one.is_visible() for one in page.locator("#filters, .theme, .hint").all()].count(True) == 0


def test_print_is_light_whatever_the_theme(opened):
    page = opened("runtime", theme="dark")
    page.get_by_label("Theme").select_option("dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_nothing_that_is_said_is_obeyed(opened):
    page = opened("obeyed")
    assert page.evaluate("[window.obeyed, document.scripts.length, document.images.length]") == [None, 1, 0]


def test_what_is_said_is_there_as_text(opened):
    assert "<script>window.obeyed = 1</script>" in opened("obeyed").locator("h1").inner_text()


def test_no_invisible_character_is_in_the_page(opened):
    page = opened("obeyed")
    assert (
        page.evaluate(
            r"document.documentElement.textContent.match(/[\u202a-\u202e\u2066-\u2069\u200b\x00-\x08\ue000]/)"
        )
        is None
    )


def test_bidi_overrides_are_spelled(opened):
    assert "⟨U+202E⟩gnp.exe⟨U+2066⟩" in opened("obeyed").locator("h1").inner_text()


def test_a_text_of_a_megabyte_is_folded_with_its_length(opened):
    page = opened("long")
    assert page.locator("h1 details.fold > summary").inner_text() == "1,000,000 characters"
    assert page.locator("details.fold[open]").count() == 0


def test_the_offending_transition_is_lit(opened):
    page = opened("projector")
    picture = Image.open(BytesIO(page.locator("#failure-1-path").screenshot())).convert("RGB")
    assert {colour: count for count, colour in picture.getcolors(1 << 24) or ()}[OFFENDING] > 1000


def test_without_its_script_the_page_shows_everything(chromium, written, projector):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(written("projector").as_uri())
    shown = (page.locator("tr[data-law]:visible").count(), page.locator("#filters:visible").count())
    context.close()
    assert shown == (len(projector.result.laws), 0)
