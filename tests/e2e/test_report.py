"""The report in a real browser: what it says, that it answers as Python does, and that anybody can use it.

$DUST_CHROMIUM is a browser.
"""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest

from scrapy_dust.report.page import _rules_in_force, _site_extent, html_of
from scrapy_dust.report.pairs import PairShown
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.sites import site_of
from tests.exchange.generated import SITES, some_rules, some_urls
from tests.report.reports import EVIL, SITE, many, report, shown

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif("DUST_CHROMIUM" not in os.environ, reason="set DUST_CHROMIUM to a browser"),
    pytest.mark.skipif(find_spec("playwright") is None, reason="Playwright is not installed"),
]

SID, WWW = Rule.of(DropParameter("sid")), Rule.of(Substitute("http://www.", "http://", start=True))


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=os.environ["DUST_CHROMIUM"], args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens a report; at the end, no page may have complained."""
    contexts, said = [], []

    def opened(content, **options):
        file = tmp_path / "report.html"
        file.write_bytes(html_of(content, options.pop("title", SITE)))
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url != file.as_uri() else None)
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def rows(page):
    return page.locator("#body tr").count()


def shown_count(page):
    return page.locator("#count").inner_text()


def test_rules_can_be_found_sorted_and_looked_at(open_page):
    doubtful = shown(SITE, Rule.of(DropParameter("q")), status="undecided", doubt=0.9, saves=1)
    page = open_page(report({SITE: [SID, WWW]}, doubtful, past=[("spider", "2026-11-01", 50, 2, 1)]))
    assert page.locator("#body .rule").all_inner_texts() == [
        str(Rule.of(DropParameter("q"))),
        str(SID),
        str(WWW),
    ]
    assert (
        page.locator(".figure").inner_text().split() == "30 % of the requests of this log are saved".split()
    )
    page.fill("#filter", "WWW")
    assert (rows(page), shown_count(page)) == (1, "1 of 3 rules")
    page.fill("#filter", "")
    page.select_option("#status", "undecided")
    assert page.locator("#body .rule").all_inner_texts() == [str(Rule.of(DropParameter("q")))]
    page.select_option("#status", "")
    page.get_by_role("button", name="Rule", exact=True).click()
    assert page.locator("[aria-sort=ascending]").inner_text() == "Rule"
    assert page.locator("#body .rule").first.inner_text() == str(WWW)
    page.locator("#body .rule", has_text="sid").click()
    assert page.locator("#detail h3").first.inner_text() == str(SID)
    assert page.locator("#detail del").inner_text() == "only here:\nsid=1&"
    assert page.locator("#detail .texts p:not(.eyebrow)").all_inner_texts() == [
        "One page of words",
        "One page of \nonly here:\nother words",
    ]
    assert "4 of 4 hashes" in page.locator("#detail").inner_text()
    assert (
        "of 30 URLs that it merges, at most 1 show another page (95 %)"
        in page.locator("#detail").inner_text()
    )
    page.locator(".chip", has_text="sid").click()
    assert page.locator("#body .rule").all_inner_texts() == [str(SID)]
    assert page.evaluate("document.activeElement.id") == "rules"


def test_a_url_is_explained_by_the_rules_in_force(open_page):
    page = open_page(report({SITE: [SID, WWW]}))

    def told(url):
        page.fill("#url", url)
        page.keyboard.press("Enter")
        return page.locator("#answer").inner_text()

    said = told("http://www.a.example/?sid=1&id=2")
    assert "http://a.example/?id=2" in said
    assert page.locator("#answer li").count() == 2
    assert told("http://a.example/?id=2") == "No rule changes this URL, so it is fetched."
    page.locator("button[data-url]").click()
    assert page.locator("#answer li").count() == 1
    assert told("http://b.example/?sid=1") == "It is no URL of a site of this report."


def test_the_keyboard_is_enough(open_page):
    page = open_page(many(300))
    page.locator("#body .rule").first.focus()
    for _ in range(40):
        page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 41
    page.keyboard.press("Enter")
    assert page.locator("#detail h3").first.inner_text() == page.evaluate(
        "document.activeElement.textContent"
    )


KEYS = """([urls, sites, force, passes]) => urls.map((url) => Keys.explain(url, sites,
    (site) => (force[site] || []).map((one) => one[1]), passes)).map((told) => told.why ? null : told.key)"""


def test_the_page_gives_urls_the_keys_that_python_does(open_page):
    """The same script is tried on many more rules by `tests/report/test_keys.py`, without a browser."""
    by_site = {site: some_rules(seed, 40) for seed, site in enumerate(SITES)}
    urls = list(some_urls(5, 10_000))
    canonize = Canonizer(by_site, site_of).canonize
    extents = {site: _site_extent(site) for site in by_site}
    told = open_page(report({SITE: [SID]})).evaluate(
        KEYS, [urls, extents, _rules_in_force(report(by_site)), 10]
    )
    assert told == [canonize(url) for url in urls]


def test_what_sites_wrote_does_nothing(open_page):
    rule = Rule.of(DropParameter("x"))
    evil = shown(
        SITE,
        rule,
        text=EVIL,
        comment=EVIL,
        reason=EVIL,
        waits=EVIL,
        examples=(PairShown((EVIL, EVIL + "x"), (EVIL, ""), (EVIL,), (EVIL, EVIL + " y")),),
        doubt=1.0,
    )
    page = open_page(
        report({SITE: [SID]}, evil, past=[(EVIL, "", 1, 0, 0)], pairs=[(EVIL, EVIL + "y")]), title=EVIL
    )
    page.fill("#url", f"http://a.example/?sid={EVIL}")
    page.keyboard.press("Enter")
    page.fill("#filter", EVIL[:20])
    page.wait_for_timeout(50)
    assert page.title().startswith("</script>")
    assert page.locator("img").count() == 0
    assert page.locator("#detail h3").first.inner_text().startswith("</script>")


def test_ten_thousand_rules_answer_within_a_tenth_of_a_second(open_page):
    page = open_page(many(10_000))
    assert rows(page) == 50
    took = [
        page.evaluate(
            """(text) => new Promise((done) => {
                const field = document.getElementById("filter"), begin = performance.now();
                field.value = text;
                field.dispatchEvent(new Event("input"));
                document.getElementById("body").offsetHeight;
                requestAnimationFrame(() => done(performance.now() - begin));
            })""",
            text,
        )
        for text in ("p1", "p12", "p123", "s7.example", "nothing", "", "v9", "")
    ]
    print("ms per filter:", [round(one, 1) for one in took])
    assert sorted(took)[len(took) // 2] < 100
    page.locator("#more").click()
    assert rows(page) == 100
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 51


@pytest.mark.parametrize(
    "options",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 800}}],
)
def test_it_is_accessible(open_page, options):
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason="axe-core-python is not installed")
    page = open_page(
        report(
            {SITE: [SID, WWW]},
            past=[("spider", "2026-11-01", 50, 2, 1)],
            pairs=[("http://a.example/1", "http://a.example/2")],
        ),
        **options,
    )
    page.fill("#url", "http://www.a.example/?sid=1")
    page.keyboard.press("Enter")
    found = axe.Axe().run(page)
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_off(open_page, width):
    long = shown(
        SITE, Rule.of(DropParameter("q" * 300)), status="probation", waits="word " * 60, reason="x" * 200
    )
    evil = PairShown(
        ("http://a.example/" + "p" * 400, "http://a.example/"),
        ("t" * 300, ""),
        ("y" * 300,),
        ("z" * 300, "a"),
    )
    page = open_page(
        report({SITE: [SID, WWW]}, long, past=[("s" * 80, "2026-11-01", 50, 2, 1)], pairs=[evil.urls]),
        viewport={"width": width, "height": 800},
    )
    page.locator("#body .rule").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cut = """() => [...document.querySelectorAll("main *")].filter((one) => {
        const style = getComputedStyle(one), box = one.getBoundingClientRect();
        const hides = style.overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1;
        return box.width > 1 && !one.closest("thead, .hidden, svg, input") && (hides || box.right > innerWidth + 1);
    }).map((one) => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(cut) == []


def test_printed_it_has_its_rules(open_page):
    page = open_page(many(300))
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert rows(page) == 300
    assert page.locator("#ask").is_hidden()
    assert page.pdf()[:4] == b"%PDF"
