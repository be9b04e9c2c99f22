"""What recording costs a crawl: ``python -m benchmarks.recorder [--pages 1000] [--pairs 3] [--words 600]``.

A server in a process of its own answers with made-up pages, each of which links to two more. The same spider
crawls them all with the recorder and without, each crawl in a process of its own, turn and turn about. Printed
are the medians of the pairs' ratios, by the clock and in CPU time, and how much more memory there was at the peak.

``--bystander``: what a process beside a crawl costs on this machine that has nothing to do with it. A third crawl of
each pair, without the recorder, while a process that only counts, with the same priority, takes as much CPU time as
the one that describes pages took. ``--items``: the spider takes an item with all texts of each page, and what it takes is recorded too. ``--pace 50``: the server answers with so many pages a second and no more, as a
site does that sets the pace itself; without it the crawl is as fast as it can be.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from scrapy import Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response, TextResponse

_CHANCE = random.Random(1)
_VOCABULARY = ["".join(_CHANCE.choices("abcdefghijklmnopqrstuvwxyz", k=2 + n % 9)) for n in range(4000)]
#: Made once, so that the server needs next to none of the time that the crawl has.
_PARAGRAPHS = [" ".join(_CHANCE.choices(_VOCABULARY, k=60)) for _ in range(1009)]


@dataclass(frozen=True)
class Cost:
    """Of one crawl."""

    seconds: float  #: from the first request to the end of the spider
    cpu: float  #: of the crawl's own process
    cpu_beside: float  #: of the process that describes pages and writes the log
    peak: int  #: bytes of memory, of both; what they share counts twice
    pages: int


def page(number: int, words: int) -> bytes:
    paragraphs = [_PARAGRAPHS[(number * 31 + n * 7) % len(_PARAGRAPHS)] for n in range(max(1, words // 60))]
    links = "".join(f'<li><a href="/page/{n}">page {n}</a></li>' for n in (2 * number + 1, 2 * number + 2))
    body = "".join(f'<div class="section"><p>{text}</p></div>\n' for text in paragraphs)
    return (
        f"<!doctype html><html lang=en><head><title>Page {number}</title></head><body><nav><ul>{links}</ul></nav>"
        f"<main>{body}</main></body></html>"
    ).encode()


async def serve(
    words: int,
    listening: Callable[[int], object],
    answered: Callable[[int], object] | None = None,
    pace: float = 0,
) -> None:
    """Says on which port it listens, and the number of each page that it has answered with.

    *pace*: pages a second, on all connections together; 0: as many as it can.
    """
    turn = 0.0

    async def wait() -> None:
        nonlocal turn
        now = time.monotonic()
        turn = max(turn + 1 / pace, now)
        await asyncio.sleep(turn - now)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            number = int(line.split()[1].partition(b"?")[0].rpartition(b"/")[2] or 0)
            while (await reader.readline()).strip():
                pass
            if pace:
                await wait()
            body = page(number, words)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            if answered is not None:
                answered(number)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # A crawl may be killed.
        with suppress(ConnectionError):
            await talk(reader, writer)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    listening(server.sockets[0].getsockname()[1])
    await server.serve_forever()


@contextmanager
def _server(words: int, pace: float = 0) -> Iterator[int]:
    command = [
        sys.executable,
        "-m",
        "benchmarks.recorder",
        "--serve",
        "--words",
        str(words),
        "--pace",
        str(pace),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()


class Follower(Spider):
    """Follows every link of every page to as many pages as it is told."""

    name = "follower"

    def __init__(self, port: int, pages: int, items: bool = False, **_: Any) -> None:
        super().__init__()
        self.items = items
        self.first, self.pages, self.got = f"http://127.0.0.1:{port}/page/0", pages, 0

    async def start(self) -> AsyncIterator[Any]:
        self.began = time.perf_counter()
        async for request in super().start():
            yield request

    @property
    def start_urls(self) -> list[str]:  # type: ignore[override]
        return [self.first]

    @start_urls.setter
    def start_urls(self, value: object) -> None:
        pass

    def parse(self, response: Response) -> Any:
        assert isinstance(response, TextResponse)
        self.got += 1
        if self.items:
            yield {"title": response.css("title::text").get(), "text": response.css("p::text").getall()}
        for link in response.css("a::attr(href)").getall():
            if int(link.rpartition("/")[2]) < self.pages:
                yield response.follow(link)

    def closed(self, reason: str) -> None:
        self.seconds = time.perf_counter() - self.began
        self.beside = _peak_of_children()


def _peak_of_children() -> int:
    """In bytes; 0 where there is no /proc to ask."""
    peaks = [
        int(line.split()[1]) * 1024
        for children in Path("/proc/self/task").glob("*/children")
        for child in children.read_text().split()
        for line in Path(f"/proc/{child}/status").read_text().splitlines()
        if line.startswith("VmHWM")
    ]
    return sum(peaks)


def crawl(port: int, pages: int, *, recorded: bool, folder: str | None = None, items: bool = False) -> Cost:
    """In this process; it should do nothing else. The log is in *folder*; None: gone when this ends."""
    with nullcontext(folder) if folder else tempfile.TemporaryDirectory() as dust_dir:
        settings: dict[str, Any] = {
            "LOG_LEVEL": "WARNING",
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
        }
        if recorded:
            settings |= {
                "DOWNLOADER_MIDDLEWARES": {"scrapy_dust.CrawlLogMiddleware": 585},
                "DUST_DIR": dust_dir,
                "DUST_RULES": [],
            }
            if items:
                settings["SPIDER_MIDDLEWARES"] = {"scrapy_dust.TakenMiddleware": 10_010}
        process = AsyncCrawlerProcess(settings)
        crawler = process.create_crawler(Follower)
        process.crawl(crawler, port=port, pages=pages, items=items)
        process.start()
        spider = crawler.spider
        assert isinstance(spider, Follower)
        return cost_of(spider)


def cost_of(spider: Follower) -> Cost:
    """Of this process, in which *spider* has crawled."""
    here, beside = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Cost(
        seconds=spider.seconds,
        cpu=here.ru_utime + here.ru_stime,
        cpu_beside=beside.ru_utime + beside.ru_stime,
        peak=here.ru_maxrss * 1024 + spider.beside,
        pages=spider.got,
    )


def _crawled(port: int, pages: int, *, recorded: bool, items: bool) -> Cost:
    """In a new process."""
    command = [sys.executable, "-m", "benchmarks.recorder", "--crawl", str(port), "--pages", str(pages)]
    command += ["--items"] * items
    done = subprocess.run(command + ["--record"] * recorded, check=True, stdout=subprocess.PIPE, text=True)
    return Cost(**json.loads(done.stdout))


def count_beside(share: float) -> None:
    """Takes a *share* of a core until it is ended, in bits of a millisecond, and no memory to speak of."""
    # Not loaded by a crawl that is measured without the recorder.
    from scrapy_dust.crawl_log.recording import give_way  # noqa: PLC0415

    give_way()
    begun = time.monotonic()
    while True:
        while time.process_time() < share * (time.monotonic() - begun):
            for _ in range(10_000):
                pass
        time.sleep(0.001)


@contextmanager
def _bystander(share: float) -> Iterator[None]:
    command = [sys.executable, "-m", "benchmarks.recorder", "--count", str(share)]
    with subprocess.Popen(command) as process:
        yield
        process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recorder", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--words", type=int, default=600, help="on a page")
    parser.add_argument("--pace", type=float, default=0, help="pages a second that the server answers with")
    parser.add_argument("--bystander", action="store_true", help="crawl beside an unrelated process too")
    parser.add_argument("--items", action="store_true", help="take and record items")
    parser.add_argument("--json", action="store_true")
    for mine in ("--serve", "--record"):
        parser.add_argument(mine, action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--crawl", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--dir", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.words, lambda port: print(port, flush=True), pace=options.pace))
    elif options.count:
        count_beside(options.count)
    elif options.crawl:
        cost = crawl(
            options.crawl, options.pages, recorded=options.record, folder=options.dir, items=options.items
        )
        print(json.dumps(cost.__dict__))
    else:
        _compare(options)


def _compare(options: argparse.Namespace) -> None:
    pairs: list[tuple[Cost, Cost]] = []
    beside: list[tuple[Cost, Cost]] = []
    with _server(options.words, options.pace) as port:
        for number in range(options.pairs):
            # Who goes first takes turns too.
            order = (False, True) if number % 2 == 0 else (True, False)
            costs = {
                recorded: _crawled(port, options.pages, recorded=recorded, items=options.items)
                for recorded in order
            }
            pairs.append((costs[False], costs[True]))
            if options.bystander:
                with _bystander(costs[True].cpu_beside / costs[True].seconds):
                    beside.append(
                        (costs[False], _crawled(port, options.pages, recorded=False, items=options.items))
                    )
    result = {
        "pages": pairs[0][0].pages,
        "clock": median(with_.seconds / without.seconds for without, with_ in pairs),
        "cpu": median(with_.cpu / without.cpu for without, with_ in pairs),
        "cpu_beside": median((with_.cpu + with_.cpu_beside) / without.cpu for without, with_ in pairs),
        "beside_us": median(with_.cpu_beside / with_.pages for _, with_ in pairs) * 1e6,
        "peak_mb": median((with_.peak - without.peak) / 2**20 for without, with_ in pairs),
        "pages_per_second": median(without.pages / without.seconds for without, _ in pairs),
    }
    if beside:
        result["clock_bystander"] = median(with_.seconds / without.seconds for without, with_ in beside)
        result["cpu_bystander"] = median(with_.cpu / without.cpu for without, with_ in beside)
    if options.json:
        print(json.dumps(result))
        return
    print(
        f"{result['pages']} pages of {options.words} words ({len(page(0, options.words)) / 1000:.1f} kB), "
        f"{result['pages_per_second']:.0f} a second without the recorder. With it: {result['clock']:.3f} × the time, "
        f"{result['cpu']:.3f} × the CPU time ({result['cpu_beside']:.3f} × with the process beside it, "
        f"which takes {result['beside_us']:.0f} µs of it a page, its start included), "
        f"{result['peak_mb']:+.1f} MB at the peak (medians of {len(pairs)} pairs)."
    )
    if beside:
        print(
            "Without it, beside a process that takes as much CPU time to count: "
            f"{result['clock_bystander']:.3f} × the time, {result['cpu_bystander']:.3f} × the CPU time."
        )


if __name__ == "__main__":
    main()
