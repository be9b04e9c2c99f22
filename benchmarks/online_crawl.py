"""What learning while crawling costs: ``python -m benchmarks.online_crawl [--pages 20000] [--pairs 3]``.

The server of `benchmarks/recorder.py` answers with pages; every tenth link is written a second time, with a session
id. The same spider crawls with ``DUST_LEARN = "online"`` and with ``"off"``, the crawl recorded in both, each in a
process of its own, turn and turn about. Printed are the median ratios of pages a second and of the crawl's own CPU
time a page until its spider closes, what was fetched, and, once 200 pages have come, the longest time for which the
event loop did not come to a timer, and the most CPU time that one callback of it took, Python's garbage collection left
out, which says the same of a machine that has other work too.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response, TextResponse

from benchmarks.recorder import Follower, _server

_TICK = 0.005
#: Pages, before which it is starting what takes long: imports, and connections.
_STARTED = 200


@dataclass(frozen=True)
class Run:
    """One crawl."""

    fetched: int
    seconds: float
    cpu: float  #: of the crawl's own process
    lag: float  #: the longest, in seconds
    block: float  #: the longest single callback, in seconds of its thread
    rules: int


class Sessions(Follower):
    """Follows every link, and of every tenth another spelling."""

    async def start(self) -> AsyncIterator[Any]:
        self.lag = self.block = 0.0
        self.is_over = False
        self._time_callbacks()
        self.watching = asyncio.get_running_loop().create_task(self._watch())
        async for request in super().start():
            yield request

    def _time_callbacks(self) -> None:
        run = asyncio.Handle._run  # type: ignore[attr-defined]
        collecting = [0.0]

        def collected(phase: str, info: object) -> None:
            collecting[0] += time.thread_time() if phase == "stop" else -time.thread_time()

        def timed(handle: asyncio.Handle) -> None:
            began, collecting[0] = time.thread_time(), 0.0
            run(handle)
            if not self.is_over:
                self.block = max(self.block, time.thread_time() - began - collecting[0])

        gc.callbacks.append(collected)
        asyncio.Handle._run = timed  # type: ignore[attr-defined]

    async def _watch(self) -> None:
        while True:
            due = time.perf_counter() + _TICK
            await asyncio.sleep(_TICK)
            self.lag = max(self.lag, time.perf_counter() - due)

    def parse(self, response: Response) -> Any:
        assert isinstance(response, TextResponse)
        self.got += 1
        if self.got == _STARTED:
            self.lag = self.block = 0.0
        for link in response.css("a::attr(href)").getall():
            number = int(link.rpartition("/")[2])
            if number < self.pages:
                yield response.follow(link)
                if number % 10 == 0:
                    yield response.follow(f"{link}?sid={number * 7919 % 100_003}")

    def closed(self, reason: str) -> None:
        super().closed(reason)
        self.is_over = True
        self.watching.cancel()
        used = resource.getrusage(resource.RUSAGE_SELF)
        self.cpu = used.ru_utime + used.ru_stime


def crawl(port: int, pages: int, learn: str) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        process = AsyncCrawlerProcess(
            {
                "ADDONS": {"scrapy_dust.Addon": 900},
                "DUST_DIR": folder,
                "DUST_RULES": [f"{folder}/rules.json"],
                "DUST_LEARN": learn,
                "LOG_LEVEL": "WARNING",
                "TELNETCONSOLE_ENABLED": False,
                "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
                "DOWNLOAD_DELAY": 0,
                "ROBOTSTXT_OBEY": False,
            }
        )
        crawler = process.create_crawler(Sessions)
        process.crawl(crawler, port=port, pages=pages)
        process.start()
        spider = crawler.spider
        assert isinstance(spider, Sessions)
        rules = crawler.stats.get_value("dust/online/rules", 0)
        return Run(spider.got, spider.seconds, spider.cpu, spider.lag, spider.block, rules)


def _crawled(port: int, pages: int, learn: str) -> Run:
    command = [sys.executable, "-m", "benchmarks.online_crawl", "--crawl", str(port), "--learn", learn]
    done = subprocess.run([*command, "--pages", str(pages)], check=True, stdout=subprocess.PIPE, text=True)
    return Run(**json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.online_crawl", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--crawl", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--learn", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.crawl:
        print(json.dumps(asdict(crawl(options.crawl, options.pages, options.learn))))
        return
    with _server(600) as port:
        pairs = [
            (_crawled(port, options.pages, "off"), _crawled(port, options.pages, "online"))
            for _ in range(options.pairs)
        ]
    speed = median((on.fetched / on.seconds) / (off.fetched / off.seconds) for off, on in pairs)
    cpu = median((on.cpu / on.fetched) / (off.cpu / off.fetched) for off, on in pairs)
    print(f"pages a second, online to off: {speed:.3f}; CPU a page: {cpu:.3f}")
    print(
        f"fetched: {[on.fetched for _, on in pairs]} of {pairs[0][0].fetched}; rules: {[on.rules for _, on in pairs]}"
    )
    lags = [[round(one.lag * 1000) for one in of] for of in zip(*pairs, strict=True)]
    print(f"longest lag of the event loop, ms: {lags[1]} online, {lags[0]} off")
    blocks = [[round(one.block * 1000) for one in of] for of in zip(*pairs, strict=True)]
    print(f"longest callback, ms of CPU: {blocks[1]} online, {blocks[0]} off")


if __name__ == "__main__":
    main()
