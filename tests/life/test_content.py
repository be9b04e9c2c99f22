"""Content dedup keeps the same promises: a copy is dropped only for a page that the spider has taken."""

from __future__ import annotations

import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tests.life.both import Both, Reader
from tests.life.web import Answer, Asked, Site, index, notice, page, words

HERE = "tests.life.test_content"
DROP = {"DUST_CONTENT_DEDUP": "drop"}
BUSY = f"What you have asked for is made at this very moment. {words('made')}"
PAGES = tuple(f"/p{n}" for n in range(24))
#: Each page under two URLs of which no rule speaks, one after the other; of some the crawl learns that they are one.
TWICE = tuple(f"{way}/p{n}" for n in range(20) for way in ("/print", ""))


def linking(links: tuple[str, ...], site: Site) -> Site:
    return lambda asked: index(*links) if asked.path == "/" else site(asked)


def the_same_printed(asked: Asked) -> Answer:
    return page(asked.path.removeprefix("/print"))


class InOrder(Reader):
    """Fetches what is linked in the order of the page."""

    def links(self, response: Response):
        for at, request in enumerate(super().links(response)):
            yield request.replace(priority=-at)


class Waiting(InOrder):
    """Asks again later where it is told to wait."""

    def parse(self, response: Response):
        yield from super().parse(response)
        if response.css(".notice"):
            yield response.request.replace(dont_filter=True, priority=-100)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_page_that_the_callback_would_have_asked_for_again_is_no_copy(both, concurrency):
    def site(asked: Asked) -> Answer:
        if asked.path in ("/p3", "/p7", "/p11", "/p15", "/p19") and not asked.before:
            return notice(BUSY)
        return page(asked.path)

    both(Waiting, linking(PAGES, site), CONCURRENT_REQUESTS=concurrency, **DROP).check(wanted=24)


class TwoWays(InOrder):
    """Has two callbacks for pages that show the same."""

    def links(self, response: Response):
        for request in super().links(response):
            yield request.replace(callback=self.text if "/print" in request.url else self.price)

    def price(self, response: Response):
        yield from self.items(response, kind="price")

    def text(self, response: Response):
        yield from self.items(response, kind="text")


def test_a_copy_for_another_callback_is_no_copy(both):
    both(TwoWays, linking(TWICE, the_same_printed), **DROP).check(wanted=40)


class TwoRules(CrawlSpider):
    """Has a `Rule` of its own for each of two pages that show the same."""

    name = "two-rules"
    rules = (
        Rule(LinkExtractor(allow="/print/"), callback="text"),
        Rule(LinkExtractor(), callback="price"),
    )

    def __init__(self, homes: tuple[str, ...], **_: str) -> None:
        super().__init__()
        self.start_urls = [homes[0] + "/"]

    def text(self, response: Response):
        yield {"text": response.css("h1::text").get()}

    def price(self, response: Response):
        yield {"price": response.css("h1::text").get()}


def test_a_copy_for_another_rule_of_a_crawl_spider_is_no_copy(both):
    both(TwoRules, linking(TWICE, the_same_printed), **DROP).check(wanted=40)


class DroppingPrints:
    """Has no use for one of two pages that show the same."""

    def process_spider_input(self, response: Response):
        if "/print" in response.url:
            raise IgnoreRequest("not that one")


def test_a_copy_of_what_a_middleware_kept_from_the_spider_is_no_copy(both):
    middlewares = {f"{HERE}.DroppingPrints": 990}
    both(InOrder, linking(TWICE, the_same_printed), SPIDER_MIDDLEWARES=middlewares, **DROP).check(wanted=20)


class Stumbling(InOrder):
    def parse(self, response: Response):
        if "/print" in response.url:
            raise ValueError("a bug of the spider's")
        yield from super().parse(response)


class StumblingLater(InOrder):
    def parse(self, response: Response):
        yield {"seen": "something"}
        if "/print" in response.url:
            raise ValueError("a bug of the spider's")
        yield from super().parse(response)


@pytest.mark.parametrize("spider", [Stumbling, StumblingLater])
def test_a_copy_of_what_the_callback_stumbled_over_is_no_copy(both, spider):
    found: Both = both(spider, linking(TWICE, the_same_printed), **DROP)
    assert found.lost == []


def test_a_copy_that_is_less_deep_is_followed_under_a_depth_limit(both):
    def site(asked: Asked) -> Answer:
        match asked.path:
            case "/":
                return index("/way", "/side")
            case "/way":
                return index("/farther")
            case "/farther":
                return index(*(f"/print/p{n}" for n in range(6)))
            case "/side":
                return Answer(index(*(f"/p{n}" for n in range(6))).body, seconds=0.4)
            case path if "/p" in path:
                shown = path.removeprefix("/print")
                return page(shown, shown.replace("/p", "/item"))
            case path:
                return page(path)

    both(Reader, site, DEPTH_LIMIT=3, CONCURRENT_REQUESTS=8, **DROP).check(wanted=12)


def closing(answer: Answer) -> Answer:
    """As a server of HTTP/1.0 sends it: without a length, so that Scrapy calls it partial."""
    return Answer(answer.body, headers={**answer.headers, "X-Flags": "partial"})


@pytest.mark.parametrize("says", [lambda answer: answer, closing], ids=["a length", "no length"])
def test_copies_are_dropped_where_a_server_says(both, says):
    flagging = {"DOWNLOADER_MIDDLEWARES": {"tests.life.test_taken.Flagging": 1000}}
    site = linking(TWICE, lambda asked: says(the_same_printed(asked)))
    found: Both = both(InOrder, site, **flagging, **DROP)
    found.check(wanted=20)
    assert sum(found.ours.items.values()) <= 28, "copies came to the spider"


class AskingForTheRest(InOrder):
    """Asks again later for what was cut off."""

    def parse(self, response: Response):
        yield from super().parse(response)
        if response.flags:
            yield response.request.replace(dont_filter=True, priority=-100)


def test_a_cut_off_answer_is_no_copy_of_another(both):
    """Two that were cut off at the same place read the same."""

    def site(asked: Asked) -> Answer:
        if asked.path in ("/p2", "/p5", "/p9") and not asked.before:
            return Answer(notice(BUSY).body[:-20], length=5000)
        return page(asked.path)

    found = both(AskingForTheRest, linking(PAGES, site), DOWNLOAD_FAIL_ON_DATALOSS=False, **DROP)
    found.check(wanted=24)
