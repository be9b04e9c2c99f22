"""Past crawls, as their journals tell them."""

from __future__ import annotations

from scrapy_dust.crawl_log.retention import Keep
from scrapy_dust.journal.events import Event, What
from scrapy_dust.journal.journal_places import journal_dir
from scrapy_dust.journal.writer import Journal
from scrapy_dust.report.gathering import PastCrawl, past_crawls

AT = "2026-11-18T10:00:00.000Z"


def write(folder, *events):
    journal = Journal(journal_dir(folder, "shop"))
    for what, url in events:
        journal.write(Event(what, AT, f"http://shop.example/{url}"))
    journal.close(Keep())


def test_a_crawl_saved_what_rules_suppressed_and_nothing_gave_back(tmp_path):
    write(
        tmp_path,
        *((What.SUPPRESSED, url) for url in "abc"),
        (What.RETURNED, "a"),
        (What.TESTED, "d"),
    )
    assert past_crawls(tmp_path) == [PastCrawl("shop", "2026-11-18", 3, 1, 1)]


def test_urls_that_only_came_last_were_neither_suppressed_nor_given_back(tmp_path):
    last = [(What.PUT_LAST, "a"), (What.PUT_LAST, "b"), (What.RETURNED, "a")]
    write(tmp_path, *last)
    assert past_crawls(tmp_path) == []
    write(tmp_path, *last, (What.SUPPRESSED, "b"), (What.RETURNED, "b"))
    assert past_crawls(tmp_path) == [PastCrawl("shop", "2026-11-18", 1, 1, 0)]
