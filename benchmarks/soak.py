"""Whether anything grows or slows down in a long run: ``python -m benchmarks.soak [--requests 2000000] [--crawl SECONDS]``.

``--requests``: so many requests, of which a tenth are aliases of pages that were asked for, go through fingerprinter
and dupefilter as a scheduler sends them, and come back as answers do, some of them as failures. Told is, tenth by
tenth, the memory of the process, its open files, and how long a fingerprint and a look of the dupefilter took at the
median and at the 99th percentile, in CPU time, and how long Scrapy's own fingerprint of some of the same requests takes,
since a machine has faster and slower hours. Scrapy alone does the same first: what is seen has to be remembered.

``--crawl``: a crawl over loopback instead, recorded, for so many seconds, with the same told of each tenth.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import fingerprint
from scrapy.utils.test import get_crawler

from benchmarks.recorder import serve
from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rules.parameters import DropParameter, SetParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute

SITE = "soak.example"
#: One request of so many is fingerprinted by Scrapy too.
_COMPARED = 64
#: Of which a crawl has its part.
_PAGES = 100_000_000
_RULES = (
    Rule.of(DropParameter("sid")),
    Rule.of(SetParameter("ref", "x")),
    Rule.of(Substitute("/index.html", "/", end=True)),
)


@dataclass(frozen=True)
class Tenth:
    requests: int
    memory: int  #: bytes in use by the process at its end
    files: int  #: open at its end
    cpu: float  #: seconds
    fingerprint: tuple[float, float]  #: median and 99th percentile, in µs; 0: not measured
    look: tuple[float, float]
    #: Scrapy's own fingerprint of the same requests, here and there, at the median: how fast the machine is just now.
    scrapys: float = 0.0

    def __str__(self) -> str:
        times = " ".join(f"{value:8.1f}" for value in (*self.fingerprint, *self.look, self.scrapys))
        return (
            f"{self.requests:>9} {self.memory / 1e6:8.1f} MB {self.files:4} files {self.cpu:8.1f} s  {times}"
        )


_HEAD = f"{'requests':>9} {'memory':>11} {'open':>10} {'CPU':>10}  fingerprint p50, p99; look p50, p99; Scrapy's fingerprint p50 (µs)"


def memory() -> int:
    """Bytes, of which the kernel says that they are in use; elsewhere the most there ever were."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text("ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def files() -> int:
    opened = Path("/proc/self/fd")
    return sum(1 for _ in opened.iterdir()) if opened.exists() else 0


def urls(count: int) -> Iterator[str]:
    """Of each ten, one is an alias of a page that was asked for a while before."""
    for number in range(count):
        if number % 10 == 9:
            yield f"http://{SITE}/shop/{(number - 9) % 97}/item-{number - 9}?ref=x&sid={number}"
        else:
            yield f"http://{SITE}/shop/{number % 97}/item-{number}?ref={number % 7}&sid={number % 1000}"


def soaked(count: int, folder: Path, *, alone: bool) -> Iterator[Tenth]:
    book = folder / "rules.json"
    RuleBook().with_site(SITE, [Entry(rule) for rule in _RULES]).save(book)
    settings = {
        "ADDONS": {} if alone else {"scrapy_dust.Addon": 900},
        "DUST_RULES": [str(book)],
        "DUST_DIR": str(folder),
        "DUST_CANARY_RATE": 0,
    }
    crawler = get_crawler(Spider, settings)
    crawler.spider = crawler._create_spider("soak")
    dupefilter = build_from_crawler(load_object(crawler.settings["DUPEFILTER_CLASS"]), crawler)
    dupefilter.open()
    step, began = count // 10, time.process_time()
    fingerprints: list[float] = []
    looks: list[float] = []
    scrapys: list[float] = []
    for number, url in enumerate(urls(count), start=1):
        request = Request(url)
        at = time.thread_time()
        crawler.request_fingerprinter.fingerprint(request)
        then = time.thread_time()
        is_seen = dupefilter.request_seen(request)
        looks.append(time.thread_time() - then)
        fingerprints.append(then - at)
        if number % _COMPARED == 0:
            at = time.thread_time()
            fingerprint(Request(url))
            scrapys.append(time.thread_time() - at)
        if not is_seen:
            status = 404 if number % 50 == 0 else 200
            answer = HtmlResponse(url, status=status, body=b"<p>a page</p>", request=request)
            crawler.signals.send_catch_log(
                signals.response_received, response=answer, request=request, spider=crawler.spider
            )
        if number % step == 0:
            cpu = time.process_time() - began
            told = _told(fingerprints), _told(looks)
            yield Tenth(number, memory(), files(), cpu, *told, _told(scrapys)[0])
            for taken in (fingerprints, looks, scrapys):
                taken.clear()
    dupefilter.close("finished")


