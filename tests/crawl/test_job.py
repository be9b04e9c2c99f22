"""A job that is paused and resumed goes on with the rules it began with, and loses nothing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.exceptions import CloseSpider

from scrapy_dust.rule_book import book
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import Answer, error, page, serving
from tests.waiting import PATIENCE

SID = Rule.of(DropParameter("sid"))


class Pausing(Visitor):
    """Stops as Ctrl-C does, after the first page."""

    def parse(self, response):
        self.crawl.got.append(response.url)
        raise CloseSpider("shutdown")


@pytest.fixture
def job(tmp_path: Path) -> dict[str, str]:
    return {"JOBDIR": str(tmp_path / "job")}


def test_a_resumed_job_fetches_what_was_left_and_nothing_twice(with_rules, job):
    with serving(lambda path: page(words=path)) as site:
        settings = with_rules(site, SID) | job
        urls = [site.url(f"/p?id={n}&sid={sid}") for n in range(6) for sid in "ab"]
        crawl(urls, settings, spider=Pausing)
        assert 0 < len(site.asked) < 6
        crawl(urls, settings)
    assert len(site.asked) == 6


class PausedAtOnce(Visitor):
    """Stops while its first request is under way and all others wait."""

    stopped = threading.Event()

    async def start(self):
        async for request in super().start():
            yield request
        self.stopped.set()
        raise CloseSpider("shutdown")


def test_aliases_seen_before_the_pause_still_stand_in_for_a_url_that_fails_after_it(with_rules, job):
    def web(path: str) -> Answer:
        if path == "/first":
            PausedAtOnce.stopped.wait(PATIENCE)
        return error(404) if "bad" in path else page()

    with serving(web) as site:
        settings = with_rules(site, SID) | job
        urls = [site.url(path) for path in ("/first", "/p?id=1&sid=bad", "/p?id=1&sid=good")]
        crawl(urls, settings, spider=PausedAtOnce)
        assert site.asked == ["/first"]
        result = crawl([], settings)
    assert site.asked[1:] == ["/p?id=1&sid=bad", "/p?id=1&sid=good"]
    assert result.got == [urls[2]]


def test_a_job_goes_on_with_the_rules_it_began_with(with_rules, job):
    UTM = Rule.of(DropParameter("utm"))
    with serving(lambda path: page()) as site:
        crawl([site.url("/p?id=1&sid=a&utm=a")], with_rules(site, SID) | job)
        with_both = with_rules(site, SID, UTM) | job
        crawl([site.url("/p?id=1&sid=b&utm=a"), site.url("/p?id=1&sid=b&utm=b")], with_both)
        assert site.asked == ["/p?id=1&sid=a&utm=a", "/p?id=1&sid=b&utm=b"]
        crawl([site.url("/p?id=1&sid=b&utm=b")], with_both | {"JOBDIR": job["JOBDIR"] + "2"})
        crawl([site.url("/p?id=1&sid=b&utm=c")], with_both | {"JOBDIR": job["JOBDIR"] + "2"})
    assert len(site.asked) == 3


def without(with_rules, site, how):
    """Settings of a crawl in which the rule is no longer in force."""
    if how == "another rule":
        return with_rules(site, Rule.of(DropParameter("utm")))
    if how == "no rule":
        return with_rules(site)
    if how == "skipped":
        return with_rules(site, SID) | {"DUST_SKIP_DOMAINS": ["127.0.0.1"]}
    return with_rules(site, SID) | {"DUST_MODE": how}


@pytest.mark.parametrize("how", ["off", "shadow", "skipped", "another rule", "no rule"])
def test_a_rule_taken_back_filters_no_more_and_no_page_is_lost_by_mixing_keys(with_rules, job, how):
    with serving(lambda path: page()) as site:
        # Its key is that of `/p?id=1`, which was never asked for and may be a page of its own.
        crawl([site.url("/p?id=1&sid=a")], with_rules(site, SID) | job)
        settings = without(with_rules, site, how) | job
        crawl([site.url(f"/p?id=1{sid}") for sid in ("&sid=a", "", "&sid=b", "", "&sid=b")], settings)
    assert site.asked == ["/p?id=1&sid=a", "/p?id=1", "/p?id=1&sid=b"]


def test_a_job_begun_without_rules_goes_on_without_them(with_rules, settings, job):
    with serving(lambda path: page()) as site:
        crawl([site.url("/p?sid=a")], settings | job)
        crawl([site.url("/p?sid=b"), site.url("/p?sid=c")], with_rules(site, SID) | job)
    assert len(site.asked) == 3


def test_a_job_whose_classes_another_version_made_goes_on_and_says_so(with_rules, job, monkeypatch, caplog):
    with serving(lambda path: page()) as site:
        settings = with_rules(site, SID) | job
        crawl([site.url("/")], settings)
        monkeypatch.setattr(book, "CANONIZER_VERSION", 0)
        result = crawl([site.url("/"), site.url("/2"), site.url("/2?sid=a")], settings)
    assert site.asked == ["/", "/2"]
    assert result.stats["finish_reason"] == "finished"
    assert "It goes on with those of now" in caplog.text


def test_a_start_url_of_before_the_pause_is_known_after_it(with_rules, job):
    with serving(lambda path: page()) as site:
        settings = with_rules(site, SID) | job
        crawl([Request(site.url("/?sid=a"), dont_filter=True)], settings)
        crawl([site.url("/?sid=b")], settings)
    assert site.asked == ["/?sid=a"]


def test_forty_aliases_outlive_a_pause(with_rules, job):
    def web(path: str) -> Answer:
        if path == "/first":
            PausedAtOnce.stopped.wait(PATIENCE)
        return page() if path in ("/first", "/p?sid=39") else error(404)

    PausedAtOnce.stopped.clear()
    with serving(web) as site:
        settings = with_rules(site, SID) | job
        crawl(
            [site.url(path) for path in ("/first", *(f"/p?sid={n}" for n in range(40)))],
            settings,
            spider=PausedAtOnce,
        )
        assert site.asked == ["/first"]
        result = crawl([], settings)
    assert result.got == [site.url("/p?sid=39")]
    assert len(site.asked) == 41
