from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler


class ExampleWebMiddleware:
    """Sends every request of every spider, and those for robots.txt, to the example's proxy. None gets past it."""

    def __init__(self, proxy: str) -> None:
        self.proxy = proxy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings["EXAMPLE_WEB"])

    def process_request(self, request: Request) -> None:
        request.meta["proxy"] = self.proxy
