"""The store of many workers is that of one: what it answers is compared with a `LocalStore`."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy import Request, Spider

from scrapy_dust.crawl import life
from scrapy_dust.crawl.class_store import LocalStore
from scrapy_dust.crawl.life import State

shared_store = pytest.importorskip(
    "scrapy_dust.redis.shared_store", reason="redis is not installed", exc_type=ImportError
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

    def note_queued(self, request, identity):
        pass

    def are_all_idle(self):
        return True


@pytest.fixture
def shared(redis_server):
    """Makes the store as one worker has it; all share what is in it."""
    spider = Crawling()

    def of_a_worker():
        redis_server.raw_client.ping()
        return shared_store.SharedStore(
            server.Server(redis_server.raw_client, "t:", None), Idle(), lambda: spider
        )

    yield of_a_worker
    redis_server.client.flushall()


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["let through", "keep", "keep", "keep", "no page", "taken", "led away", "idle", "next"]
        ),
        st.sampled_from(KEYS),
        st.sampled_from(URLS),
    ),
    max_size=60,
)

CHANGES = {
    "let through": lambda known, url: (life.let_through(known, url), ()),
    "no page": life.no_page,
    "taken": lambda known, url: life.page_taken(known),
    "led away": lambda known, url: life.redirected_away(known, b"landed"),
    "idle": lambda known, url: life.spider_idle(known),
}


def told(store, operation, of, url):
    """What *store* answers, with requests as their URLs."""
    if operation == "next":
        if store.get(of).state is State.SETTLED:
            return None
        request = store.take_next(of)
        return request and request.url
    if operation == "keep":
        if store.get(of).state not in (State.STANDING, State.RESTING, State.CONFIRMING):
            return None
        return store.keep(of, url.encode(), ("r",), Request(url), is_waiting=True)
    effects = store.change(of, lambda known: CHANGES[operation](known, url))
    return effects, store.get(of).state, sorted(store.waiting())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(operations=OPERATIONS)
def test_they_answer_as_those_of_a_single_crawl_whichever_worker_asks(shared, redis_server, operations):
    redis_server.client.flushall()
    alone = LocalStore(None, Crawling)
    workers = [shared(), shared()]
    for number, operation in enumerate(operations):
        assert told(workers[number % 2], *operation) == told(alone, *operation), operation


def test_each_heir_is_handed_out_once_however_many_workers_ask_at_a_time(shared):
    first = shared()
    first.change(b"k", lambda known: (life.let_through(known, "http://example.com/first"), ()))
    for n in range(30):
        url = f"http://example.com/{n}"
        assert first.keep(b"k", url.encode(), ("r",), Request(url), is_waiting=True)
    handed_out: list[str] = []

    def ask_all():
        store = shared()
        while (request := store.take_next(b"k")) is not None:
            handed_out.append(request.url)

    threads = [threading.Thread(target=ask_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(handed_out) == Counter(f"http://example.com/{n}" for n in range(30))
