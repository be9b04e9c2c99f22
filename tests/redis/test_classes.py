"""The classes of many workers are those of one: what they answer is compared with `WaitingClasses`."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy import Request, Spider

from scrapy_dust.crawl.classes import WaitingClasses

shared_classes = pytest.importorskip(
    "scrapy_dust.redis.classes", reason="redis is not installed", exc_type=ImportError
)
server = pytest.importorskip(
    "scrapy_dust.redis.server", reason="redis is not installed", exc_type=ImportError
)

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("redis")]

KEYS = [b"\x00\xff", b"b"]
URLS = [f"http://example.com/{n}" for n in range(12)]


class Crawling(Spider):
    name = "crawling"


class Idle:
    """Leases of a worker that has nothing else to do, and of which nothing is held."""

    def queued(self, request, identity):
        pass

    def are_all_idle(self):
        return True


class InMemory:
    """Room without end, in the order of arrival."""

    def __init__(self):
        self.heirs = {}

    def put(self, key, url, heir):
        self.heirs.setdefault(key, []).append((url, heir))
        return True

    def take(self, key):
        return self.heirs[key].pop(0) if self.heirs.get(key) else None

    def forget(self, key):
        self.heirs.pop(key, None)


@pytest.fixture
def shared(redis_server):
    """Makes the classes as one worker has them; all share them."""
    spider = Crawling()

    def of_a_worker():
        redis_server.raw_client.ping()
        return shared_classes.SharedClasses(
            server.Server(redis_server.raw_client, "t:", None), Idle(), lambda: spider
        )

    yield of_a_worker
    redis_server.client.flushall()


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "stand",
                "keep",
                "keep",
                "keep",
                "fail",
                "settle",
                "rest",
                "orphans",
                "may_stand",
                "was_tried",
                "is_waiting",
            ]
        ),
        st.sampled_from(KEYS),
        st.sampled_from(URLS),
    ),
    max_size=60,
)


def told(classes, operation, key, url):
    """What *classes* answer, with heirs as their URLs."""
    if operation == "keep":
        return classes.keep(key, url, Request(url))
    if operation == "fail":
        heir = classes.fail(key, url)
        return heir and heir.url
    if operation == "orphans":
        return sorted(heir.url for heir in classes.orphans())
    if operation == "rest":
        return classes.rest(key, b"landed")
    if operation in ("settle", "is_waiting"):
        return getattr(classes, operation)(key)
    return getattr(classes, operation)(key, url)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS)
def test_they_answer_as_those_of_a_single_crawl_whichever_worker_asks(shared, redis_server, operations):
    redis_server.client.flushall()
    alone = WaitingClasses(InMemory())
    workers = [shared(), shared()]
    for number, operation in enumerate(operations):
        assert told(workers[number % 2], *operation) == told(alone, *operation), operation


def test_each_heir_is_handed_out_once_however_many_workers_fail_at_a_time(shared):
    first = shared()
    first.stand(b"k", "http://example.com/first")
    for n in range(30):
        first.keep(b"k", f"http://example.com/{n}", Request(f"http://example.com/{n}"))
    handed_out: list[str] = []

    def fail_all():
        classes = shared()
        for n in range(40):
            heir = classes.fail(b"k", f"http://example.com/other/{n}")
            if heir is not None:
                handed_out.append(heir.url)

    first.fail(b"k", "http://example.com/first")
    threads = [threading.Thread(target=fail_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = Counter(handed_out)
    assert set(counts.values()) == {1}
    assert len(counts) == 29
