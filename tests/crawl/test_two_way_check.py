"""The two-way check as it is published: step by step, over two crawls."""

from __future__ import annotations

from tests.crawl.crawling import crawl
from tests.crawl.site import serving
from tests.crawl.test_content_dedup import AsyncFollower, Follower, web
from tests.prose import document

PAGES = {"/a": document(1), "/a?b=2&a=1": document(2), "/a?a=1&b=2": document(2), "/c": document(1)}


def test_urls_are_checked_before_the_fetch_and_texts_after_it_and_both_are_remembered(settings):
    for spider in (Follower, AsyncFollower):
        with serving(web(PAGES)) as site:
            paper = settings | {
                "DUST_CONTENT_DEDUP": "paper",
                "DUST_DIR": f"{settings['DUST_DIR']}{spider.__name__}",
            }
            first = crawl([site.url("/")], paper, spider=spider)
            again = crawl([site.url("/")], paper, spider=spider)
            asked = site.asked
        # One spelling of the parameters is asked for; of two pages with one text the first is kept.
        assert len(first.got) == 3
        assert first.stats["dust/known/skipped"] == 1
        assert first.stats["dust/content/dropped"] == 1
        assert first.stats.get("log_count/ERROR", 0) == 0
        # What the second crawl starts with is fetched, and has nothing new.
        assert again.got == []
        assert asked[-1] == "/"
        assert len(asked) == 5
