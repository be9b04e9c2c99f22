"""The spider that crawls a generated site: follows its links, and takes what it was told to take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse


class FocusedSpider(Spider):
    """*told*: a file with what to take, as `running` writes it; *got*: where items and the number of requests go."""

    name = "focused"

    def __init__(self, begin: str, told: str, got: str, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.begin, self.told, self.got = begin, json.loads(Path(told).read_text()), Path(got)
        self.host = urlsplit(begin).netloc
        self.items: list[list[str]] = []
        # A callback for each kind of page, as a spider that was written for the site would have.
        for number in range(len(self.told["takes"])):
            setattr(self, f"parse_{number}", self.taking(number))

    async def start(self) -> AsyncIterator[Request]:
        yield self.request(self.begin)

    def request(self, url: str, tries: int = 0) -> Request:
        path = url.partition(self.host)[2]
        takes = self.told["takes"]
        number = next(n for n, take in enumerate([*takes, {"begins": ""}]) if path.startswith(take["begins"]))
        callback = getattr(self, f"parse_{number}", self.parse)
        return Request(url, callback, dont_filter=tries > 0, cb_kwargs={"tries": tries})

    def taking(self, number: int) -> Any:
        fields = self.told["takes"][number]["fields"]

        def parse(response: Response, tries: int = 0) -> Iterator[Any]:
            return self.read(response, fields, tries)

        return parse

    def parse(self, response: Response, tries: int = 0) -> Iterator[Any]:
        return self.read(response, [], tries)

    def read(self, response: Response, fields: list[str], tries: int) -> Iterator[Any]:
        # By its header: a body may look like text to Scrapy, and a URL like a page.
        if b"ml" not in (response.headers["Content-Type"] or b"") or not isinstance(response, TextResponse):
            yield from self.item([hashlib.sha1(response.body).hexdigest()], response.url)
            return
        if response.xpath(self.told["wall"]):
            if tries < 3:
                yield self.request(response.url, tries + 1)
            return
        taken = [" | ".join(text.strip() for text in response.xpath(path).getall()) for path in fields]
        if taken and all(taken):
            yield from self.item(taken, response.url)
        for link in response.xpath("//a/@href").getall():
            url = urljoin(response.url, link)
            if urlsplit(url).netloc == self.host:
                yield self.request(url)

    def item(self, taken: list[str], url: str) -> Iterator[dict[str, Any]]:
        self.items.append(taken)
        yield {"url": url, **{f"field{n}": value for n, value in enumerate(taken)}}

    def closed(self, reason: str) -> None:
        stats = self.crawler.stats.get_stats() if self.crawler.stats else {}
        requests = stats.get("downloader/request_count", 0)
        self.got.write_text(json.dumps({"items": self.items, "requests": requests, "reason": reason}))
