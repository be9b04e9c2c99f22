"""Gives suppressed requests back to the crawl: one at once, or many, a few with each answer and when it is idle.

Returned requests pass the scheduler like any other, with signals, dupefilter and queues. The dupefilter is told that
they come back, since the wrapped dupefilter has seen them before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider

from scrapy_dust.crawl.components import listen

#: The most requests to queue with each answer, so that queues do not fill at once; and when the spider is idle.
_WITH_AN_ANSWER, _WHEN_IDLE = 10, 1000


class Returning:
    """Gives requests back to one crawl. *is_new*: the crawl has seen none of them."""

    def __init__(self, crawler: Crawler, *, is_new: bool = False) -> None:
        self._crawler, self._is_new = crawler, is_new
        self._waiting: deque[Iterator[Request]] = deque()
        self._is_listening = False  #: to answers, from the first request on: most crawls have none
        self._coming: Request | None = None
        self._must_stand = False
        listen(crawler, self._spider_idle)

    def queue_now(self, request: Request, *, must_stand: bool = False) -> None:
        """Queue *request* although it was seen before. *must_stand*: even if another URL stands for its class."""
        self._coming, self._must_stand = None if self._is_new else request, must_stand
        try:
            self._crawler.engine.crawl(request)
        finally:
            self._coming = None

    def queue_later(self, requests: Iterator[Request]) -> None:
        """Queue *requests* a few at a time; the iterator is read only as far as needed."""
        self._waiting.append(requests)
        if not self._is_listening:
            self._is_listening = True
            listen(self._crawler, self._response_received)

    def queue_again(self) -> Callable[[Request], None]:
        """A function that queues once more the request that is just being queued."""
        if self._coming is None:
            return self._crawler.engine.crawl
        return partial(self.queue_now, must_stand=self._must_stand)

    def coming_back(self) -> tuple[bool, bool]:
        """Two answers about the request that is just being queued: it comes back; it must stand for its class. Later calls say no."""
        is_coming = self._coming is not None
        self._coming = None
        return is_coming, is_coming and self._must_stand

    def _response_received(self) -> None:
        self._queue_some(_WITH_AN_ANSWER)

    def _spider_idle(self) -> None:
        if self._queue_some(_WHEN_IDLE):
            raise DontCloseSpider

    def _queue_some(self, most: int) -> int:
        """Queue at most *most* of the waiting requests. Returns how many were queued."""
        returned = 0
        while self._waiting and returned < most:
            if (request := next(self._waiting[0], None)) is None:
                self._waiting.popleft()
            else:
                self.queue_now(request)
                returned += 1
        return returned
