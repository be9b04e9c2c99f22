"""In whatever way a request ends: it is known at once, or at the latest when the spider is idle, and the next alias
has its turn with all that is its own.
"""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse

from scrapy_dust.crawl.fetches_under_way import FetchesUnderWay
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import Visitor, crawl
from tests.crawl.site import HANG_UP, error, page, serving

SID = Rule.of(DropParameter("sid"))


class Refusing:
    """A downloader and spider middleware that wants none of what has *bad* in its URL."""

    def _refuse(self, url):
        if "bad" in url:
            raise IgnoreRequest("not that one")


class RefusingRequests(Refusing):
    def process_request(self, request):
        self._refuse(request.url)


class RefusingResponses(Refusing):
    def process_response(self, request, response):
        self._refuse(request.url)
        return response


class RefusingInput(Refusing):
    def process_spider_input(self, response):
        self._refuse(response.url)


@pytest.mark.parametrize("order", [5, 540, 880])
@pytest.mark.parametrize(
    ("kind", "middleware"),
    [
        ("DOWNLOADER_MIDDLEWARES", RefusingRequests),
        ("DOWNLOADER_MIDDLEWARES", RefusingResponses),
        ("SPIDER_MIDDLEWARES", RefusingInput),
    ],
)
def test_what_a_middleware_refuses_brings_no_page(with_rules, kind, middleware, order):
    with serving(lambda path: page()) as site:
        urls = [site.url(f"/p?sid={sid}") for sid in ("bad", "good", "late")]
        result = crawl(urls, with_rules(site, SID) | {kind: {middleware: order}})
    assert result.got == [urls[1]]
    assert site.times()["/p?sid=late"] == 0


@pytest.mark.parametrize("by_hand", [False, True])
def test_without_the_outcome_middleware_it_is_known_when_the_spider_is_idle(with_rules, by_hand):
    """With it, the alias comes before what else there is to do."""
    with serving(lambda path: HANG_UP if "bad" in path else page()) as site:
        urls = [site.url(path) for path in ("/p?sid=bad", "/p?sid=good", "/1", "/2", "/3")]
        settings = with_rules(site, SID) | {"RETRY_ENABLED": False}
        if by_hand:
            settings["DOWNLOADER_MIDDLEWARES"] = {"scrapy_dust.DustOutcomeMiddleware": None}
        crawl([Request(url, priority=-n) for n, url in enumerate(urls)], settings)
    assert (site.asked[-1] == "/p?sid=good") is by_hand


class Landing:
    """Answers as a browser does that followed a redirect by itself: with the URL where it ended."""

    def process_request(self, request):
        if "bad" not in request.url:
            return None
        request.meta["redirect_urls"] = [request.url]
        landed = request.url.partition("/p")[0] + "/login"
        return HtmlResponse(landed, body=b"log in", request=request)


def test_a_redirect_that_a_browser_followed_out_of_the_class_is_no_page_of_it(with_rules):
    with serving(lambda path: page(words=path.partition("?")[0])) as site:
        urls = [site.url(f"/p{n}?sid={sid}") for n in range(3) for sid in ("bad", "good", "late")]
        crawl(urls, with_rules(site, SID) | {"DOWNLOADER_MIDDLEWARES": {Landing: 543}})
    assert site.times() == {f"/p{n}?sid=good": 1 for n in range(3)}


class Told(Visitor):
    """Notes what each of its callbacks is given."""

    async def start(self):
        for number, wanted in enumerate(self.requests):
            yield Request(
                wanted,
                callback=self.first if number == 0 else self.second,
                errback=self.failed,
                cb_kwargs={"number": number},
                meta={"mine": number},
                priority=-number,
            )

    def first(self, response, number):
        raise AssertionError

    def second(self, response, number):
        self.crawl.got.append((response.url, number, response.meta["mine"], response.request.priority))


@pytest.mark.parametrize("answer", [error(404), HANG_UP])
def test_the_heir_has_its_own_callback_errback_meta_arguments_and_priority(with_rules, answer):
    with serving(lambda path: answer if "bad" in path else page()) as site:
        urls = [site.url(f"/p?sid={sid}") for sid in ("bad", "bad2", "good")]
        result = crawl(urls, with_rules(site, SID) | {"RETRY_ENABLED": False}, spider=Told)
    assert result.got == [(urls[2], 2, 2, -2)]
    assert result.failed == urls[:2]


def test_while_the_crawl_itself_stands_still_no_site_is_late():
    now = 0.0
    fetches, late = FetchesUnderWay(8, lambda: now), []
    fetches.class_begins(b"class", 0)
    for seconds in (0.1, 0.1, 60.0, *[0.25] * 17):
        now += seconds
        late += fetches.late_classes(lambda of: True)
    assert not late
    now += 0.3
    assert list(fetches.late_classes(lambda of: True)) == [b"class"]
