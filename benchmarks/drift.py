"""A rule made false in mid-crawl: ``python -m benchmarks.drift [--sites 20] [--rates 1,0.3,0.1,0.03] [--seed N]``.

So many sites on this machine each show one page under all session ids, until each changes: from then on every URL
(or, in a second table, three classes in ten) shows a page of its own. One crawl visits them all, each with a rule
that has just become false. Printed is, as means over the sites, how many URLs a rule suppressed from the change
on until the canary was queued that put it in doubt, beside what `expected_suppressed` predicts; how many more
until that canary was judged; and, as the servers count them, how many of all URLs were never fetched.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import Any
from urllib.parse import parse_qs, urlsplit

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Response, TextResponse

from scrapy_dust.journal.events import Event, What
from scrapy_dust.journal.journal_places import journals
from scrapy_dust.journal.reader import read
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Entry
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule

CLASSES = 10
#: Links that a site has given when it changes: each class has its keeper by then, and some aliases.
CHANGES_AT = 30
#: When the last so many links have all been fetched, nothing is suppressed any more, and the site has no further.
_ENOUGH = 10


def expected_suppressed(rate: float, share: float = 1.0, delay: float = 0.0) -> float:
    """How many URLs a rule still suppresses, on average, after it has become false, until a canary shows it.

    *rate*: share of suppressed URLs that are fetched as canaries; *share*: share of the rule's URLs that show another
    page now; *delay*: URLs suppressed between the moment a canary is queued and the moment it is judged. Each URL is
    a canary that shows the change with a chance of ``rate * share``; the URLs before the first such canary are
    suppressed.
    """
    if rate <= 0 or share <= 0:
        return float("inf")
    return (1 - rate) / (rate * share) + delay * (1 - rate)


@dataclass
class Site:
    """Index pages, each with a link to a page and one to the next index page."""

    share: float  #: of its classes that change
    chance: random.Random
    port: int = 0
    issued: list[str] = field(default_factory=list)  #: links to pages
    asked: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    def answer(self, path: str) -> str | None:
        self.asked[path] = self.asked.get(path, 0) + 1
        if path.startswith("/index/"):
            return self._index(int(path.rpartition("/")[2]))
        query = parse_qs(urlsplit(path).query)
        if "sid" not in query:
            return None
        number, sid = int(query["id"][0]), query["sid"][0]
        is_own = len(self.issued) > CHANGES_AT and number < self.share * CLASSES
        return " ".join(f"text {number} {sid if is_own else ''} {word}" for word in range(40))

    def _index(self, number: int) -> str:
        if number == len(self.issued):
            of = number if number < CLASSES else self.chance.randrange(CLASSES)
            self.issued.append(f"/p?id={of}&sid={number}")
        link = f'<a href="{self.issued[number].replace("&", "&amp;")}">page</a>'
        last = self.issued[max(CHANGES_AT, number - _ENOUGH) : number]
        over = len(last) >= _ENOUGH and all(path in self.asked for path in last)
        return link + ("" if over else f'<a href="/index/{number + 1}">next</a>')

    async def serve(self) -> asyncio.Server:
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            body = self.answer(line.split()[1].decode())
            said = f"<html><head><title>t</title></head><body><p>{body}</p></body></html>".encode()
            status = "200 OK" if body is not None else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(said)}\r\n\r\n"
            writer.write(head.encode() + said)
        writer.close()


class Follows(Spider):
    """Every link."""

    name = "follows"

    def __init__(self, starts: Sequence[str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.starts = starts

    async def start(self) -> AsyncIterator[Any]:
        for url in self.starts:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Request]:
        if isinstance(response, TextResponse):
            yield from (response.follow(link) for link in response.css("a"))


@dataclass(frozen=True)
class Noticed:
    """Of one site."""

    before: int  #: URLs suppressed from the change until the canary that told of it was queued
    in_flight: int  #: and until it was judged
    lost: int  #: URLs of all that were linked, never fetched


async def crawled(sites: Sequence[Site], rate: float, folder: Path) -> None:
    servers = [await site.serve() for site in sites]
    book = RuleBook()
    for site in sites:
        book = book.with_site(site.name, [Entry(Rule.of(DropParameter("sid")))])
    book.save(folder / "rules.json")
    runner = AsyncCrawlerRunner(
        {
            "TWISTED_REACTOR_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "ADDONS": {"scrapy_dust.Addon": 900},
            "DUST_DIR": str(folder / "dust"),
            "DUST_RULES": [str(folder / "rules.json")],
            "DUST_CANARY_RATE": rate,
            "DUST_LOG_ENABLED": False,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
            "LOG_ENABLED": False,
        }
    )
    await runner.crawl(Follows, starts=[f"http://{site.name}/index/0" for site in sites])
    for server in servers:
        server.close()


def noticed(site: Site, events: Sequence[Event]) -> Noticed:
    of_site = [event for event in events if urlsplit(event.url).netloc == site.name]
    told = next(event for event in of_site if event.what is What.TESTED and event.note == "different")
    suppressed = [_number(event) for event in of_site if event.what is What.SUPPRESSED]
    missing = [path for path in site.issued if path not in site.asked]
    return Noticed(
        before=sum(CHANGES_AT <= number < _number(told) for number in suppressed),
        in_flight=sum(number > _number(told) for number in suppressed),
        lost=len(missing),
    )


def _number(event: Event) -> int:
    return int(event.url.rpartition("=")[2])


def measure(rate: float, share: float, count: int, seed: int) -> list[Noticed]:
    sites = [Site(share, random.Random(f"{seed} {rate} {share} {number}")) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(crawled(sites, rate, Path(folder)))
        events = [event for _, event in read(journals(Path(folder, "dust", "journal")))]
    return [noticed(site, events) for site in sites]


def table(rates: Sequence[float], share: float, count: int, seed: int) -> Iterator[str]:
    yield "| canary rate | suppressed, predicted | measured | while it was judged | URLs never fetched |"
    yield "|---:|---:|---:|---:|---:|"
    for rate in rates:
        seen = measure(rate, share, count, seed)
        before = [one.before for one in seen]
        error = stdev(before) / len(before) ** 0.5 if len(before) > 1 else 0.0
        yield (
            f"| {rate:g} | {expected_suppressed(rate, share):.1f} | {mean(before):.1f} ± {error:.1f} "
            f"| {mean(one.in_flight for one in seen):.1f} | {sum(one.lost for one in seen)} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drift", description=__doc__.splitlines()[0])
    parser.add_argument("--sites", type=int, default=20)
    parser.add_argument("--rates", default="1,0.3,0.1,0.03")
    parser.add_argument("--shares", default="1,0.3", help="of the classes that change, a table each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rates = [float(rate) for rate in options.rates.split(",")]
    for share in map(float, options.shares.split(",")):
        print(f"{share:.0%} of the classes change; means over {options.sites} sites, ± the standard error:\n")
        for line in table(rates, share, options.sites, options.seed):
            print(line)
            sys.stdout.flush()
        print()


if __name__ == "__main__":
    main()
