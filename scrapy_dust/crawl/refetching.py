"""Fetches some pages of a crawl another time, since only that shows what changes on them at each fetch.

The process that learns says which (`online/again.py`). The fetches bypass scheduler, spider and caches, and are
recorded. They stay within a share of the pages that the crawl has got, or of the requests that they may save.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro

from scrapy_dust.crawl.components import Latest, listen
from scrapy_dust.crawl.requests import asked_again
from scrapy_dust.online.messages import Worth
from scrapy_dust.stats import Stat

logger = logging.getLogger(__name__)

#: Pages that are fetched another time, as a share of all.
_SHARE = 0.02
#: The same as a share of the requests that wait since likely rules say that they repeat pages.
_OF_WAITING = 0.2
#: The latest requests, of which some may be made again.
_REMEMBERED = 500


class Refetching:
    """The further fetches of one crawl. *record* is given each answer with its request."""

    def __init__(self, crawler: Crawler, record: Callable[[Request, Response], None]) -> None:
        self._crawler, self._record = crawler, record
        self._requests: Latest[str, Request] = Latest(_REMEMBERED)
        self.pages = self._made = self._under_way = 0
        listen(crawler, self._spider_idle)

    def remember(self, request: Request) -> None:
        """Remember *request*, which has brought a page."""
        self.pages += 1
        if request.method == "GET" and "redirect_urls" not in request.meta:
            self._requests[request.url] = request

    def fetch(self, worth: Worth, waiting: int) -> None:
        """Fetch again those URLs of *worth* that are remembered, as far as there is room. *waiting*: requests held back."""
        most = max(worth.least, _SHARE * self.pages, _OF_WAITING * waiting)
        for url in worth.urls:
            if self._made >= most:
                return
            request = self._requests.pop(url, None)
            if request is not None:
                self._made += 1
                self._under_way += 1
                deferred_from_coro(self._fetch(request))

    async def _fetch(self, request: Request) -> None:
        """Fetch the URL of *request* once more, and record the answer if it is a page of that URL."""
        self._crawler.stats.inc_value(Stat.CONTROLS.value)
        try:
            response = await self._crawler.engine.download_async(asked_again(request, request.url))
            if response.status == 200 and response.url == request.url:
                self._record(request, response)
        except Exception:  # whatever a page or a middleware has against it: nothing is learned
            logger.debug("Could not fetch %s another time.", request, exc_info=True)
        finally:  # also where the crawl was told to stop: else it would wait for this fetch for ever
            self._under_way -= 1

    def _spider_idle(self) -> None:
        if self._under_way:
            raise DontCloseSpider