def _told(seconds: list[float]) -> tuple[float, float]:
    seconds.sort()
    return 1e6 * seconds[len(seconds) // 2], 1e6 * seconds[len(seconds) * 99 // 100]


class Soaking(Spider):
    """Follows every link, under another session each time, until its time is over."""

    name = "soaking"

    def __init__(self, port: int, seconds: float, **_: Any) -> None:
        super().__init__()
        self.start_urls = [f"http://127.0.0.1:{port}/page/0"]
        self.seconds, self.began, self.pages, self.tenths = seconds, 0.0, 0, 0

    def parse(self, response: Response) -> Iterator[Any]:
        self.pages += 1
        self.began = self.began or time.monotonic()
        gone = time.monotonic() - self.began
        if self.tenths < 10 and gone >= self.seconds * (self.tenths + 1) / 10:
            self.tenths += 1
            print(Tenth(self.pages, memory(), files(), time.process_time(), (0, 0), (0, 0)), flush=True)
        if gone < self.seconds:
            for link in response.css("a::attr(href)").getall():  # type: ignore[attr-defined]
                # The numbers of the server's pages grow with their depth, and URLs would be what grows.
                path = f"/page/{int(link.rpartition('/')[2]) % _PAGES}"
                yield response.follow(f"{path}?sid={self.pages}")
                yield response.follow(f"{path}?sid={self.pages + 1}")


def crawled(seconds: float, folder: Path) -> None:
    ports: Queue[int] = Queue()
    threading.Thread(target=lambda: asyncio.run(serve(100, ports.put)), daemon=True).start()
    book = folder / "rules.json"
    RuleBook().with_site("127.0.0.1", [Entry(Rule.of(DropParameter("sid")))]).save(book)
    process = AsyncCrawlerProcess(
        {
            "ADDONS": {"scrapy_dust.Addon": 900},
            "DUST_DIR": str(folder),
            "DUST_RULES": [str(book)],
            # The queue of such a crawl is on the disk, or it would be what grows.
            "JOBDIR": str(folder / "job"),
            "LOG_LEVEL": "WARNING",
            "TELNETCONSOLE_ENABLED": False,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "DOWNLOAD_DELAY": 0,
            "DUST_CONTENT_DEDUP": "mark",
        }
    )
    process.crawl(Soaking, port=ports.get(), seconds=seconds)
    process.start()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=2_000_000)
    parser.add_argument("--crawl", type=float, metavar="SECONDS")
    options = parser.parse_args()
    print(_HEAD)
    with tempfile.TemporaryDirectory() as folder:
        if options.crawl:
            crawled(options.crawl, Path(folder))
            return
        for alone in (True, False):
            # Each begins with the same memory.
            child = os.fork()
            if not child:
                _print_soak(options.requests, Path(folder), alone=alone)
                os._exit(0)
            os.waitpid(child, 0)


def _print_soak(count: int, folder: Path, *, alone: bool) -> None:
    tenths = []
    for tenth in soaked(count, folder, alone=alone):
        tenths.append(tenth)
        print(tenth, flush=True)
    first, last = tenths[0], tenths[-1]
    each = (last.memory - first.memory) / (last.requests - first.requests)
    print(
        f"{'Scrapy alone' if alone else 'With us'}: {each:.0f} bytes a request from the first tenth to the last",
        flush=True,
    )


if __name__ == "__main__":
    main()
