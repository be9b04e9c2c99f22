"""Start requests, which no dupefilter is asked about, are known when they are linked again."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.spiders import CrawlSpider

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import error, page, redirect, serving

SID = Rule.of(DropParameter("sid"))


class Starting(Visitor):
    """As a spider with `start_urls` begins."""

    async def start(self):
        for url in self.requests:
            yield Request(url, dont_filter=True)

    def parse(self, response):
        self.crawl.got.append(response.url)
        yield {"url": response.url}
        yield from response.follow_all(css="a", callback=self.parse)


def test_a_start_url_linked_again_under_another_alias_is_not_fetched_again_and_itself_as_without_us(
    with_rules,
):
    home = page("/?sid=1", "/?sid=2", "/", "/1?sid=a")
    with serving(lambda path: home) as site:
        crawl([site.url("/?sid=1"), site.url("/1")], with_rules(site, SID), spider=Starting)
    assert site.times() == {"/?sid=1": 2, "/1": 1}


def test_it_is_known_from_when_it_is_scheduled(with_rules):
    """Not only when its page has come."""
    with serving(lambda path: page("/b?sid=2") if path == "/a" else page()) as site:
        crawl([site.url("/a"), site.url("/b?sid=1")], with_rules(site, SID), spider=Starting)
    assert site.times() == {"/a": 1, "/b?sid=1": 1}


def test_where_a_start_url_redirects_is_known_too(with_rules):
    with serving(lambda path: redirect("/home?sid=1") if path == "/" else page("/home")) as site:
        crawl([site.url("/")], with_rules(site, SID), spider=Starting)
    assert site.times() == {"/": 1, "/home?sid=1": 1}


def test_a_start_url_that_fails_is_got_under_another_alias(with_rules):
    def web(path):
        return page("/p?sid=2") if path == "/" else error(404) if path == "/p?sid=1" else page()

    with serving(web) as site:
        result = crawl([site.url("/p?sid=1"), site.url("/")], with_rules(site, SID), spider=Starting)
    assert result.got == [site.url("/"), site.url("/p?sid=2")]


class LoggingIn(Starting):
    def parse(self, response):
        yield Request(response.urljoin("/login"), callback=self.logged_in)

    def logged_in(self, response):
        yield Request(response.urljoin("/?sid=2"), callback=self.at_home)

    def at_home(self, response):
        self.crawl.got.append(response.url)


def test_what_another_callback_wants_is_fetched_for_it(with_rules):
    with serving(lambda path: page()) as site:
        result = crawl([site.url("/")], with_rules(site, SID), spider=LoggingIn)
    assert result.got == [site.url("/?sid=2")]


class Polling(Starting):
    def parse(self, response):
        self.crawl.got.append(response.url)
        if len(self.crawl.got) < 4:
            yield Request(response.url, dont_filter=True)


def test_what_asks_not_to_be_filtered_never_is(with_rules):
    with serving(lambda path: page()) as site:
        crawl([site.url("/?sid=1")], with_rules(site, SID), spider=Polling)
    assert site.asked == ["/?sid=1"] * 4


class OfLinks(CrawlSpider):
    """Its start pages go to a method of its own, and what is linked to `parse_item`."""

    name = "links"

    def __init__(self, requests, crawl, **_):
        super().__init__()
        self.start_urls, self.crawl = requests, crawl

    def parse_start_url(self, response, **_):
        yield Request(response.urljoin("/?sid=2"), callback=self.parse_item)

    def parse_item(self, response):
        self.crawl.got.append(response.url)


def test_a_crawl_spiders_start_page_is_no_item_yet(with_rules):
    with serving(lambda path: page()) as site:
        result = crawl([site.url("/")], with_rules(site, SID), spider=OfLinks)
    assert result.got == [site.url("/?sid=2")]


@pytest.mark.parametrize("mode", ["shadow", "off"])
def test_without_rules_in_force_start_urls_are_fetched_again_as_ever(with_rules, mode):
    with serving(lambda path: page("/?sid=1")) as site:
        crawl([site.url("/?sid=1")], with_rules(site, SID) | {"DUST_MODE": mode}, spider=Starting)
    assert site.asked == ["/?sid=1"] * 2
