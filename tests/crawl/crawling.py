"""Crawls in this process, without a Twisted reactor, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.http import Response, TextResponse
from twisted.python.failure import Failure

from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Entry
from scrapy_dust.rules.rule import Rule

#: Of a crawl that is short and touches nothing but this machine.
QUIET: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "ADDONS": {"scrapy_dust.Addon": 900},
    "DUST_CANARY_RATE": 0,
    # A process takes longer to start than such a crawl; what it does is tested in test_recorder.py.
    "DUST_LOG_PROCESS": False,
    "RETRY_TIMES": 1,
    "CONCURRENT_REQUESTS": 1,
    "LOG_LEVEL": "DEBUG",
}


@dataclass
class Crawl:
    """What came of one."""

    crawler: Crawler
    got: list[str] = field(default_factory=list)  #: URLs of the pages that the callback was given
    failed: list[str] = field(default_factory=list)  #: URLs given to the errback

    @property
    def stats(self) -> dict[str, Any]:
        return self.crawler.stats.get_stats()


class Visitor(Spider):
    """Asks for *requests* in their order, and follows links if told to."""

    name = "visitor"

    def __init__(
        self, requests: Sequence[Request | str], crawl: Crawl, follow: bool = False, **_: Any
    ) -> None:
        super().__init__()
        self.requests, self.crawl, self.follow = requests, crawl, follow

    async def start(self) -> AsyncIterator[Any]:
        for wanted in self.requests:
            request = Request(wanted) if isinstance(wanted, str) else wanted
            yield request.replace(callback=self.parse, errback=self.failed)

    def parse(self, response: Response) -> Any:
        self.crawl.got.append(response.url)
        yield {"url": response.url}
        if self.follow and isinstance(response, TextResponse):
            for link in response.css("a"):
                yield response.follow(link, callback=self.parse, errback=self.failed)

    def failed(self, failure: Failure) -> None:
        self.crawl.failed.append(failure.request.url)  # type: ignore[attr-defined]


def crawl(
    requests: Sequence[Request | str],
    settings: Mapping[str, Any],
    *,
    follow: bool = False,
    spider: type[Spider] = Visitor,
) -> Crawl:
    async def run() -> Crawl:
        runner = AsyncCrawlerRunner({**QUIET, **settings})
        crawler = runner.create_crawler(spider)
        result = Crawl(crawler)
        await runner.crawl(crawler, requests=requests, crawl=result, follow=follow)
        return result

    return asyncio.run(run())


def write_rules(path: Path, rules: Mapping[str, Sequence[Rule]]) -> str:
    book = RuleBook()
    for site, of_site in rules.items():
        book = book.with_site(site, [Entry(rule) for rule in of_site])
    book.save(path)
    return str(path)
