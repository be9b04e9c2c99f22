"""A spider that follows all links of a site and yields an item for each page, with a digest of all that the page holds.

Beside its items it writes, in its *folder*: ``pages.jsonl``, what each page holds, as hashes; ``wanted.txt``, the URLs of all
its requests; ``asked.txt``, those that were made; ``scheduled.txt``, how often each URL was given to Scrapy's scheduler and
how often the scheduler refused it; ``summary.json``, the stats.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.live.holdings import Unit, digest_of, units_of


def hashed(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


class WholeSpider(Spider):
    name = "whole"

    def __init__(self, start: str, folder: str, budget: str, deny: str = "", **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.first, self.folder, self.budget = start, Path(folder), int(budget)
        self.folder.mkdir(parents=True, exist_ok=True)
        host = urlsplit(start).netloc.removeprefix("www.")
        self.links = LinkExtractor(
            allow_domains=[host],
            deny=deny or (),
            canonicalize=False,
            process_value=lambda link: link.partition("#")[0] or None,
        )
        self.pages = (self.folder / "pages.jsonl").open("w", encoding="utf-8")
        self.wanted: dict[str, None] = {}
        self.scheduled: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.asked: list[str] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: object, **kwargs: object) -> WholeSpider:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.note_scheduled, signals.request_scheduled)
        crawler.signals.connect(spider.note_dropped, signals.request_dropped)
        crawler.signals.connect(spider.note_asked, signals.request_reached_downloader)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        yield Request(self.first)

    def note_scheduled(self, request: Request, spider: Spider) -> None:
        self.scheduled[request.url] += 1

    def note_dropped(self, request: Request, spider: Spider) -> None:
        self.refused[request.url] += 1

    def note_asked(self, request: Request, spider: Spider) -> None:
        self.asked.append(request.url)

    def parse(self, response: Response) -> Iterator[Request | dict[str, str]]:
        kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
        units = units_of(response.body, kind, response.url)
        self.write(response, units)
        yield {"url": response.url, "holds": digest_of(units)}
        if isinstance(response, HtmlResponse):
            for link in self.links.extract_links(response):
                request = Request(link.url)
                self.wanted[request.url] = None
                yield request
        if len(self.asked) >= self.budget:
            raise CloseSpider("budget")

    def write(self, response: Response, units: list[Unit]) -> None:
        first = response.meta.get("redirect_urls", [response.url])[0]
        holds = [[unit.kind, hashed(unit.place), hashed(*unit.what)] for unit in units]
        row = {"asked": first, "url": response.url, "units": holds}
        self.pages.write(json.dumps(row) + "\n")

    def closed(self, reason: str) -> None:
        self.pages.close()
        for name, urls in (("wanted", self.wanted), ("asked", self.asked)):
            (self.folder / f"{name}.txt").write_text("\n".join(urls), "utf-8")
        lines = [f"{count}\t{self.refused[url]}\t{url}" for url, count in self.scheduled.items()]
        (self.folder / "scheduled.txt").write_text("\n".join(lines), "utf-8")
        stats = self.crawler.stats.get_stats() if self.crawler.stats else {}
        numbers = {key: value for key, value in stats.items() if isinstance(value, (int, float, str))}
        (self.folder / "summary.json").write_text(json.dumps({**numbers, "reason": reason}))
