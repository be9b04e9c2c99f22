"""Requests that go back to the spider, few at a time: with each answer, and when nothing else is left to do.

They pass the scheduler as any other request does, and so signals, dupefilter and queues.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

#: With each answer, so that queues do not fill at once; and when the spider is idle.
_WITH_AN_ANSWER, _WHEN_IDLE = 10, 1000


class Returning:
    """Of one crawl. What is added is not looked at before it is needed."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._waiting: deque[Iterator[Request]] = deque()
        self._is_listening = False  #: to answers, from the first request on: most crawls have none
        crawler.signals.connect(self._spider_idle, signal=signals.spider_idle)

    def add(self, requests: Iterator[Request]) -> None:
        self._waiting.append(requests)
        if not self._is_listening:
            self._is_listening = True
            self._crawler.signals.connect(self._response_received, signal=signals.response_received)

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        self._return(_WITH_AN_ANSWER)

    def _spider_idle(self, spider: Spider) -> None:
        if self._return(_WHEN_IDLE):
            raise DontCloseSpider

    def _return(self, most: int) -> int:
        returned = 0
        while self._waiting and returned < most:
            request = next(self._waiting[0], None)
            if request is None:
                self._waiting.popleft()
                continue
            self._crawler.engine.crawl(request)
            returned += 1
        return returned
