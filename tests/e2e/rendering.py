"""A spider that has every page rendered, as `-a by=` says, and follows the links that scripts have made."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response


class Rendering(Spider):
    name = "rendering"
    by: str
    site: str
    out: str

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.seen: list[list[str]] = []

    async def start(self) -> AsyncIterator[Request]:
        yield self.rendered(self.site)

    def rendered(self, url: str) -> Request:
        if self.by == "splash":
            from scrapy_splash import SplashRequest  # noqa: PLC0415

            return SplashRequest(url, self.parse, args={"wait": 0.2})
        return Request(url, self.parse, meta={"playwright": True})

    def parse(self, response: Response) -> Iterator[Request | dict[str, str]]:
        self.seen.append([response.url, response.css("#route::text").get(default="")])
        # Of a page whose callback yields nothing, one more alias would be tried.
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield self.rendered(response.urljoin(link))

    def closed(self, reason: str) -> None:
        stats = self.crawler.stats.get_stats()
        plain = {name: value for name, value in stats.items() if isinstance(value, (int, str))}
        Path(self.out).write_text(json.dumps({"seen": self.seen, "stats": plain, "reason": reason}))
