"""The page as a person meets it: in a browser, without a network."""

import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
]
DRAWN = ".scatterlayer .trace, .barlayer .trace, .heatmaplayer image"
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium or Chrome on this machine")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """An open page, and everything that went wrong on it."""

    def __init__(self, browser, path, viewport, unfolded=True):
        self.page = browser.new_page(viewport=viewport)
        self.wrong = []
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._asked)
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-drawn=yes]")
        if unfolded:
            self.page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")
            self.page.wait_for_timeout(300)  # for what is drawn then

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(message.text)

    def _asked(self, request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.wrong.append(request.url)

    def check(self):
        """Every figure is drawn, nothing sticks out, nothing went wrong, nobody was asked."""
        assert self.wrong == []
        empty = self.page.evaluate(
            "[...document.querySelectorAll('.plot[role]')]"
            f".filter((place) => !place.querySelector('{DRAWN}'))"
            ".map((place) => place.id || place.dataset.figure)"
        )
        assert empty == []
        width = self.page.evaluate("document.documentElement.scrollWidth")
        assert width <= self.page.viewport_size["width"]

    def count(self, selector):
        return self.page.locator(selector).count()

    def lines(self, place):
        """What plotly has drawn there: the y of every trace."""
        return self.page.evaluate(f"document.getElementById('{place}').data.map((t) => [...t.y])")

    def names(self, place):
        return self.page.evaluate(f"document.getElementById('{place}').data.map((t) => t.name)")


@pytest.fixture
def visit(browser, page_of):
    visits = []

    def open_page(run, viewport=DESKTOP, unfolded=True):
        visits.append(Visit(browser, page_of(run), viewport, unfolded))
        return visits[-1]

    yield open_page
    for each in visits:
        each.check()
        each.page.close()


def test_every_page_fits_a_phone(any_run, visit):
    shown = visit(any_run, PHONE)
    assert shown.page.is_visible(".sentence")


def test_the_class_selector_changes_the_figure_and_its_title(ordered, visit):
    shown = visit(ordered)
    before, title = shown.lines("plot-class"), shown.page.inner_text("#class-title")
    overall = shown.lines("plot-overall")
    shown.page.select_option("#pick-class", index=12)
    after = shown.lines("plot-class")
    assert after != before
    assert shown.page.inner_text("#class-title") != title
    assert shown.page.inner_text("#class-title").startswith("True class 13 (")
    assert max(range(29), key=after[0].__getitem__) == 12  # a bell round the true class
    assert sum(after[0]) == pytest.approx(1, abs=0.01)
    mark = shown.page.evaluate("document.getElementById('plot-class').layout.shapes[0].x0")
    assert mark == 12
    assert shown.lines("plot-overall") == overall


def test_the_buttons_step_through_the_classes_and_round(ordered, visit):
    shown = visit(ordered)
    shown.page.select_option("#pick-class", index=28)
    shown.page.click("#next-class")
    assert shown.page.input_value("#pick-class") == "0"
    shown.page.click("#previous-class")
    assert shown.page.input_value("#pick-class") == "28"


def test_treatments_and_parts_can_be_chosen(ordered, visit):
    shown = visit(ordered)
    assert shown.names("plot-class")[0] == "cross entropy"
    shown.page.select_option("#pick-group", label="SimLoss by r")
    expected = ["cross entropy", "SimLoss, r = 0.3", "SimLoss, r = 0.5", "SimLoss, r = 0.8"]
    assert shown.names("plot-class") == expected
    assert shown.names("plot-overall") == ["true distribution", *expected]
    truth = shown.lines("plot-overall")[0]
    shown.page.select_option("#pick-part", "train")
    assert shown.lines("plot-overall")[0] != truth


def test_everything_works_from_the_keyboard(ordered, visit):
    shown = visit(ordered)
    shown.page.keyboard.press("Tab")
    assert shown.page.evaluate("document.activeElement.className") == "skip"
    shown.page.focus("#pick-class")
    before = shown.page.input_value("#pick-class")
    shown.page.keyboard.press("ArrowDown")
    assert shown.page.input_value("#pick-class") == str(int(before) + 1)
    shown.page.focus("#next-class")
    shown.page.keyboard.press("Enter")
    assert shown.page.input_value("#pick-class") == str(int(before) + 2)
    unreachable = shown.page.evaluate(
        "[...document.querySelectorAll('.scroll, select, button, summary')]"
        ".filter((e) => e.tabIndex < 0).length"
    )
    assert unreachable == 0


def test_switches_redraw_their_figures(ordered, visit):
    shown = visit(ordered)
    place = "document.querySelector('[data-figure=parameter-0]')"
    assert shown.page.evaluate(f"{place}.layout.yaxis.title.text") == "MAE"
    shown.page.select_option("[data-switches=parameter]", "nll")
    assert shown.page.evaluate(f"{place}.layout.yaxis.title.text") == "NLL"
    options = shown.page.locator("[data-switches=confusion] option").all()
    shown.page.select_option("[data-switches=confusion]", options[-1].get_attribute("value"))
    assert shown.count("[data-shown-with=confusion]:not([hidden])") == 1


def test_names_are_text_in_the_figures_too(three, visit):
    shown = visit(three)
    assert shown.count("script") == 3
    ticks = shown.page.locator("#plot-overall .xtick text").all_text_contents()
    assert ticks[0].startswith("<script>alert")
    shown.page.select_option("#pick-class", index=0)
    assert "<script>alert('class')</script>" in shown.page.inner_text("#class-title")


def test_unordered_classes_are_ranked_and_the_target_is_marked(nominal, visit):
    shown = visit(nominal)
    shown.page.select_option("#pick-class", index=40)
    labels = shown.page.evaluate("document.getElementById('plot-class').layout.yaxis.ticktext")
    assert len(labels) == 12
    assert labels[0] == "▸ class 40"


def test_of_a_thousand_classes_any_can_be_chosen(thousand, visit):
    shown = visit(thousand)
    assert shown.count("#pick-class option") == 1000
    shown.page.select_option("#pick-class", index=337)
    assert "class 337" in shown.page.inner_text("#class-title")
    line = shown.lines("plot-class")[0]
    assert max(range(100), key=line.__getitem__) == 33


def test_it_can_be_printed(ordered, visit):
    shown = visit(ordered)
    paper = shown.page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    shown.page.emulate_media(media="print")
    assert not shown.page.is_visible("nav")
    assert shown.page.is_visible(".sentence")


def test_what_a_reader_needs_last_is_folded_and_a_link_opens_it(visit, ordered):
    page = visit(ordered, unfolded=False).page
    assert not page.locator("#plot-class").is_visible()
    folded = page.evaluate("document.documentElement.scrollHeight")
    page.click("nav a[href='#outputs']")
    page.wait_for_function("document.getElementById('plot-class').clientWidth > 100")
    page.wait_for_function("document.querySelector('#plot-class .main-svg').clientWidth > 100")
    assert folded < page.evaluate("document.documentElement.scrollHeight")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
