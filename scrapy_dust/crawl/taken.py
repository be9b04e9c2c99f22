"""`TakenMiddleware`: records what callbacks take from pages, so that pages are compared by it (``DUST_SAME =
"items"``).

It stands next to the spider, and sees what a callback yields before other middlewares do. If a callback fails, what
it yielded before counts for nothing, and the failure is recorded. Recording never hurts the crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.exceptions import NotConfigured

from scrapy_dust.crawl.answer_records import is_recorded, page_url
from scrapy_dust.crawl.faults import Faults
from scrapy_dust.crawl.log_middleware import CrawlLogMiddleware
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.page.taking import Taken
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

#: In a request's meta: what scrapy-dust itself has there.
_OURS = ("dust", "_dust")

#: A signal: a callback is done with a page. Its arguments: the *request*, and what was *taken*, a `Taken`, or None: it failed.
TAKEN = object()


class TakenMiddleware:
    """Spider middleware that records what callbacks take. Goes into ``SPIDER_MIDDLEWARES`` at 10_010."""

    def __init__(self, crawler: Crawler) -> None:
        self._settings = rules_of(crawler).settings
        if not self._settings.enabled or self._settings.same != "items":
            raise NotConfigured
        self._crawler = crawler
        self._done: WeakSet[Request] = WeakSet()  #: whose callbacks have come to an end, or failed
        self._faults = Faults(crawler, Stat.RECORD_ERRORS)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        taking = _Taking(self, response)
        try:
            async for one in result:
                taking.add(one)
                yield one
            taking.is_whole = True
        finally:
            taking.end()

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Record that the callback failed, unless another middleware handles the exception and goes on with its output."""
        try:
            self.taken(response, None)
        except Exception as error:  # noqa: BLE001  The crawl goes on, whatever a page or the disk has against it.
            self.failed(error)

    def begin(self, response: Response) -> Taken | None:
        """An empty record for what the callback takes from *response*; None if the page is not recorded."""
        request = response.request
        if request is None or not is_recorded(request) or not 200 <= response.status < 300:
            return None
        return Taken(page_url(request, response), self._settings.content_fields)

    def taken(self, response: Response, taken: Taken | None) -> None:
        """Record that the callback took *taken* from *response*; None for *taken*: the callback failed."""
        request = response.request
        if request is None or self.begin(response) is None:
            return
        if request in self._done:
            return
        self._done.add(request)
        log = self._crawler.get_downloader_middleware(CrawlLogMiddleware)
        if log is not None:
            log.add_taken(request, response, taken)
        self._crawler.signals.send_catch_log(TAKEN, request=request, taken=taken)

    def failed(self, error: Exception) -> None:
        """Log an *error* of this middleware, the first time, and count it."""
        self._faults.note("Could not record what a callback took", error)


class _Taking:
    """Collects what one callback yields."""

    def __init__(self, middleware: TakenMiddleware, response: Response) -> None:
        self._middleware, self._response = middleware, response
        self._taken: Taken | None = None
        self.is_whole = False  #: the callback has come to its end
        try:
            self._taken = middleware.begin(response)
        except Exception as error:  # noqa: BLE001  The crawl goes on, whatever a page has against it.
            middleware.failed(error)

    def add(self, one: Any) -> None:
        """Add an item or request that the callback yielded."""
        if self._taken is None or one is None:
            return
        try:
            _add(self._taken, one, self._response)
        except Exception as error:  # noqa: BLE001  as above
            self._taken = None
            self._middleware.failed(error)

    def end(self) -> None:
        """Record what was collected from the page, now that the callback has ended."""
        try:
            self._middleware.taken(self._response, self._taken if self.is_whole else None)
        except Exception as error:  # noqa: BLE001  as above
            self._middleware.failed(error)


def _add(taken: Taken, one: Any, response: Response) -> None:
    if isinstance(one, Request):
        plain = one.method == "GET" and not one.body
        callback = getattr(one.callback, "__name__", "parse")
        sent = None if plain else f"{one.method} ".encode() + one.body
        taken.add_request(callback, one.url, {**_handed_on(one, response), **one.cb_kwargs}, sent)
    else:
        taken.add_item(type(one).__name__, ItemAdapter(one).asdict())


def _handed_on(request: Request, response: Response) -> Mapping[str, object]:
    """The values that this page's callback put into the meta of *request*, without those from the request before."""
    before = response.request.meta if response.request is not None else {}
    return {
        str(name): value
        for name, value in request.meta.items()
        if not (name in before and _is_plain(value) and before[name] == value)
        and not str(name).startswith(_OURS)
    }


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, bytes, int, float, bool, type(None)))
