"""What is filtered: each case counted at the server and in the stats, and named in the log."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from scrapy import Request, Spider
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl import class_names
from scrapy_dust.crawl.canary_draw import local_draw
from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import QUIET, crawl, write_rules
from tests.crawl.site import error, page, serving

SID, UTM = Rule.of(DropParameter("sid")), Rule.of(DropParameter("utm"))


def aliases(site, count, *, of=1):
    return [site.url(f"/p?id={n}&sid={sid}") for n in range(of) for sid in range(count)]


def test_each_rule_is_counted_for_the_urls_it_kept_from_being_fetched_each_once(with_rules):
    with serving(lambda path: page()) as site:
        urls = [
            site.url(f"/p?{query}")
            for query in ("id=1", "id=1&sid=a", "sid=a&id=1", "id=1&sid=b&utm=c", "id=1")
        ]
        result = crawl(urls * 2, with_rules(site, SID, UTM))
        sid, utm = (rule_id(site.name, rule) for rule in (SID, UTM))
    assert site.asked == ["/p?id=1"]
    assert result.stats["dust/filtered"] == 2
    assert result.stats[f"dust/filtered/{sid}"] == 2
    assert result.stats[f"dust/filtered/{utm}"] == 1
    assert result.stats["dupefilter/filtered"] == 9
    # Not members of an enum: stats are printed, pickled and sent about.
    assert {type(name) for name in result.stats} == {str}


def test_a_url_that_is_its_own_canonical_form_is_filtered_by_the_rules_that_changed_the_one_fetched(
    with_rules,
):
    with serving(lambda path: page()) as site:
        result = crawl([site.url("/p?id=1&sid=a"), site.url("/p?id=1")], with_rules(site, SID))
        assert result.stats[f"dust/filtered/{rule_id(site.name, SID)}"] == 1


def test_the_debug_log_names_the_rule_and_the_url_that_was_fetched_instead(with_rules, caplog):
    caplog.set_level(logging.DEBUG, "scrapy_dust")
    with serving(lambda path: page()) as site:
        urls = aliases(site, 2)
        crawl(urls, with_rules(site, SID))
        identity = rule_id(site.name, SID)
    said = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("scrapy_dust.crawl.class_names")
    ]
    assert said == [f"Filtered <GET {urls[1]}>: {SID} [{identity}] makes it the page of {urls[0]}."]


def test_rules_beyond_the_first_hundred_share_a_stat(with_rules, monkeypatch):
    monkeypatch.setattr(class_names, "RULES_COUNTED", 1)
    with serving(lambda path: page()) as site:
        result = crawl(
            [site.url(f"/p?{q}") for q in ("id=1", "id=1&sid=a", "id=1&utm=a")], with_rules(site, SID, UTM)
        )
        assert result.stats[f"dust/filtered/{rule_id(site.name, SID)}"] == 1
    assert result.stats["dust/filtered/others"] == 1


def test_shadow_mode_counts_what_would_be_filtered_and_filters_nothing(with_rules):
    with serving(lambda path: page()) as site:
        settings = with_rules(site, SID) | {"DUST_MODE": "shadow"}
        result = crawl(aliases(site, 3, of=2) * 2, settings)
        identity = rule_id(site.name, SID)
    assert len(site.asked) == 6
    assert result.stats["dust/shadow/filtered"] == 4
    assert result.stats[f"dust/shadow/filtered/{identity}"] == 4
    assert "dust/filtered" not in result.stats


@pytest.mark.parametrize("off", [{"DUST_MODE": "off"}, {"DUST_ENABLED": False}])
def test_rules_that_are_off_filter_nothing(with_rules, off):
    with serving(lambda path: page()) as site:
        crawl(aliases(site, 3), with_rules(site, SID) | off)
    assert len(site.asked) == 3


def test_canaries_are_few_the_same_ones_in_every_crawl_and_each_fetched_once(with_rules):
    with serving(lambda path: page()) as site:
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 0.2, "CONCURRENT_REQUESTS": 8}
        first = crawl(aliases(site, 100) * 2, settings)
        asked = list(site.asked)
        crawl(aliases(site, 100), settings)
    assert sorted(site.asked) == sorted(asked * 2)
    canaries = first.stats["dust/canaries"]
    assert len(asked) == 1 + canaries
    assert 5 <= canaries <= 40
    assert first.stats["dust/filtered"] == 99 - canaries


def test_a_canary_that_fails_does_not_reopen_a_class_that_has_its_page(with_rules):
    aliases_of: dict[bool, str] = {}
    # Links are followed from the last to the first.
    links = {"/p": lambda: ("/next", aliases_of[True]), "/next": lambda: (aliases_of[False],)}
    with serving(lambda path: page(*links[path]()) if path in links else error(404)) as site:
        settings = with_rules(site, SID) | {"DUST_CANARY_RATE": 0.5}
        draw = local_draw(Path(settings["DUST_DIR"]))
        for path in (f"/p?sid={n}" for n in range(50)):
            aliases_of[draw.chooses(site.url(path), 0.5)] = path
        crawl([site.url("/p")], settings, follow=True)
    assert site.asked == ["/p", aliases_of[True], "/next"]


class Asked(RFPDupeFilter):
    """Counts what it is asked, as a project's own dupefilter might."""

    def request_seen(self, request):
        self.asked = getattr(self, "asked", 0) + 1
        return super().request_seen(request)

    def close(self, reason):
        assert self.asked == 3
        return super().close(reason)


def test_a_dupefilter_of_the_projects_own_decides_underneath(with_rules):
    with serving(lambda path: page()) as site:
        crawl(aliases(site, 3), with_rules(site, SID) | {"DUPEFILTER_CLASS": Asked})
    assert len(site.asked) == 1


class BuiltFromSpider(RFPDupeFilter):
    """A dupefilter as scrapy-redis has one."""

    @classmethod
    def from_spider(cls, spider):
        built = cls(fingerprinter=spider.crawler.request_fingerprinter)
        built.cleared = False
        return built

    def clear(self):
        self.cleared = True


def test_a_scheduler_that_builds_its_dupefilter_from_the_spider_gets_one_that_can_be_cleared(with_rules):
    with serving(lambda path: page()) as site:
        settings = with_rules(site, SID) | {
            "DUST_FALLBACK_DUPEFILTER_CLASS": BuiltFromSpider,
            "DUST_JOURNAL": False,
        }
        crawler = get_crawler(Spider, QUIET | settings)
        crawler.spider = Spider.from_crawler(crawler, name="built")
        dupefilter = DustDupeFilter.from_spider(crawler.spider)
    assert not dupefilter.request_seen(Request(site.url("/p?id=1&sid=a")))
    assert dupefilter.request_seen(Request(site.url("/p?id=1&sid=b")))
    dupefilter.clear()
    assert dupefilter._inner.cleared


def test_the_same_rule_of_two_sites_is_two_rules(tmp_path, settings):
    with serving(lambda path: page()) as one, serving(lambda path: page()) as other:
        write_rules(tmp_path / "dust-rules.json", {site.name: (SID,) for site in (one, other)})
        result = crawl([site.url(f"/p?id=1&sid={sid}") for site in (one, other) for sid in "ab"], settings)
        for site in (one, other):
            assert result.stats[f"dust/filtered/{rule_id(site.name, SID)}"] == 1
