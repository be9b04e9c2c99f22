"""``DUST_LEARN = "online"``: rules come into force in the crawl that they were learned in, and no page is lost."""

from __future__ import annotations

import pytest

from scrapy_dust.rule_book.book import RuleBook
from tests.crawl.crawling import crawl
from tests.crawl.site import error, page, serving

pytestmark = pytest.mark.e2e

PAGES, SESSIONS = 30, 6

ONLINE = {"DUST_LEARN": "online", "CONCURRENT_REQUESTS": 2, "DOWNLOAD_DELAY": 0.05}


def words(number):
    return " ".join(f"word{number}x{k}" for k in range(60))


def with_sessions(path):
    """Each page links the others under another session id."""
    number, _, sid = path.removeprefix("/p").partition("?sid=")
    if path == "/":
        return page("/p0?sid=0", words="home " * 20)
    if not number.isdigit() or int(number) >= PAGES:
        return error(404)
    n, turn = int(number), int(sid or 0)
    links = [f"/p{(n + step) % PAGES}?sid={(turn * 7 + n * 3 + step) % 100_003}" for step in (1, 2, 3)]
    return page(*links, words=words(n))


def numbers(got):
    return {url.partition("?")[0].rpartition("/p")[2] for url in got if "/p" in url}


def test_a_maze_of_session_ids_comes_to_an_end_and_all_pages_are_found(settings):
    with serving(with_sessions) as site:
        learning = settings | ONLINE | {"CLOSESPIDER_PAGECOUNT": 3000}
        first = crawl([site.url("/")], learning, follow=True)
    assert first.stats["finish_reason"] == "finished"
    assert numbers(first.got) == {str(n) for n in range(PAGES)}
    assert first.stats["dust/online/rules"] >= 1
    assert first.stats["dust/filtered"] > 0
    book = RuleBook.load(settings["DUST_RULES"])
    assert any(book.rules_by_site().values())


def all_at_once(path):
    """All URLs are linked from the first page, as in a crawl whose queue is long before it has learned anything."""
    if path == "/":
        return page(
            *(f"/p{n}?sid={n * 100 + sid}" for sid in range(SESSIONS) for n in range(PAGES)),
            words="home " * 20,
        )
    number = path.removeprefix("/p").partition("?")[0]
    return page(words=words(int(number))) if number.isdigit() else error(404)


def test_what_was_queued_before_a_rule_was_learned_is_suppressed_when_its_turn_comes(settings):
    with serving(all_at_once) as site:
        first = crawl([site.url("/")], settings | ONLINE, follow=True)
    assert numbers(first.got) == {str(n) for n in range(PAGES)}
    assert len(site.asked) < 1 + PAGES * SESSIONS
    assert first.stats["dust/filtered"] > 0


def failing(path):
    """Of each page the first URLs fail, and the last one has it."""
    if path == "/":
        return all_at_once(path)
    number, _, sid = path.removeprefix("/p").partition("?sid=")
    if number.isdigit() and int(number) >= PAGES // 2 and int(sid) % 100 != SESSIONS - 1:
        return error(404)
    return all_at_once(path)


def test_a_class_whose_first_urls_fail_has_its_page_all_the_same(settings):
    with serving(failing) as site:
        first = crawl([site.url("/")], settings | ONLINE, follow=True)
    assert numbers(first.got) == {str(n) for n in range(PAGES)}


def test_a_job_that_may_go_on_later_learns_when_it_ends(settings, tmp_path):
    with serving(all_at_once) as site:
        first = crawl(
            [site.url("/")],
            settings | ONLINE | {"DOWNLOAD_DELAY": 0, "JOBDIR": str(tmp_path / "job")},
            follow=True,
        )
    assert len(first.got) == 1 + PAGES * SESSIONS
    assert "dust/online/rules" not in first.stats
    assert any(RuleBook.load(settings["DUST_RULES"]).rules_by_site().values())
