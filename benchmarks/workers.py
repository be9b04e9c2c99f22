"""Workers over a real Redis on one crawl: ``python -m benchmarks.workers [--workers 1,2,4] [--kills 10]``.

A site of pages under several spellings each, of some of which the first one fails, is crawled over `redis-server` on a loopback
port by so many workers. Given are requests, pages found, pages lost, and requests a second from the first to the last answer. Then,
as often as asked for, one of the workers is killed at a random moment of such a crawl, and another begins in its place.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import write_rules
from tests.crawl.site import Answer, Site, error, page, serving
from tests.redis.conftest import RedisServer
from tests.redis.workers import Worker, wait_until_all_are_idle

#: Of every so many pages, the spellings that are met first fail.
_FAILS = 7
#: Seconds after which a worker that says nothing is taken for dead, where one is killed.
_LEASE = 20


@dataclass(slots=True)
class Web:
    """A tree of pages, each linked under two spellings and from other pages under a third."""

    pages: int
    pause: float  #: seconds that an answer takes
    times: list[float] = field(default_factory=list)  #: when requests came
    shown: set[int] = field(default_factory=set)
    goes_on: threading.Event = field(default_factory=threading.Event)

    def __call__(self, path: str) -> Answer:
        self.times.append(time.monotonic())
        time.sleep(self.pause)
        asked = parse_qs(urlsplit(path).query)
        number = int(asked["id"][0]) if "id" in asked else 0
        if number % _FAILS == 3 and asked["sid"] == ["0"]:
            return error(404)
        self.shown.add(number)
        return page(*self._links(number), words=f"the page of number {number}")

    def _links(self, number: int) -> list[str]:
        below = [one for one in range(3 * number + 1, 3 * number + 4) if one < self.pages]
        again = [(number * 7 + one) % self.pages for one in range(2)]
        links = [f"/p?id={one}&sid={sid}" for one in below for sid in (0, 1)]
        return links + [f"/p?id={one}&sid={number % 5}" for one in again if one]


@dataclass(frozen=True, slots=True)
class Crawled:
    """What a crawl by some workers came to."""

    requests: int
    pages: int
    lost: int
    seconds: float  #: from the first to the last answer


def crawled(server: RedisServer, options: argparse.Namespace, number: int, kill: float | None) -> Crawled:
    """A crawl by *number* workers. *kill*: after this share of the pages one of them is killed."""
    web = Web(options.pages, options.pause)
    with tempfile.TemporaryDirectory() as name, serving(web) as site:
        workers: list[Worker] = []
        try:
            _crawl(web, site, server, Path(name), number, kill, workers)
        finally:
            for worker in workers:
                worker.kill()
            server.client.flushall()
    lost = options.pages - len(web.shown)
    return Crawled(len(web.times), len(web.shown), lost, web.times[-1] - web.times[0])


def _crawl(
    web: Web,
    site: Site,
    server: RedisServer,
    folder: Path,
    number: int,
    kill: float | None,
    workers: list[Worker],
) -> None:
    rules = write_rules(folder / "rules.json", {site.name: [Rule.of(DropParameter("sid"))]})
    settings = {"DUST_RULES": [rules]} | ({} if kill is None else {"DUST_REDIS_LEASE": _LEASE})

    def start() -> None:
        workers.append(Worker("sharing", server, folder, len(workers), settings))

    for _ in range(number):
        start()
    # All of them are there before the first page is, so that starting counts for nothing.
    while not all(worker.has_said("Spider opened") for worker in workers):
        time.sleep(0.05)
    server.client.lpush("worker:start_urls", json.dumps({"url": site.url("/")}))
    if kill is not None:
        while len(web.shown) < kill * web.pages:
            time.sleep(0.01)
        workers[0].kill()
        start()
    while not web.times:
        time.sleep(0.05)
    wait_until_all_are_idle(server)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.05, help="seconds that an answer takes")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = shutil.which("redis-server")
    if program is None:
        sys.exit("redis-server is not installed.")
    chance, lost = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as name:
        server = RedisServer(program, Path(name))
        try:
            numbers = [int(one) for one in options.workers.split(",")]
            for number in numbers:
                one = crawled(server, options, number, None)
                lost += one.lost
                rate = one.requests / one.seconds
                print(
                    f"{number} workers: {one.requests} requests, {one.pages} pages, {one.lost} lost, {rate:.0f} requests a second",
                    flush=True,
                )
            requests = []
            for _ in range(options.kills):
                one = crawled(server, options, max(2, numbers[-1]), chance.random())
                requests.append(one.requests)
                lost += one.lost
        finally:
            server.stop()
    if requests:
        print(f"{len(requests)} crawls, one worker killed: {min(requests)} to {max(requests)} requests")
    print(f"{lost} pages lost in all")
    sys.exit(lost > 0)


if __name__ == "__main__":
    main()
