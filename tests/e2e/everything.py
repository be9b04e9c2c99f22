"""A spider for any site: follows every link on the given hosts, for ``scrapy runspider``."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor


class EverythingSpider(Spider):
    name = "everything"

    def __init__(
        self,
        start: str,
        allow: str = "",
        deny: str = "",
        stats: str = "",
        only: str = "",
        **kwargs: object,
    ) -> None:
        """*only*: a file with the URLs that may be asked for, one on a line."""
        super().__init__(**kwargs)
        self.start_url, self.stats_file = start, stats
        self.only = frozenset(Path(only).read_text("utf-8").split("\n")) if only else None
        host = urlsplit(start).netloc.removeprefix("www.")
        # A page may link thousands of its own lines.
        self.links = LinkExtractor(
            allow=allow or (),
            deny=deny or (),
            allow_domains=[host],
            canonicalize=False,
            unique=True,
            process_value=lambda link: link.partition("#")[0] or None,
        )

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.start_url)

    def parse(self, response: Response) -> Iterator[Request]:
        if isinstance(response, HtmlResponse):
            for link in self.links.extract_links(response):
                request = Request(link.url)
                if self.only is None or request.url in self.only:
                    yield request

    def closed(self, reason: str) -> None:
        stats = self.crawler.stats.get_stats()
        numbers = {key: value for key, value in stats.items() if isinstance(value, (int, float, str))}
        if self.stats_file:
            Path(self.stats_file).write_text(json.dumps({**numbers, "reason": reason}))
