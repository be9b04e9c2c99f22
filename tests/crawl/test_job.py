"""A job that is paused and resumed: with the same rules it loses nothing, with others it is refused."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from scrapy.exceptions import CloseSpider

from scrapy_dust.dust.rules import ParameterRule
from scrapy_dust.errors import DustError
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import Answer, error, page, serving

SID = ParameterRule("sid")


class Pausing(Visitor):
    """Stops as Ctrl-C does, after the first page."""

    def parse(self, response):
        self.crawl.got.append(response.url)
        raise CloseSpider("shutdown")


@pytest.fixture
def job(tmp_path: Path) -> dict[str, str]:
    return {"JOBDIR": str(tmp_path / "job")}


def test_a_resumed_job_fetches_what_was_left_and_nothing_twice(with_rules, job):
    with serving(lambda path: page()) as site:
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
            PausedAtOnce.stopped.wait(20)
        return error(404) if "bad" in path else page()

    with serving(web) as site:
        settings = with_rules(site, SID) | job
        urls = [site.url(path) for path in ("/first", "/p?id=1&sid=bad", "/p?id=1&sid=good")]
        crawl(urls, settings, spider=PausedAtOnce)
        assert site.asked == ["/first"]
        result = crawl([], settings)
    assert site.asked[1:] == ["/p?id=1&sid=bad", "/p?id=1&sid=good"]
    assert result.got == [urls[2]]


def test_a_job_begun_with_other_rules_is_refused_in_a_sentence_that_says_how_to_go_on(with_rules, job):
    with serving(lambda path: page()) as site:
        crawl([site.url("/")], with_rules(site, SID) | job)
        with pytest.raises(
            DustError, match=r"job was begun with version \w+/10 .* put .* back .* another JOBDIR\.$"
        ):
            crawl([site.url("/2")], with_rules(site, SID, ParameterRule("utm")) | job)
    assert site.asked == ["/"]


@pytest.mark.parametrize("mode", ["off", "shadow"])
def test_a_job_begun_with_rules_is_not_resumed_without_them(with_rules, job, mode):
    with serving(lambda path: page()) as site:
        settings = with_rules(site, SID) | job
        crawl([site.url("/")], settings)
        with pytest.raises(DustError, match="would go on with no rules"):
            crawl([site.url("/2")], settings | {"DUST_MODE": mode})


def test_a_job_begun_without_rules_goes_on_without_them(with_rules, settings, job):
    with serving(lambda path: page()) as site:
        crawl([site.url("/")], settings | job)
        crawl([site.url("/2")], with_rules(site, SID) | job | {"DUST_MODE": "off"})
        with pytest.raises(DustError, match="was begun with no rules"):
            crawl([site.url("/3")], with_rules(site, SID) | job)
    assert site.asked == ["/", "/2"]
