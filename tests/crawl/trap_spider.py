"""Walks through the web of traps as an ordinary spider does, on whatever Scrapy and dupefilter it is given.

``python -m tests.crawl.trap_spider`` crawls in a process of its own; it imports no more of scrapy-dust than its
settings do.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from importlib.util import find_spec
from typing import Any

from scrapy import FormRequest, Request, Spider, signals
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import Response, TextResponse
from scrapy.pipelines.files import FilesPipeline
from scrapy.pipelines.images import ImagesPipeline
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import install_reactor

HERE = "tests.crawl.trap_spider"

#: Prefix of a stat, by content: how often it came to the spider.
DELIVERED = "traps/delivered/"

#: Of a crawl that is short and touches nothing but this machine; of the traps, what makes them snap.
SETTINGS: dict[str, Any] = {
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "RETRY_TIMES": 1,
    "REDIRECT_MAX_TIMES": 4,
    "ROBOTSTXT_OBEY": True,
    "DOWNLOADER_MIDDLEWARES": {f"{HERE}.Dropping": 560},
    "SPIDER_MIDDLEWARES": {f"{HERE}.NotDelivering": 500},
    "EXTENSIONS": {f"{HERE}.Late": 500},
    "ITEM_PIPELINES": {f"{HERE}.Files": 1} | ({f"{HERE}.Images": 2} if find_spec("PIL") else {}),
}


def settings_for(folder: str) -> dict[str, Any]:
    """Settings of a crawl whose files go to *folder*."""
    return SETTINGS | {"FILES_STORE": f"{folder}/files", "IMAGES_STORE": f"{folder}/images"}


class TrapSpider(Spider):
    name = "traps"
    allowed_domains = ["127.0.0.1"]
    pause_after: int | None = None  #: so many answers

    def __init__(self, home: str, pause_after: int | None = None, **_: Any) -> None:
        super().__init__()
        self.home, self.pause_after, self.answers = home, pause_after, 0

    async def start(self) -> AsyncIterator[Any]:
        yield Request(self.home, dont_filter=True)

    def parse(self, response: Response) -> Iterator[Any]:
        self.answers += 1
        if isinstance(response, TextResponse):
            for content in response.css("p::text").re("^The page (.*) and"):
                self.crawler.stats.inc_value(f"{DELIVERED}{content}")
                yield {"content": content}
            for anchor in response.css("a"):
                yield from self.follow(response.urljoin(anchor.attrib["href"]), anchor.attrib["title"])
        if self.answers == self.pause_after:
            raise CloseSpider("shutdown")

    def follow(self, url: str, how: str) -> Iterator[Any]:
        kind, _, rest = how.partition(":")
        match kind:
            case "late":  # see `Late`
                return
            case "file" | "image":
                yield {f"{kind}_urls": [url]}
            case "post":
                yield Request(url, method="POST", body=rest, callback=self.parse)
            case "form" | "get":
                fields = [tuple(rest.split("="))]
                method = "GET" if kind == "get" else "POST"
                yield FormRequest(url, method=method, formdata=fields, callback=self.parse)
            case _:
                meta: dict[str, dict[str, Any]] = {
                    "verbatim": {"verbatim_url": True},
                    "dust_off": {"dust": False, "dud": False},
                    "timeout": {"download_timeout": 0.5, "max_retry_times": 0},
                }
                request = Request(url, callback=self.parse, errback=self.failed, meta=meta.get(kind, {}))
                yield request.replace(dont_filter=kind == "dont_filter")

    def failed(self, failure: Any) -> None:
        """As spiders have one."""


class Dropping:
    """A downloader middleware that wants nothing of one alias."""

    def process_request(self, request: Request) -> None:
        if "/dropped/" in request.url and request.url.endswith("sid=a"):
            raise IgnoreRequest("not that one")


class NotDelivering:
    """A spider middleware that keeps answers from the spider; they are lost though the site sent them."""

    def process_spider_input(self, response: Response) -> None:
        if "/undelivered/" in response.url and response.url.endswith("sid=a"):
            raise IgnoreRequest("not that one")


class Late:
    """Asks for pages past the spider, as extensions and pipelines do."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        crawler.signals.connect(self.response_received, signal=signals.response_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Late:
        return cls(crawler)

    def response_received(self, response: Response, request: Request, spider: TrapSpider) -> None:
        if not response.url.endswith("/hub/late"):
            return
        for href in response.css("a::attr(href)").getall():
            self.crawler.engine.crawl(Request(response.urljoin(href), callback=spider.parse))


class Files(FilesPipeline):
    """As the documentation of Scrapy has it: with requests that do not say that they have no callback."""

    def get_media_requests(self, item: Any, info: Any) -> Any:
        return [Request(url) for url in item.get("file_urls", [])]


class Images(ImagesPipeline):
    def get_media_requests(self, item: Any, info: Any) -> Any:
        return [Request(url) for url in item.get("image_urls", [])]


async def walks(jobs: list[dict[str, Any]]) -> None:
    """One crawl after the other; prints the stats of each as a line of JSON."""
    for job in jobs:
        runner = AsyncCrawlerRunner(job["settings"])
        crawler = runner.create_crawler(load_object(job.get("spider", f"{HERE}.TrapSpider")))
        await runner.crawl(crawler, **job["arguments"])
        print(json.dumps(crawler.stats.get_stats(), default=str), flush=True)


def main() -> None:
    """On standard input: settings and arguments of each crawl, which all have a reactor, or all have none."""
    jobs = json.load(sys.stdin)
    ExecutionEngine._SLOT_HEARTBEAT_INTERVAL = 0.05
    if not jobs[0]["settings"].get("TWISTED_REACTOR_ENABLED", True):
        asyncio.run(walks(jobs))
        return
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet.task import react  # noqa: PLC0415  It brings the reactor.

    react(deferred_f_from_coro_f(lambda _: walks(jobs)))


if __name__ == "__main__":
    main()
