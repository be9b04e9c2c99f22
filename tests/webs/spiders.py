"""The spiders that crawl a `Web`, and what projects put beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import CloseSpider, DontCloseSpider, IgnoreRequest
from scrapy.http import Response
from scrapy.spiders import CrawlSpider, Rule
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.request import fingerprint
from twisted.internet.defer import Deferred

from scrapy_dust.rules.rule import Rule as DustRule
from tests.webs.model import Handling, Item, Web, item

#: How often a callback asks again for what it was told to wait for.
PATIENCE = 3


class BugOfTheSpiders(Exception):
    """What a callback fails with."""


@dataclass
class Crawled:
    items: set[Item] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)  #: URLs
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)  #: the same by language
    pages: int = 0
    reason: str = ""
    refuted: tuple[DustRule, ...] = ()  #: rules that this crawl found to be false
    faults: list[str] = field(default_factory=list)  #: exceptions of ours

    @property
    def contents(self) -> set[str]:
        return {content for _, content, _, _ in self.items}


class Walker(Spider):
    """Asks for each URL in the way that the web says, yields an item for each page, and follows its links."""

    name = "walker"
    allowed_domains = ("webs.test", "stranger.test")

    def __init__(
        self, web: Web, crawled: Crawled, until: int | None, blind_to: frozenset[str] = frozenset(), **_: Any
    ) -> None:
        super().__init__()
        self.web, self.crawled, self.until, self.blind_to = web, crawled, until, blind_to
        self.round = 1
        self.seen: set[tuple[str, Item]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **arguments: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **arguments)
        crawler.signals.connect(spider.begin_again, signal=signals.spider_idle)
        return spider

    async def start(self) -> AsyncIterator[Any]:
        for request in self.beginning():
            yield request.replace(dont_filter=self.web.manner.start_unfiltered)

    def beginning(self) -> Iterator[Request]:
        for url in self.web.start:
            yield from self.requests(url, self.web.manner.languages, self.round)

    def begin_again(self) -> None:
        if self.round < self.web.manner.rounds:
            self.round += 1
            for request in self.beginning():
                self.crawler.engine.crawl(request)
            raise DontCloseSpider

    def requests(self, url: str, languages: Iterable[str], number: int, **more: Any) -> Iterator[Request]:
        handling, named = self.web.handling(url), self.web.manner.named
        for language in languages:
            request = Request(
                url,
                callback=getattr(self, handling.callback),
                cb_kwargs={"category": handling.category} if named == "cb_kwargs" else {},
                headers={"Accept-Language": language} if language else {},
                meta={"asked": url, "round": number, "language": language},
                **more,
            )
            if named.startswith("meta:"):
                request.meta["category"] = handling.category
            yield request

    def whole(self, response: Response, category: str = "") -> Iterator[Any]:
        return self.read(response, "whole", category)

    def part(self, response: Response, category: str = "") -> Iterator[Any]:
        return self.read(response, "part", category)

    def leaf(self, response: Response, category: str = "") -> Iterator[Any]:
        return self.read(response, "leaf", category, follows=False)

    def read(
        self, response: Response, callback: str, category: str, *, follows: bool = True
    ) -> Iterator[Any]:
        self.crawled.pages += 1
        category = category or response.meta.get("category", "")
        raises = self.web.handling(response.meta["asked"]).raises
        if raises == "first":
            raise BugOfTheSpiders
        if "X-Wait" in response.headers:
            yield from self.again(response)
        content = response.headers.get("X-Content", b"").decode()
        if content and content not in self.blind_to:
            found = item(
                Handling(callback, category), content, response.meta["language"], response.meta["round"]
            )
            is_new = found not in self.crawled.items
            self.crawled.items.add(found)
            yield {"content": content}
            if raises == "later":
                raise BugOfTheSpiders
            if follows:
                yield from self.follow(response, content, is_new=is_new)
        if self.until is not None and self.crawled.pages >= self.until:
            raise CloseSpider("paused")

    def again(self, response: Response) -> Iterator[Request]:
        tries = response.meta.get("tries", 0)
        if tries < PATIENCE:
            request = response.request
            assert request is not None
            yield request.replace(dont_filter=True, meta={**request.meta, "tries": tries + 1})

    def follow(self, response: Response, content: str, *, is_new: bool) -> Iterator[Request]:
        meta = response.meta
        for link in self.web.links.get(content, ()):
            # What is not filtered would be asked for each time that it is linked.
            if is_new or not (link.unfiltered or self.web.manner.inner == "base"):
                yield from self.requests(
                    link.url,
                    [meta["language"]],
                    meta["round"],
                    priority=link.priority,
                    dont_filter=link.unfiltered,
                )

    def closed(self, reason: str) -> None:
        self.crawled.reason = reason


class RuleWalker(CrawlSpider, Walker):
    """The same as a `CrawlSpider`, whose rules have all one callback of Scrapy's."""

    name = "walker"
    rules = tuple(Rule(callback=name, follow=False) for name in ("whole", "part", "leaf"))
    _AT = {"whole": 0, "part": 1, "leaf": 2}

    def requests(self, url: str, languages: Iterable[str], number: int, **more: Any) -> Iterator[Request]:
        rule = self._AT[self.web.handling(url).callback]
        for request in super().requests(url, languages, number, **more):
            yield request.replace(
                callback=self._callback,
                errback=self._errback,
                meta={**request.meta, "rule": rule, "link_text": ""},
            )


class Refusals:
    """A project's own middleware, which has no use for some answers."""

    def process_response(self, request: Request, response: Response) -> Response:
        if "X-Refused" in response.headers:
            raise IgnoreRequest("of no use")
        return response


class PatientRobots(RobotsTxtMiddleware):
    """Without Scrapy's gap: of many requests that wait for a robots.txt, the third and later ones are let through."""

    async def robot_parser(self, request: Request) -> Any:
        waiting = self._parsers.get(urlsplit(request.url).netloc)
        if isinstance(waiting, Deferred) and not waiting.called:
            mine: Deferred[Any] = Deferred()

            def tell(parser: Any) -> Any:
                mine.callback(parser)
                return parser

            waiting.addCallback(tell)
            return await maybe_deferred_to_future(mine)
        return await super().robot_parser(request)


class KeepingBack:
    """A spider middleware of the project's, which lets some answers not come to the spider."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_spider_input(self, response: Response) -> None:
        spider = self.crawler.spider
        assert isinstance(spider, Walker)
        if spider.web.handling(response.meta["asked"]).is_dropped:
            raise IgnoreRequest("not that one")


class LanguageFingerprinter:
    """A project's own: requests of different languages are different."""

    def fingerprint(self, request: Request) -> bytes:
        return fingerprint(request, include_headers=["Accept-Language"])


class NoFilter(BaseDupeFilter):
    """Lets everything through, as Scrapy's base class does."""

    def log(self, request: Request, spider: Spider) -> None:
        """Nothing: hundreds of crawls a minute."""


class Window(NoFilter):
    """Forgets what it has let through when the spider begins another round."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.seen: set[tuple[int, bytes]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def request_seen(self, request: Request) -> bool:
        key = (request.meta["round"], self.crawler.request_fingerprinter.fingerprint(request))
        is_seen = key in self.seen
        self.seen.add(key)
        return is_seen
