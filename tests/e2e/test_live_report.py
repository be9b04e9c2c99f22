"""The live report in a real browser: it keeps up with its file, and whoever reads it is not disturbed.

$DUST_CHROMIUM is a browser.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from importlib.util import find_spec

import pytest

from scrapy_dust.report.live import Card, Form, InForce, html_of_live
from scrapy_dust.rules.grouping import Kind
from tests.report.lives import live
from tests.report.reports import EVIL

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif("DUST_CHROMIUM" not in os.environ, reason="set DUST_CHROMIUM to a browser"),
    pytest.mark.skipif(find_spec("playwright") is None, reason="Playwright is not installed"),
]

QUICK = 0.05


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
def shown(browser, tmp_path):
    """Opens a page, and a function that rewrites its file; at the end, no page may have complained."""
    contexts, said = [], []
    file = tmp_path / "live.html"

    def write(content):
        beside = file.with_suffix(".new")
        beside.write_bytes(html_of_live(content))
        beside.replace(file)

    def opened(content, **options):
        write(content)
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda one: None if one.url.startswith(file.as_uri()) else said.append(one.url))
        page.goto(file.as_uri())
        return page, write

    yield opened
    for context in contexts:
        context.close()
    assert said == []


def later(content, seconds=3, **other):
    return replace(content, written=content.written + timedelta(seconds=seconds), **other)


def figure(page):
    return page.locator(".figure strong")


def comes_to_say(page, text):
    page.locator(f".figure strong:text-is('{text}')").wait_for()


def test_the_page_follows_its_file_and_leaves_scroll_position_and_focus(shown):
    content = live(every=QUICK, forms=[Form(f"/f/{n}", f"trap-{n}", "why", n) for n in range(30)])
    page, write = shown(content, viewport={"width": 390, "height": 500})
    assert figure(page).inner_text() == "40 %"
    page.locator("#pause").focus()
    page.evaluate("window.scrollTo(0, 900)")
    before = page.evaluate("window.scrollY")
    node = page.locator("h1").element_handle()
    write(later(content, saved=60, causes=[("rules", "duplicates", 60)]))
    comes_to_say(page, "50 %")
    assert page.evaluate("window.scrollY") == before > 0
    assert page.evaluate("document.activeElement.id") == "pause"
    assert node.evaluate("one => one.isConnected")
    assert page.locator("iframe").count() <= 1


def test_a_list_may_grow_shrink_and_change_its_kind(shown):
    cards = [Card(f"{n:08}", "a.example", f"rule {n}", "why", "on probation") for n in range(4)]
    content = live(every=QUICK, on_probation=[])
    page, write = shown(content)
    rules = page.locator("section[aria-labelledby=probation-h] .rule-text")
    for percent, now in (("50 %", cards), ("25 %", cards[2:]), ("75 %", [])):
        saved = {"50 %": 60, "25 %": 20, "75 %": 180}[percent]
        content = later(content, on_probation=now, saved=saved)
        write(content)
        comes_to_say(page, percent)
        assert rules.all_inner_texts() == [one.rule for one in now]


def test_updates_can_be_paused_by_the_keyboard(shown):
    content = live(every=QUICK)
    page, write = shown(content)
    page.locator("#pause").focus()
    page.keyboard.press("Enter")
    assert page.locator("#news").inner_text() == "Updates are paused."
    write(later(content, saved=60))
    page.wait_for_timeout(300)
    assert figure(page).inner_text() == "40 %"
    page.keyboard.press("Enter")
    comes_to_say(page, "50 %")


def test_after_the_end_nothing_is_read_any_more(shown):
    content = live(every=QUICK)
    page, write = shown(content)
    write(later(content, ended="finished"))
    page.locator("#news:text-is('The crawl has ended: this page stays as it is.')").wait_for()
    assert page.locator("#pause").is_hidden()
    write(later(content, seconds=9, saved=60))
    page.wait_for_timeout(300)
    assert figure(page).inner_text() == "40 %"


def test_a_crawl_that_was_killed_is_told_from_one_that_goes_on(shown):
    page, _ = shown(live(every=QUICK))  # written long ago
    page.locator(
        "#news:text-is('No news: the crawl was killed, or cannot write this file any more.')"
    ).wait_for()


def test_a_file_that_is_gone_leaves_the_page_as_it_was(shown, tmp_path):
    page, _ = shown(live(every=QUICK))
    (tmp_path / "live.html").unlink()
    page.wait_for_timeout(300)
    assert figure(page).inner_text() == "40 %"


def test_what_sites_wrote_does_nothing_in_news_either(shown):
    content = live(every=QUICK)
    page, write = shown(content)
    card = Card(EVIL, EVIL, EVIL, EVIL, "refuted")
    write(
        later(
            content, saved=60, decided=[card], spider=EVIL, in_force={Kind.PARTS: ([InForce(EVIL, 1, 1)], 1)}
        )
    )
    comes_to_say(page, "50 %")
    assert page.title() == "books, live – scrapy-dust"
    assert page.locator("img").count() == 0
    assert page.locator("h1").inner_text().startswith("</script>")


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_is_accessible_and_nothing_is_cut_off(shown, width, color_scheme):
    axe = pytest.importorskip("axe_core_python.sync_playwright", reason="axe-core-python is not installed")
    long = Card("c" * 8, "a" * 80, "q" * 300, "word " * 60, "in doubt")
    content = live(
        spider="s" * 90,
        worker="host-12-abcdefgh",
        forms=[Form("http://a.example/" + "p" * 400, "trap-1a2b3c4d5e", "why " * 40, 10**6)],
        on_probation=[long],
        decided=[replace(long, status=status) for status in ("suspended", "refuted", "proved", "in doubt")],
        in_force={Kind.OTHERS: ([InForce("n" * 200, 10**6, 12)], 1)},
    )
    page, _ = shown(content, viewport={"width": width, "height": 800}, color_scheme=color_scheme)
    found = axe.Axe().run(page)
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    cut = """() => [...document.querySelectorAll("main *, header *")].filter((one) => {
        const style = getComputedStyle(one), box = one.getBoundingClientRect();
        const hides = style.overflowX !== "visible" && one.scrollWidth > one.clientWidth + 1;
        return box.width > 1 && !one.closest("thead, .hidden, svg") && (hides || box.right > innerWidth + 1);
    }).map((one) => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(cut) == []
