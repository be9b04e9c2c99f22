"""Several workers, one crawl: each content is fetched once, whoever dies, and whatever is gone for a while."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import write_rules
from tests.crawl.site import Answer, error, page, serving
from tests.redis.workers import Worker, wait_until_all_are_idle
from tests.waiting import PATIENCE, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("redis")]

PAGES = 120
FIRST_ALIAS_FAILS = 7  #: every seventh page


def content_of(path: str) -> int | None:
    found = parse_qs(urlsplit(path).query).get("id")
    return None if found is None else int(found[0])


def web(path: str) -> Answer:
    """A tree of pages. Each is linked under several aliases; of some the first ones fail."""
    content = content_of(path)
    if content is None:
        return page(*links(0))
    time.sleep(0.01)
    if content % FIRST_ALIAS_FAILS == 3 and "sid=0" in path:
        return error(404)
    return page(*links(content), words=f"the page of number {content}")


def links(content: int) -> list[str]:
    below = [3 * content + n for n in (1, 2, 3) if 3 * content + n < PAGES]
    again = [(content * 7 + n) % PAGES for n in range(2)]
    return [f"/p?id={n}&sid={sid}" for n in below for sid in (0, 1)] + [
        f"/p?id={n}&sid={content % 5}" for n in again if n
    ]


def fetched(asked: list[str]) -> Counter[int]:
    """How often each content was answered with its page."""
    answered = (path for path in asked if web_status(path) == 200)
    return Counter(content for path in answered if (content := content_of(path)) is not None)


def web_status(path: str) -> int:
    content = content_of(path)
    return 404 if content is not None and content % FIRST_ALIAS_FAILS == 3 and "sid=0" in path else 200


def rules(folder: Path, site_name: str) -> dict[str, object]:
    return {"DUST_RULES": [write_rules(folder / "rules.json", {site_name: [Rule.of(DropParameter("sid"))]})]}


def held_by(worker, redis_server) -> set[int | None]:
    """The contents that Redis says *worker* is at."""
    client = redis_server.raw_client
    (name,) = client.keys(f"*:held:*-{worker.process.pid}-*") or [b""]
    found = (re.search(rb"/p\?id=\d+&sid=\d", payload) for payload in client.hvals(name))
    return {content_of(path[0].decode()) for path in found if path}


def not_heard_of(worker, redis_server) -> None:
    """Have Redis believe that *worker* was heard of long ago."""
    client = redis_server.client
    (name,) = (one for one in client.zrange("dust:worker:workers", 0, -1) if f"-{worker.process.pid}-" in one)
    client.zadd("dust:worker:workers", {name: 0})


@pytest.fixture
def start(redis_server, tmp_path):
    """Starts workers, and sees that none outlives the test."""
    workers: list[Worker] = []

    def started(kind, settings, url=""):
        workers.append(Worker(kind, redis_server, tmp_path, len(workers), settings, url))
        return workers[-1]

    yield started
    for worker in workers:
        worker.kill()
    redis_server.client.flushall()


def test_workers_with_queues_of_their_own_take_over_what_one_of_them_leaves(redis_server, tmp_path, start):
    goes_on = threading.Event()

    def stopping(path: str) -> Answer:
        if len(site.asked) > 40:
            assert goes_on.wait(PATIENCE)
        return web(path)

    with serving(stopping) as site:
        settings = rules(tmp_path, site.name) | {"DUST_REDIS_LEASE": 3}
        first = start("alone", settings, site.url("/"))
        wait_until(lambda: len(site.asked) > 40)
        first.kill()
        in_flight = held_by(first, redis_server)
        goes_on.set()
        second = start("alone", settings)
        result = second.result()
    counts = fetched(site.asked)
    assert set(counts) == set(range(1, PAGES))
    assert {content for content, times in counts.items() if times > 1} <= in_flight
    # Where the first worker was killed while one URL more of a class was being decided, that URL is fetched too.
    assert sum(times - 2 for times in counts.values() if times > 2) <= 1
    assert result["stats"]["dust/redis/taken_over"] > 0
    assert result["stats"]["dust/kept_alive"] > 0
    assert redis_server.client.keys("*") == []


def test_while_redis_is_gone_workers_wait_and_go_on_when_it_is_back(redis_server, tmp_path, start):
    with serving(web) as site:
        settings = rules(tmp_path, site.name)
        workers = [
            start("sharing", settings),
            start("alone", settings | {"DUST_REDIS_KEY": "alone"}, site.url("/?b")),
        ]
        redis_server.client.lpush("worker:start_urls", json.dumps({"url": site.url("/")}))
        wait_until(lambda: all(worker.has_said("Crawled (200)") for worker in workers))
        redis_server.stop()
        wait_until(lambda: all(worker.has_said("Redis is gone") for worker in workers))
        redis_server.start()
        wait_until(lambda: all(worker.has_said("Redis is back") for worker in workers))
        alone = workers[1].result()
        wait_until_all_are_idle(redis_server)
        workers[0].stop()
        sharing = workers[0].result()
    for result in (alone, sharing):
        assert {content_of(url) for url in result["got"]} >= set(range(1, PAGES))
        assert result["stats"]["dust/redis/gone"] > 0


def test_a_worker_with_other_rules_does_not_start_and_says_why(redis_server, tmp_path, start):
    with serving(web) as site:
        settings = rules(tmp_path, site.name)
        first = start("sharing", settings)
        wait_until(lambda: bool(redis_server.client.exists("dust:worker:meta")))
        second = start("sharing", settings | {"DUST_MODE": "off"})
        assert second.result()["got"] == []
    assert first.process.poll() is None
    (said,) = set(re.findall(r"DustError: (.*)", second.log.read_text()))
    assert said.startswith("The workers of dust:worker:* go by version ")
    assert said.endswith("or SCHEDULER_FLUSH_ON_START.")


class Gate:
    """A web whose pages come when all workers ask for as many at a time as they may."""

    def __init__(self) -> None:
        self.waiting = 0
        self.open = threading.Event()
        self._lock = threading.Lock()

    def web(self, path: str) -> Answer:
        if content_of(path) is None:
            return page(*links(0), *(f"/p?id={n}&sid=1" for n in range(1, 2 * AT_A_TIME)))
        with self._lock:
            self.waiting += 1
        assert self.open.wait(PATIENCE)
        return web(path)


AT_A_TIME = 4 * 4  #: of four workers


def test_four_workers_of_which_one_is_killed_fetch_every_content_once(redis_server, tmp_path, start):
    gate = Gate()
    with serving(gate.web) as site:
        settings = rules(tmp_path, site.name)
        workers = [start("sharing", settings) for _ in range(4)]
        wait_until(lambda: redis_server.client.zcard("dust:worker:workers") == 4)
        redis_server.client.lpush("worker:start_urls", json.dumps({"url": site.url("/")}))
        # None of them can have more than its share.
        wait_until(lambda: gate.waiting == AT_A_TIME)
        victim, *others = workers
        victim.kill()
        in_flight = held_by(victim, redis_server)
        not_heard_of(victim, redis_server)
        gate.open.set()
        wait_until(lambda: redis_server.client.zcard("dust:worker:workers") == 3)
        wait_until_all_are_idle(redis_server)
        for worker in others:
            worker.stop()
        results = [worker.result() for worker in others]
    assert all(result["got"] for result in results)
    counts = fetched(site.asked)
    assert set(counts) == set(range(1, PAGES))
    assert len(in_flight) == AT_A_TIME / 4
    # When a first alias has failed, one worker asks for the next alias, and another one may meet a third at that moment.
    failed = {content for content in counts if content % FIRST_ALIAS_FAILS == 3}
    twice = {content for content, times in counts.items() if times > 1}
    # A worker that is killed in the middle of a decision costs a fetch more, for each request that it was about to send.
    assert len(twice - in_flight - failed) <= AT_A_TIME / 4
    assert max(counts.values()) <= 2
    # Nobody is left, and so nothing is.
    assert redis_server.client.keys("*") == []


def test_a_rule_that_one_worker_finds_to_be_false_is_given_up_by_all_of_them(redis_server, tmp_path, start):
    both = threading.Barrier(2)

    def changing(path: str) -> Answer:
        if content_of(path) is None and not path.startswith("/?"):
            return error(404)
        if content_of(path) is None:
            # Neither has more than one request under way, so that each of them has one of the two.
            both.wait(PATIENCE)
            first = 30 * int(path[-1])
            return page(*(f"/p?id={n % 4}&sid={n}" for n in range(first, first + 30)))
        return page(words=" ".join(f"{path} {number}" for number in range(30)))

    def asked() -> set[str]:
        return {path for path in site.asked if content_of(path) is not None}

    everything = {f"/p?id={n % 4}&sid={n}" for n in range(60)}
    with serving(changing) as site:
        settings = rules(tmp_path, site.name) | {"CONCURRENT_REQUESTS": 1}
        # Of the two only one sends canaries.
        workers = [
            start("sharing", settings | {"DUST_CANARY_RATE": rate, "DUST_DIR": str(tmp_path / f"{rate}")})
            for rate in (0, 0.5)
        ]
        wait_until(lambda: all(worker.has_said("Spider opened") for worker in workers))
        for part in (0, 1):
            redis_server.client.lpush("worker:start_urls", json.dumps({"url": site.url(f"/?{part}")}))
        # What each of them has suppressed is given back to it.
        wait_until(lambda: asked() >= everything)
        wait_until_all_are_idle(redis_server)
        for worker in workers:
            worker.stop()
        results = [worker.result() for worker in workers]
    assert asked() == everything
    # Canaries are in the queue that they share: either may come upon it first, or both at a time.
    assert sum(result["stats"].get("dust/suspended", 0) for result in results) >= 1


def test_the_live_report_of_a_worker_says_that_it_shows_this_worker_alone(tmp_path, start):
    with serving(web) as site:
        settings = {**rules(tmp_path, site.name), "DUST_LIVE_REPORT": "live.html"}
        workers = [start("alone", settings, site.url("/")) for _ in range(2)]
        for worker in workers:
            worker.result()
    pages = [file.read_text() for file in tmp_path.glob("live*.html")]
    assert any(f"-{worker.process.pid}-" in page for worker in workers for page in pages)
    assert all("one worker of several" in page for page in pages)
