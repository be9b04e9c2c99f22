"""One of many workers: follows all links of the site, and says at its end what it got."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy_redis.spiders import RedisSpider

from scrapy_dust.crawl import fetches_under_way


class Following:
    name = "worker"
    out = ""
    got: list[str]

    def parse(self, response: Response) -> Iterator[Any]:
        self.got.append(response.url)
        yield {"url": response.url}
        if isinstance(response, TextResponse):
            for link in response.css("a::attr(href)").getall():
                yield response.follow(link, callback=self.parse)

    def closed(self, reason: str) -> None:
        stats = self.crawler.stats.get_stats()  # type: ignore[attr-defined]
        plain = {name: value for name, value in stats.items() if isinstance(value, (int, str))}
        Path(self.out).write_text(json.dumps({"got": self.got, "reason": reason, "stats": plain}))


class Sharing(Following, RedisSpider):
    """Under scrapy-redis, with start URLs and a queue that all workers share."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.got = []


class Alone(Following, Spider):
    """With a queue of its own; the first worker is given where to start."""

    def __init__(self, start: str = "", **more: Any) -> None:
        super().__init__(**more)
        self.begin, self.got = start, []

    async def start(self) -> AsyncIterator[Request]:
        for url in self.begin.split():
            yield Request(url)


if __name__ == "__main__":
    # A machine that does much else makes no answer overdue.
    fetches_under_way._PATIENCE = 3600
    kind, settings, arguments = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
    process = AsyncCrawlerProcess(settings)
    process.crawl(Sharing if kind == "sharing" else Alone, **arguments)
    process.start()
