"""``DUST_LEARN = "close"``: the next crawl starts with the rules, and nobody typed a command."""

from __future__ import annotations

from scrapy.exceptions import CloseSpider

from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import error, page, serving

PAGES = 30


def dusty(path):
    """Pages with a session in their URLs that changes nothing."""
    if path == "/":
        return page(
            *(f"/p?id={n}&sid={sid}" for n in range(PAGES) for sid in ("a1", "b2")), words="home " * 20
        )
    if not path.startswith("/p?id="):
        return error(404)
    number = path.removeprefix("/p?id=").partition("&")[0]
    return page(words=" ".join(f"word{number}x{k}" for k in range(60)))


def test_a_crawl_that_ended_teaches_the_next_one(settings):
    with serving(dusty) as site:
        learning = settings | {"DUST_LEARN": "close", "CONCURRENT_REQUESTS": 8}
        first = crawl([site.url("/")], learning, follow=True)
        site.asked.clear()
        second = crawl([site.url("/")], settings, follow=True)
    assert len(first.got) == 1 + 2 * PAGES
    assert len(site.asked) == len(second.got) == 1 + PAGES
    assert second.stats["dust/filtered"] == PAGES


def test_one_who_stops_a_crawl_is_not_made_to_wait_for_another(settings):
    class Stopped(Visitor):
        def parse(self, response):
            raise CloseSpider("shutdown")

    with serving(dusty) as site:
        crawl([site.url("/")], settings | {"DUST_LEARN": "close"}, spider=Stopped)
    assert site.asked == ["/"]
