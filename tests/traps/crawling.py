"""Crawls of generated sites without a network, and the page at which each item came."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.http import HtmlResponse, Response

from tests.traps.sites import HOST, Site

SETTINGS: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "DUST_LOG_ENABLED": False,
    "LOG_LEVEL": "WARNING",
    "CONCURRENT_REQUESTS": 8,
    "ROBOTSTXT_OBEY": False,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_HANDLERS": {"http": "tests.traps.crawling.NoNetwork", "https": None},
}
OURS: dict[str, Any] = {"ADDONS": {"scrapy_dust.Addon": 900}}


class NoNetwork(BaseDownloadHandler):
    """Answers as the site of the spider does."""

    async def download_request(self, request: Request) -> Response:
        await asyncio.sleep(0)
        spider = self.crawler.spider
        assert isinstance(spider, Shopper)
        page = spider.site.answer(request.url)
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if page is None:
            return HtmlResponse(request.url, 404, headers, b"<p>There is no such page.</p>")
        return HtmlResponse(request.url, 200, headers, page.encode())


@dataclass
class Crawled:
    """What came of a crawl."""

    pages: list[str] = field(default_factory=list)  #: in their order
    items: dict[str, int] = field(default_factory=dict)  #: after so many pages
    stats: dict[str, Any] = field(default_factory=dict)
    crawler: Crawler | None = None

    def among(self, pages: int) -> int:
        """Items among the first *pages*."""
        return sum(at <= pages for at in self.items.values())


class Shopper(Spider):
    """Follows all links, and makes an item of what is one."""

    name = "shopper"

    def __init__(self, site: Site, crawled: Crawled, **_: Any) -> None:
        super().__init__()
        self.site, self.crawled = site, crawled

    async def start(self) -> AsyncIterator[Any]:
        yield Request(f"{HOST}/")

    def parse(self, response: Response) -> Any:
        self.crawled.pages.append(response.url)
        for item in response.css("h1.item::text").getall():
            self.crawled.items.setdefault(item, len(self.crawled.pages))
            yield {"name": item, "url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link)


def crawl(site: Site, folder: Any = None, spider: type[Spider] = Shopper, **settings: Any) -> Crawled:
    """With us where *folder* is given, our folder of state."""
    crawled = Crawled()

    async def run() -> None:
        ours = {} if folder is None else {**OURS, "DUST_DIR": str(folder)}
        runner = AsyncCrawlerRunner({**SETTINGS, **ours, **settings})
        crawled.crawler = runner.create_crawler(spider)
        await runner.crawl(crawled.crawler, site=site, crawled=crawled)

    asyncio.run(run())
    assert crawled.crawler is not None
    crawled.stats = crawled.crawler.stats.get_stats()
    return crawled
