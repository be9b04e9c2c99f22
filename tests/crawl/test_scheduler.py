"""`DUST_REWRITE`: the canonical URL is fetched where that is safe, and a page is never lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy import FormRequest, Request
from scrapy.core.scheduler import Scheduler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter

from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rule_book.entries import Evidence
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import HANG_UP, error, page, redirect, serving

SID = Rule.of(DropParameter("sid"))


@pytest.fixture
def rewriting(settings):
    """Settings of a crawl that rewrites by SID, whose target has been seen to answer on that site."""

    def write(site, *rules, answers=True, unanswered=0):
        examples = ((site.url("/p?sid=x"), site.url("/p")),) if answers else ()
        evidence = Evidence(examples=examples, negative=unanswered)
        entries = [Entry(rule, evidence=evidence) for rule in rules or (SID,)]
        RuleBook().with_site(site.name, entries).save(Path(settings["DUST_RULES"][0]))
        return settings | {"DUST_REWRITE": True}

    return write


class Noting(Visitor):
    def parse(self, response):
        self.crawl.got.append((response.url, response.meta.get("dust_original_url")))
        yield {"url": response.url}


def test_the_canonical_url_is_fetched_and_the_spider_is_told_which_was_written(rewriting):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in "abc"]
        result = crawl(urls, rewriting(site), spider=Noting)
    assert result.got == [(site.url("/p?id=1"), urls[0])]
    assert result.stats["dust/rewritten"] == 3
    assert result.stats["dust/filtered"] == 2


def test_only_rules_whose_target_has_been_seen_to_answer_rewrite(rewriting):
    with serving(lambda path: page()) as site:
        crawl([site.url(f"/p?id=1&sid={sid}") for sid in "ab"], rewriting(site, answers=False))
    assert site.asked == ["/p?id=1&sid=a"]


def test_a_rule_that_led_validation_where_nothing_answered_keys_and_does_not_rewrite(rewriting):
    with serving(lambda path: page()) as site:
        crawl([site.url(f"/p?id=1&sid={sid}") for sid in "ab"], rewriting(site, unanswered=1))
    assert site.asked == ["/p?id=1&sid=a"]


@pytest.mark.parametrize("bad", [error(404), error(503), HANG_UP, redirect("/p?id=1")])
def test_a_canonical_url_that_fails_is_followed_by_the_url_as_it_was_written(rewriting, bad):
    with serving(lambda path: page() if "sid" in path else bad) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in "ab"]
        result = crawl(urls, rewriting(site) | {"RETRY_ENABLED": False})
    assert result.got == [urls[0]]
    assert site.times()["/p?id=1&sid=b"] == 0


def test_a_rule_whose_target_fails_rewrites_no_more(rewriting):
    with serving(lambda path: page() if "sid" in path else error(404)) as site:
        urls = [site.url(f"/p?id={n}&sid=a") for n in range(10)]
        result = crawl(
            [Request(url, priority=-n) for n, url in enumerate(urls)], rewriting(site), spider=Lazy
        )
    assert sorted(result.got) == urls
    assert result.stats["dust/rewritten"] < 10


def test_what_was_written_is_asked_for_when_a_rule_between_it_and_what_was_fetched_is_false(rewriting):
    """Also where the canonical URL has failed and another alias, as a canary, has brought a page."""

    def web(path):
        number, _, sid = path.removeprefix("/p?id=").partition("&sid=")
        return page(words=f"page {number} as {sid} has it " * 9) if sid else error(404)

    with serving(web) as site:
        urls = [site.url(f"/p?id={n}&sid={sid}") for sid in "abcdefgh" for n in range(3)]
        result = crawl(urls, rewriting(site) | {"DUST_CANARY_RATE": 0.5})
    assert result.stats["dust/suspended"] == 1
    assert sorted(result.got) == sorted(urls)
    assert result.stats.get("dust/filtered", 0) == 0


class Lazy(Visitor):
    """Asks for the next when it has the answer to the last."""

    async def start(self):
        yield Request(self.requests[0].url, callback=self.parse, errback=self.failed)

    def parse(self, response):
        self.crawl.got.append(response.url)
        number = int(response.url.partition("id=")[2].partition("&")[0]) + 1
        if number < len(self.requests):
            yield self.requests[number].replace(callback=self.parse, errback=self.failed)


def test_a_canonical_url_that_redirects_to_a_variant_is_followed_there(rewriting):
    with serving(lambda path: page() if "sid" in path else redirect(f"{path}&sid=site")) as site:
        result = crawl([site.url(f"/p?id=1&sid={sid}") for sid in "ab"], rewriting(site))
    assert result.got == [site.url("/p?id=1&sid=site")]
    assert site.asked == ["/p?id=1", "/p?id=1&sid=site"]


def test_what_must_be_asked_for_as_it_is_written_is(rewriting):
    with serving(lambda path: page()) as site:
        requests = [
            Request(site.url("/1?sid=a"), meta={"dust": False}),
            Request(site.url("/2?sid=a"), meta={"verbatim_url": True}),
            Request(site.url("/3?sid=a"), dont_filter=True),
            Request(site.url("/4?sid=a"), method="POST"),
            FormRequest(site.url("/5?sid=a"), formdata={"a": "b"}),
        ]
        crawl(requests, rewriting(site))
    assert sorted(site.asked) == [f"/{n}?sid=a" for n in range(1, 6)]


def test_what_redirects_led_to_is_asked_for_as_the_site_wrote_it(rewriting):
    with serving(lambda path: redirect("/there?sid=1") if path == "/here" else page()) as site:
        crawl([site.url("/here")], rewriting(site))
    assert site.asked == ["/here", "/there?sid=1"]


def test_a_canary_is_fetched_as_it_is_written(rewriting):
    with serving(lambda path: page()) as site:
        crawl([site.url(f"/p?sid={sid}") for sid in "ab"], rewriting(site) | {"DUST_CANARY_RATE": 1})
    assert sorted(site.asked) == ["/p?sid=a", "/p?sid=b"]


class Copying(Noting):
    """Gives each request the meta of the response before, as many spiders do."""

    def parse(self, response):
        yield from super().parse(response)
        if response.url.endswith("/p"):
            yield Request(response.urljoin("/other"), meta=response.meta, callback=self.parse)
            yield Request(
                response.urljoin("/again"), meta=response.meta, callback=self.parse, dont_filter=True
            )


def test_meta_that_a_spider_copies_says_nothing_of_another_url(rewriting):
    with serving(lambda path: error(404) if path == "/again" else page()) as site:
        result = crawl([site.url("/p?sid=a")], rewriting(site), spider=Copying)
    assert (site.url("/other"), None) in result.got
    assert sorted(site.asked) == ["/again", "/other", "/p"]


def test_over_another_dupefilter_nothing_is_rewritten_and_it_is_said_why(rewriting, caplog):
    by_hand = {"ADDONS": {}, "SCHEDULER": "scrapy_dust.DustScheduler", "DUPEFILTER_CLASS": RFPDupeFilter}
    with serving(lambda path: page()) as site:
        crawl([site.url("/p?sid=a")], rewriting(site) | by_hand)
    assert site.asked == ["/p?sid=a"]
    assert "DUST_REWRITE has no effect: set DUPEFILTER_CLASS" in caplog.text


class Queue(Scheduler):
    """A project's own."""

    mine = True


def test_the_scheduler_that_was_configured_is_underneath_and_can_be_asked(rewriting):
    class Asking(Visitor):
        def parse(self, response):
            scheduler = self.crawler.engine.scheduler
            self.crawl.got.append((scheduler.mine, len(scheduler), type(scheduler.df).__name__))
            yield {"url": response.url}

    with serving(lambda path: page()) as site:
        result = crawl([site.url("/p?sid=a")], rewriting(site) | {"SCHEDULER": Queue}, spider=Asking)
    assert result.got == [(True, 0, "DustDupeFilter")]


def test_nothing_is_rewritten_where_the_project_filters_nothing(rewriting):
    """Nothing is kept there, so that nobody would ask for what was written when the canonical URL fails."""
    with serving(lambda path: page() if "sid" in path else error(404)) as site:
        urls = [site.url(f"/p?id=1&sid={sid}") for sid in "ab"]
        settings = rewriting(site) | {"DUST_FALLBACK_DUPEFILTER_CLASS": BaseDupeFilter}
        result = crawl(urls, settings)
    assert sorted(result.got) == urls
