"""Promise 5: nothing waits for ever: an alias waits for a keeper no longer than it would have waited by itself."""

from __future__ import annotations

import asyncio
import math
import threading

import pytest
from scrapy import Request, signals
from scrapy.exceptions import CloseSpider
from scrapy.http import Response

from tests.life.both import Both, Reader
from tests.life.web import Answer, Asked, error, page, redirect
from tests.waiting import PATIENCE
from tests.webs.planted import planted

PAGES = range(6)
FILLERS = 80


class Ordered(Reader):
    """Knows the first aliases before all others, and wants them last."""

    first, others, fillers = -100, 10, 0

    async def start(self):
        for n in PAGES:
            yield Request(self.url(f"/p{n}?sid=a"), priority=self.first)
        for n in range(FILLERS):
            yield Request(self.url(f"/filler{n}"), priority=self.fillers)
        for n in PAGES:
            yield Request(self.url(f"/p{n}?sid=b"), priority=self.others)


def with_fillers(asked: Asked) -> Answer:
    return Answer(b"<p>one of many</p>") if asked.path.startswith("/filler") else page(asked.path)


LIMITS = {
    "pages": {"CLOSESPIDER_PAGECOUNT": 40},
    "pages, four at a time": {"CLOSESPIDER_PAGECOUNT": 45, "CONCURRENT_REQUESTS": 4},
    "pages without items": {"CLOSESPIDER_PAGECOUNT_NO_ITEM": 30},
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_keeper_of_low_priority_is_fetched_as_soon_as_an_alias_would_have_been(both, limit):
    both(Ordered, with_fillers, **LIMITS[limit]).check(wanted=6)


def test_priorities_are_handed_on_when_the_keeper_fails(both):
    def site(asked: Asked) -> Answer:
        return error(404) if asked.sid == "a" else with_fillers(asked)

    both(Ordered, site, CLOSESPIDER_PAGECOUNT=40).check(wanted=6)


class Ending(Ordered):
    """Ends by itself, in a callback."""

    def parse(self, response: Response):
        yield from self.items(response)
        self.got = getattr(self, "got", 0) + 1
        if self.got == 40:
            raise CloseSpider("enough")


def test_a_spider_that_ends_by_itself_has_had_what_it_wanted_first(both):
    found: Both = both(Ending, with_fillers)
    found.check(wanted=6)


class WaveByWave(Reader):
    """Goes breadth first, and hears of a page at the bottom of the queue, and then at its top."""

    custom_settings = {
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    }

    async def start(self):
        for n in PAGES:
            yield Request(self.url(f"/p{n}?sid=a"), priority=-1)
        for n in range(FILLERS):
            yield Request(self.url(f"/filler{n}"))
        yield Request(self.url("/top"), priority=1)

    def parse(self, response: Response):
        yield from self.items(response)
        if response.url.endswith("/top"):
            for n in PAGES:
                yield Request(self.url(f"/p{n}?sid=b"), priority=1)


def test_a_keeper_at_the_bottom_of_the_queue_is_fetched_when_an_alias_is_at_its_top(both):
    def site(asked: Asked) -> Answer:
        return Answer(b"top") if asked.path == "/top" else with_fillers(asked)

    found: Both = both(WaveByWave, site, CLOSESPIDER_PAGECOUNT=40)
    found.check(wanted=6)


class Held:
    """Answers that a site holds back until so many others were given, or until the crawl is being closed."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._others, self._is_closing = 0, False

    def begin(self) -> None:
        self._others, self._is_closing = 0, False

    def other(self) -> None:
        with self._changed:
            self._others += 1
            self._changed.notify_all()

    def wait(self, others: float = math.inf) -> None:
        with self._changed:
            goal = self._others + others
            self._changed.wait_for(lambda: self._is_closing or self._others >= goal, timeout=PATIENCE)

    def release(self) -> None:
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()


HELD = Held()


class Hanging(Ordered):
    """Its first aliases are fetched at once, and hang until the crawl is being closed."""

    @classmethod
    def from_crawler(cls, crawler, *args, **more):
        spider = super().from_crawler(crawler, *args, **more)
        crawler.signals.connect(spider.came, signal=signals.response_received)
        return spider

    async def start(self):
        HELD.begin()
        if seconds := self.settings.getfloat("CLOSESPIDER_TIMEOUT"):
            self.release_in(seconds + 1)
        for sid in "ab":
            for n in PAGES:
                yield Request(self.url(f"/p{n}?sid={sid}"))
        for n in range(FILLERS):
            yield Request(self.url(f"/filler{n}"), priority=-10)

    def came(self):
        self.pages = getattr(self, "pages", 0) + 1
        if self.pages == self.settings.getint("CLOSESPIDER_PAGECOUNT"):
            self.release_in(0.1)

    def release_in(self, seconds: float) -> None:
        """By the loop that closes the crawl, so that the crawl is being closed first however slow all is."""
        asyncio.get_running_loop().call_later(seconds, HELD.release)


def hanging(asked: Asked) -> Answer:
    if asked.sid == "a":
        HELD.wait()
        return Answer(hangs_up=True)
    HELD.other()
    return with_fillers(asked)


#: All first aliases are fetched at the same time.
WIDE = {"CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}
AT_ONCE = WIDE | {"RETRY_ENABLED": False, "CLOSESPIDER_PAGECOUNT": 60}


@pytest.mark.once
def test_aliases_do_not_wait_for_a_keeper_that_hangs_until_the_crawl_is_closed(both):
    both(Hanging, hanging, **AT_ONCE).check(wanted=6)


@pytest.mark.once
def test_aliases_do_not_wait_for_a_keeper_that_hangs_until_the_time_is_up(both):
    # Many times as long as it takes; less than what hangs may take by itself.
    both(Hanging, hanging, CLOSESPIDER_TIMEOUT=4, RETRY_ENABLED=False, **WIDE).check(wanted=6)


@pytest.mark.once
def test_aliases_do_not_wait_for_a_keeper_that_is_retried_again_and_again(both):
    def site(asked: Asked) -> Answer:
        if asked.sid == "a":
            HELD.wait(others=30)
            return Answer(b"busy", status=503)
        return hanging(asked)

    both(Hanging, site, CLOSESPIDER_PAGECOUNT=60, RETRY_TIMES=10, **WIDE).check(wanted=6)


def test_the_page_is_there_before_a_limit_that_only_scrapys_order_keeps(both):
    """All alike but for the order: the aliases come first, the keepers wait behind the fillers."""

    class Queued(Ordered):
        first, others, fillers = 0, 0, 0
        custom_settings = WaveByWave.custom_settings

    both(Queued, with_fillers, CLOSESPIDER_PAGECOUNT=30).check(wanted=6)


class Chained(Reader):
    """Knows one URL of each class of a chain in which each leads to the next."""

    links = 1200
    step = -1

    def parse(self, response: Response):
        yield from self.items(response)
        if response.url == self.url("/"):
            yield Request(f"{self.homes[1]}/final", priority=-2 * self.links)
            for n in range(self.links):
                yield Request(self.url(f"/r{n}?sid=a"), priority=self.step * n)


def chain_to(end: str):
    def site(asked: Asked) -> Answer:
        if asked.path == "/":
            return Answer(b"begin")
        number = int(asked.path.removeprefix("/r"))
        if number + 1 < Chained.links:
            return redirect(f"/r{number + 1}?sid=b")
        return redirect(end.format(other=asked.homes[-1]))

    return site


@pytest.mark.once
@pytest.mark.parametrize("end", ["{other}/final", "{other}/gone", "/r0?sid=c"])
def test_classes_that_wait_for_each_other_in_a_chain_are_no_recursion(both, end):
    def other(asked: Asked) -> Answer:
        return page("the end") if asked.path == "/final" else error(404)

    both(Chained, chain_to(end), other).check(wanted=1)


@pytest.mark.once
def test_a_chain_in_reverse_is_no_recursion_either(both):
    class Backwards(Chained):
        step = 1

    def other(asked: Asked) -> Answer:
        return page("the end")

    both(Backwards, chain_to("{other}/final"), other).check(wanted=1)


@pytest.mark.once
@pytest.mark.parametrize(
    ("bug", "spider", "site", "limit"),
    [
        ("nothing is urgent", Ordered, with_fillers, LIMITS["pages"]),
        ("nothing is overdue", Hanging, hanging, AT_ONCE),
    ],
)
def test_a_planted_bug_is_found(both, bug, spider, site, limit):
    with planted(bug):
        # What brings nothing new would come last by itself.
        found: Both = both(spider, site, **limit, DUST_TRAPS="off")
    assert len(found.plain.items) == 6
    assert found.lost
