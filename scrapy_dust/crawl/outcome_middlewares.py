"""Middlewares that report how requests end, and the items and requests of callbacks. They change nothing.

`Outcomes` follows what they report, and `Trapping` what the spider makes of pages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http import Response

from scrapy_dust.crawl.requests import LINKED_BY
from scrapy_dust.sites import site_of

if TYPE_CHECKING:
    from scrapy_dust.crawl.request_outcomes import Outcomes
    from scrapy_dust.crawl.trapping import Trapping


class DustOutcomeMiddleware:
    """Middleware that reports how requests end, and which site links to each. It changes nothing else.

    Goes into ``DOWNLOADER_MIDDLEWARES`` at 1, outermost, and into ``SPIDER_MIDDLEWARES`` at 10000, next to the
    spider.
    """

    def __init__(self) -> None:
        self.outcomes: Outcomes | None = None  #: where rules are in force, from when the spider is open
        self.trapping: Trapping | None = None  #: where traps are told, next to the spider

    def process_request(self, request: Request) -> None:
        if self.outcomes is not None:
            self.outcomes.succession.leaves_queue(request)

    def process_exception(self, request: Request, exception: Exception) -> None:
        if self.outcomes is not None:
            self.outcomes.request_failed(request, exception)

    def process_spider_input(self, response: Response) -> None:
        if self.outcomes is not None:
            self.outcomes.callback_begins(response)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        page = None if self.trapping is None else self.trapping.begins(response)
        async for one in result:
            if self.outcomes is not None:
                self._report_yielded(self.outcomes, response, one)
            if page is not None and self.trapping is not None:
                self.trapping.yielded(page, one)
            yield one
        if page is not None and self.trapping is not None:
            self.trapping.done(page, response)
        if self.outcomes is not None and not self.outcomes.is_kept_back(response):
            self.outcomes.callback_ended(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        if self.trapping is not None:
            self.trapping.gone(response)
        if self.outcomes is not None and not self.outcomes.is_kept_back(response):
            self.outcomes.callback_raised(response, exception)

    @staticmethod
    def _report_yielded(outcomes: Outcomes, response: Response, one: object) -> None:
        """Report *one*, an item or a request that the callback has yielded."""
        if isinstance(one, Request):
            _note_linking_site(one, response)
            outcomes.callback_requested(response, one)
        elif not outcomes.sees_items:
            outcomes.callback_gave_item(response)


class DustGivenMiddleware:
    """Spider middleware that reports what other middlewares let through. ``SPIDER_MIDDLEWARES`` at 0, outermost."""

    def __init__(self) -> None:
        self.outcomes: Outcomes | None = None  #: as above

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for one in result:
            if self.outcomes is not None and one is not None:
                self.outcomes.middlewares_passed(response, one)
            yield one
        if self.outcomes is not None:
            self.outcomes.output_ended(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        if self.outcomes is not None:
            self.outcomes.callback_raised(response, exception)


def _note_linking_site(request: Request, response: Response) -> None:
    """Note in *request* which other site links to it."""
    here = site_of(response.url)
    if here == site_of(request.url):
        request.meta.pop(LINKED_BY, None)  # copied from the request before
    else:
        request.meta[LINKED_BY] = here or ""
