"""A crawl of a `Web` by Scrapy's own engine, of which only the network is missing."""

from __future__ import annotations

import asyncio
import html
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import DownloadConnectionRefusedError
from scrapy.http import HtmlResponse, Response, TextResponse

from tests.webs.model import Failure, Page, Redirect, Web

SETTINGS: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "ADDONS": {"scrapy_dust.Addon": 900},
    "DUST_LOG_ENABLED": False,
    "DUST_CANARY_RATE": 0,
    "RETRY_TIMES": 1,
    "LOG_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": False,
    "METAREFRESH_MAXDELAY": 100,
    "DOWNLOAD_HANDLERS": {"http": "tests.webs.crawling.NoNetwork", "https": None},
}


@dataclass
class Crawled:
    contents: set[str] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)  #: URLs
    reason: str = ""


class NoNetwork(BaseDownloadHandler):
    """Answers as the web of the spider does."""

    async def download_request(self, request: Request) -> Response:
        spider = self.crawler.spider
        assert isinstance(spider, Walker)
        web, asked = spider.web, spider.crawled.asked
        asked[request.url] += 1
        for _ in range(web.delays.get(request.url, 0)):
            await asyncio.sleep(0)
        answer = web.answers.get(request.url, Failure(404))
        if isinstance(answer, Failure) and answer.then and asked[request.url] > (answer.times or 0):
            answer = answer.then
        match answer:
            case Failure(0):
                raise DownloadConnectionRefusedError("nobody there")
            case Failure(status):
                return HtmlResponse(request.url, status=status, body=b"failed", request=request)
            case Redirect(to, refresh=True):
                head = f'<meta http-equiv="refresh" content="0; url={html.escape(to)}">'
                return HtmlResponse(request.url, body=f"<html><head>{head}</head></html>".encode())
            case Redirect(to):
                return HtmlResponse(request.url, status=302, headers={"Location": to})
            case Page(content):
                links = "".join(f'<a href="{html.escape(url)}">x</a>' for url in web.links.get(content, ()))
                return HtmlResponse(request.url, body=f"<title>{content}</title>{links}".encode())


class Walker(Spider):
    name = "walker"

    def __init__(self, web: Web, crawled: Crawled, **_: Any) -> None:
        super().__init__()
        self.web, self.crawled = web, crawled

    async def start(self) -> AsyncIterator[Any]:
        for url in self.web.start:
            yield Request(url)

    def parse(self, response: Response) -> Any:
        assert isinstance(response, TextResponse)
        self.crawled.contents.add(response.css("title::text").get(""))
        for link in response.css("a"):
            yield response.follow(link)

    def closed(self, reason: str) -> None:
        self.crawled.reason = reason


def crawl(web: Web, **settings: Any) -> Crawled:
    async def run() -> Crawled:
        crawled = Crawled()
        runner = AsyncCrawlerRunner(
            SETTINGS
            | {"CONCURRENT_REQUESTS": web.concurrency, "CONCURRENT_REQUESTS_PER_DOMAIN": web.concurrency}
            | {"RETRY_ENABLED": web.retries}
            | settings
        )
        await runner.crawl(runner.create_crawler(Walker), web=web, crawled=crawled)
        return crawled

    return asyncio.run(run())
