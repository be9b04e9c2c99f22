"""One spider, crawled by plain Scrapy and with us: lost is what only plain Scrapy got.

The unit is the item: a page as the spider handles it, not a URL and not a page.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Response, TextResponse

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of
from tests.crawl.crawling import QUIET, write_rules
from tests.life.web import Site, serving

SID = Rule.of(DropParameter("sid"))

#: Of plain Scrapy, what QUIET says of a crawl with us.
PLAIN = {name: value for name, value in QUIET.items() if not name.startswith("DUST_") and name != "ADDONS"}


class Reader(Spider):
    """Asks for `paths` of the first site, yields an item for each page that has one, and follows links."""

    name = "reader"
    paths: Sequence[str] = ("/",)
    homes: tuple[str, ...]

    def __init__(self, homes: tuple[str, ...], **_: Any) -> None:
        super().__init__()
        self.homes = homes

    def url(self, path: str) -> str:
        return self.homes[0] + path

    async def start(self) -> AsyncIterator[Any]:
        for path in self.paths:
            yield Request(self.url(path))

    def parse(self, response: Response) -> Any:
        yield from self.items(response)
        yield from self.links(response)

    def items(self, response: Response, **more: Any) -> Iterator[dict[str, Any]]:
        if isinstance(response, TextResponse):
            for content in response.css("h1::text").getall():
                yield {"content": content, **more}

    def links(self, response: Response) -> Iterator[Request]:
        if isinstance(response, TextResponse):
            yield from response.follow_all(css="a")


@dataclass
class Came:
    """What came of a crawl, over its pauses."""

    items: Counter[str] = field(default_factory=Counter)  #: as JSON, with how often they came
    asked: list[str] = field(default_factory=list)  #: paths with queries
    reasons: list[str] = field(default_factory=list)  #: why each run ended
    stats: dict[str, Any] = field(default_factory=dict)  #: of the last run
    errors: list[str] = field(default_factory=list)  #: what others logged as an error, and tracebacks of ours
    said: list[str] = field(default_factory=list)  #: what we logged as a warning or worse


@dataclass(frozen=True)
class Both:
    plain: Came
    ours: Came

    @property
    def lost(self) -> list[str]:
        return sorted(self.plain.items.keys() - self.ours.items.keys())

    @property
    def seldom(self) -> list[str]:
        """Items that came less often."""
        return sorted((self.plain.items - self.ours.items).keys())

    @property
    def saved(self) -> int:
        """Requests that were not made."""
        return len(self.plain.asked) - len(self.ours.asked)

    def check(self, *, wanted: int | None = None, saved: int = 0) -> None:
        """Nothing is lost of *wanted* items, *saved* requests are spared, and no fault of ours shows.

        Where a limit ends a crawl, chance says how many requests are under way then: they are not compared.
        """
        assert self.plain.items, "the spider gets nothing by itself"
        if wanted is not None:
            assert len(self.plain.items) == wanted, sorted(self.plain.items)
        assert self.lost == []
        assert self.ours.reasons == self.plain.reasons
        assert Counter(self.ours.errors) - Counter(self.plain.errors) == Counter()
        assert self.saved >= saved or not (saved or self.plain.reasons[-1] == "finished")


class Told(logging.Handler):
    """Keeps what is said in a crawl."""

    def __init__(self, came: Came) -> None:
        super().__init__(logging.WARNING)
        self.came = came

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage().partition("\n")[0]
        is_ours = record.name.startswith("scrapy_dust")
        if is_ours:
            self.came.said.append(text)
        # A sentence of ours is no fault; a traceback is.
        if record.exc_info if is_ours else record.levelno >= logging.ERROR:
            self.came.errors.append(f"{record.name}: {text.partition('<')[0]} {_kind(record)}")


def _kind(record: logging.LogRecord) -> str:
    return record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""


@contextmanager
def listening(came: Came) -> Iterator[None]:
    handler = Told(came)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


def run(spider: type[Spider], settings: dict[str, Any], came: Came, **arguments: Any) -> None:
    """One run, whose items are added to *came*."""

    async def crawl() -> None:
        runner = AsyncCrawlerRunner(settings)
        crawler = runner.create_crawler(spider)

        def scraped(item: Any) -> None:
            came.items[json.dumps(item, sort_keys=True)] += 1

        def closed(reason: str) -> None:
            came.reasons.append(reason)

        crawler.signals.connect(scraped, signal=signals.item_scraped)
        crawler.signals.connect(closed, signal=signals.spider_closed)
        await runner.crawl(crawler, **arguments)
        came.stats = crawler.stats.get_stats()

    with listening(came):
        asyncio.run(crawl())


def with_rules(folder: Path, homes: Sequence[str], rules: Sequence[Rule]) -> dict[str, Any]:
    """Settings of a crawl with us whose files are in *folder*, with *rules* in force on all sites."""
    book = write_rules(folder / "dust-rules.json", {str(site_of(home)): rules for home in homes})
    return QUIET | {"DUST_DIR": str(folder / "dust"), "DUST_RULES": [book]}


def crawled_both_ways(
    spider: type[Spider],
    *sites: Site,
    folder: Path,
    rules: Sequence[Rule] = (SID,),
    runs: int = 1,
    job: bool = False,
    between: Any = None,
    only_ours: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Both:
    """*runs*: how often the job in JOBDIR is begun or taken up; *job*: there is a JOBDIR for a single run too, another
    one for each of the two crawls (their sites may get the same port, and then the second would take up the first's);
    *between*: called with the folder before each later
    one; *only_ours*: settings of the crawl with us, as those that begin with ``DUST_`` are.
    """
    found = []
    for name in ("plain", "ours"):
        here = folder / name
        here.mkdir()
        came = Came()
        with serving(*sites) as served:
            chosen = dict(PLAIN)
            if name == "ours":
                chosen = with_rules(here, served.homes, rules)
            chosen |= {key: value for key, value in settings.items() if name == "ours" or "DUST_" not in key}
            chosen |= (only_ours or {}) if name == "ours" else {}
            if job or runs > 1:
                chosen["JOBDIR"] = str(here / "job")
            for number in range(runs):
                if number and between:
                    between(here)
                run(spider, chosen, came, homes=served.homes, run=number)
            came.asked = served.paths
        found.append(came)
    return Both(*found)
