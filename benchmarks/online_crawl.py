"""What learning while crawling costs: ``python -m benchmarks.online_crawl [--pages 20000] [--pairs 3]``.

The server of `benchmarks/recorder.py` answers with pages; every tenth link is written a second time, with a session
id. The same spider crawls with ``DUST_LEARN = "online"`` and with ``"off"``, the crawl recorded in both, each in a
process of its own. The two go turn and turn about: while one runs for a second, the other one stands still with all
that belongs to it, so that a machine that is slower at times is so for both. Printed are the median ratios of pages a
second of a crawl's own turns and of its own CPU time a page, until its spider closes, and what was fetched; and, once
200 pages have come, the longest time for which the event loop did not come to a timer, and the most CPU time that one
callback of it took, Python's garbage collection left out, which says the same of a machine that has other work too.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import Response, TextResponse

from benchmarks.recorder import Follower, _server

_TICK = 0.005
#: Seconds of a turn; and after one begins, in which a timer comes late because of the pause before.
_TURN, _WAKING = 1.0, 0.02
#: Shorter lags are not told.
_LATE = 0.02
#: Pages, before which it is starting what takes long: imports, and connections.
_STARTED = 200


@dataclass(frozen=True)
class Run:
    """One crawl. Times are those of the machine's clock."""

    fetched: int
    began: float
    ended: float
    cpu: float  #: of the crawl's own process
    lags: Sequence[tuple[float, float]]  #: when a timer was due, and how late it came, where that is long
    block: float  #: the longest single callback, in seconds of its thread
    rules: int


@dataclass(frozen=True)
class Turns:
    """When a crawl was not standing still."""

    of: Sequence[tuple[float, float]]

    def seconds(self, run: Run) -> float:
        return sum(max(0.0, min(end, run.ended) - max(start, run.began)) for start, end in self.of)

    def lag(self, run: Run) -> float:
        """The longest that is not because the crawl stood still."""
        return max(
            (
                late
                for due, late in run.lags
                if any(start + _WAKING < due and due + late <= end for start, end in self.of)
            ),
            default=0.0,
        )


class Sessions(Follower):
    """Follows every link, and of every tenth another spelling."""

    async def start(self) -> AsyncIterator[Any]:
        self.lags, self.block = list[tuple[float, float]](), 0.0
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
            late = time.perf_counter() - due
            if late > _LATE:
                self.lags.append((due, late))

    def parse(self, response: Response) -> Any:
        assert isinstance(response, TextResponse)
        self.got += 1
        if self.got == _STARTED:
            self.lags, self.block = [], 0.0
        for link in response.css("a::attr(href)").getall():
            number = int(link.rpartition("/")[2])
            if number < self.pages:
                yield response.follow(link)
                if number % 10 == 0:
                    yield response.follow(f"{link}?sid={number * 7919 % 100_003}")

    def closed(self, reason: str) -> None:
        super().closed(reason)
        self.ended = time.perf_counter()
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
        return Run(spider.got, spider.began, spider.ended, spider.cpu, spider.lags, spider.block, rules)


def _side_by_side(port: int, pages: int, ways: Sequence[str]) -> list[tuple[Run, Turns]]:
    command = [sys.executable, "-m", "benchmarks.online_crawl", "--crawl", str(port), "--pages", str(pages)]
    with ExitStack() as stack:
        # No pipes: who writes into a full one stands still at the wrong time.
        said = [stack.enter_context(tempfile.TemporaryFile()) for _ in ways]
        crawls = [
            subprocess.Popen([*command, "--learn", learn], stdout=told, start_new_session=True)
            for learn, told in zip(ways, said, strict=True)
        ]
        for one in crawls:
            stack.callback(_end, one)
        turns = _taken_in_turn(crawls)
        if any(one.returncode for one in crawls):
            sys.exit("A crawl has failed; what it says of that is above.")
        runs = []
        for told, of_crawl in zip(said, turns, strict=True):
            told.seek(0)
            runs.append((Run(**json.load(told)), of_crawl))
    return runs


def _end(crawl: subprocess.Popen[bytes]) -> None:
    """Whatever has happened: what stands still would never end."""
    if crawl.poll() is None:
        os.killpg(crawl.pid, signal.SIGKILL)
        crawl.wait()


def _taken_in_turn(crawls: Sequence[subprocess.Popen[bytes]]) -> list[Turns]:
    turns: list[list[tuple[float, float]]] = [[] for _ in crawls]
    for crawl in crawls:
        os.killpg(crawl.pid, signal.SIGSTOP)
    while any(crawl.poll() is None for crawl in crawls):
        for crawl, of_crawl in zip(crawls, turns, strict=True):
            if crawl.poll() is None:
                os.killpg(crawl.pid, signal.SIGCONT)
                began = time.perf_counter()
                with suppress(subprocess.TimeoutExpired):
                    crawl.wait(_TURN)
                of_crawl.append((began, time.perf_counter()))
                if crawl.poll() is None:
                    os.killpg(crawl.pid, signal.SIGSTOP)
    return [Turns(of_crawl) for of_crawl in turns]


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
    # As Ctrl-C does: leave by way of `_end`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with _server(600) as port:
        pairs = [_side_by_side(port, options.pages, ("off", "online")) for _ in range(options.pairs)]
    speeds = [[run.fetched / turns.seconds(run) for run, turns in pair] for pair in pairs]
    costs = [[run.cpu / run.fetched for run, _ in pair] for pair in pairs]
    print(
        f"pages a second, online to off: {median(on / off for off, on in speeds):.3f}; "
        f"CPU a page: {median(on / off for off, on in costs):.3f}"
    )
    print(
        f"each pair: {[round(on / off, 3) for off, on in speeds]}, {[round(on / off, 3) for off, on in costs]}"
    )
    for number, learn in enumerate(("off", "online")):
        of_way = [pair[number] for pair in pairs]
        print(
            f"{learn}: fetched {[run.fetched for run, _ in of_way]}, rules {[run.rules for run, _ in of_way]}, "
            f"longest lag of the event loop {[round(turns.lag(run) * 1000) for run, turns in of_way]} ms, "
            f"longest callback {[round(run.block * 1000) for run, _ in of_way]} ms of CPU"
        )


if __name__ == "__main__":
    main()
