"""`TakenMiddleware`: records what callbacks take from pages. With ``DUST_SAME = "items"`` these items are compared; else
items show differences between pages that only the spider can read.

It stands next to the spider, and sees what a callback yields before other middlewares do. If a callback fails, what
it yielded before counts for nothing, and the failure is recorded. Recording never hurts the crawl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from itemadapter import ItemAdapter
from scrapy import Request
from scrapy.exceptions import NotConfigured
from scrapy.http import TextResponse

from scrapy_dust.crawl.answer_records import is_recorded, page_url
from scrapy_dust.crawl.faults import Faults
from scrapy_dust.crawl.log_middleware import CrawlLogMiddleware
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.page.item_values import ItemFields, ItemValues, plain_values
from scrapy_dust.page.taking import Taken
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response

#: In a request's meta: what scrapy-dust itself has there.
_OURS = ("dust", "_dust")

#: Bytes of a body whose text is looked through.
_LONGEST = 1 << 21

#: A signal: a callback is done with a page. Its arguments: the *request*, and what was *taken*, a `Taken`, or None: it failed.
TAKEN = object()


class TakenMiddleware:
    """Spider middleware that records what callbacks take. Goes into ``SPIDER_MIDDLEWARES`` at 10_010."""

    def __init__(self, crawler: Crawler) -> None:
        self._settings = settings = rules_of(crawler).settings
        self.of_items = settings.same == "items"  #: pages are compared by what is recorded
        if not settings.enabled or not (self.of_items or (settings.log_enabled and settings.log_units)):
            raise NotConfigured
        self._fields = ItemFields()
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
        if not self.of_items:
            return
        try:
            self.taken(response, None)
        except Exception as error:  # noqa: BLE001  The crawl goes on, whatever a page or the disk has against it.
            self.failed(error)

    def begin(self, response: Response) -> Taken | None:
        """An empty record for what the callback takes from *response*; None if the page is not recorded."""
        request = response.request
        if request is None or not _is_taken_from(request, response):
            return None
        return Taken(page_url(request, response), self._settings.content_fields)

    def begin_values(self, response: Response) -> ItemValues | None:
        """An empty record for the values of items; None if the page is not recorded, or too long to be looked through."""
        request = response.request
        if request is None or not _is_taken_from(request, response) or len(response.body) > _LONGEST:
            return None
        # Before the callback begins: it may complete an item that the request has brought.
        try:
            brought = [
                *self._brought(request.meta, "meta:{}"),
                *self._brought(request.cb_kwargs, "cb_kwargs"),
            ]
        except Exception:  # noqa: BLE001  What an object of the project's that nobody can look into brings is not known.
            return None
        return ItemValues(
            page_url(request, response),
            self._settings.content_fields,
            self._fields,
            lambda: response.text if isinstance(response, TextResponse) else "",
            brought,
            lambda: [*_in_headers(request.headers), *_in_headers(response.headers)],
        )

    def _brought(self, handed_on: Mapping[Any, object], called: str) -> Iterator[tuple[str, object]]:
        """The values in *handed_on*, each with its name in `DUST_CLASS_BY`; the name is empty if requests are told apart by it."""
        for name, value in plain_values(_by_text(handed_on)):
            said = called.format(name) if name else ""
            yield "" if said in self._settings.class_by else said, value

    def taken(self, response: Response, taken: Taken | None) -> None:
        """Record that the callback took *taken* from *response*; None for *taken*: the callback failed."""
        request = response.request
        if request is None or not _is_taken_from(request, response) or not self._is_first(request):
            return
        if (log := self._log()) is not None:
            log.add_taken(request, response, taken)
        self._crawler.signals.send_catch_log(TAKEN, request=request, taken=taken)

    def values(self, response: Response, values: ItemValues) -> None:
        """Record the *values* of the items that the callback took from *response*."""
        request, log = response.request, self._log()
        for name in values.handed_on:
            self._crawler.stats.inc_value(f"{Stat.HANDED_ON}/{name}")
        if values.units and request is not None and log is not None and self._is_first(request):
            log.add_items(request, response, values)

    def _is_first(self, request: Request) -> bool:
        """Whether this is the first call for *request*."""
        is_first = request not in self._done
        self._done.add(request)
        return is_first

    def _log(self) -> CrawlLogMiddleware | None:
        return self._crawler.get_downloader_middleware(CrawlLogMiddleware)

    def failed(self, error: Exception) -> None:
        """Log an *error* of this middleware, the first time, and count it."""
        self._faults.note("Could not record what a callback took", error)


class _Taking:
    """Collects what one callback yields."""

    def __init__(self, middleware: TakenMiddleware, response: Response) -> None:
        self._middleware, self._response = middleware, response
        self._taken: Taken | ItemValues | None = None
        self.is_whole = False  #: the callback has come to its end
        begin = middleware.begin if middleware.of_items else middleware.begin_values
        try:
            self._taken = begin(response)
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
            if self._middleware.of_items:
                taken = self._taken if isinstance(self._taken, Taken) and self.is_whole else None
                self._middleware.taken(self._response, taken)
            elif isinstance(self._taken, ItemValues) and self.is_whole:
                self._middleware.values(self._response, self._taken)
        except Exception as error:  # noqa: BLE001  as above
            self._middleware.failed(error)


def _is_taken_from(request: Request, response: Response) -> bool:
    return is_recorded(request) and 200 <= response.status < 300


def _add(taken: Taken | ItemValues, one: Any, response: Response) -> None:
    """Add *one*, an item or a request that the callback for *response* has yielded, to *taken*."""
    if isinstance(one, Request):
        plain = one.method == "GET" and not one.body
        callback = getattr(one.callback, "__name__", "parse")
        sent = b"" if plain else f"{one.method} ".encode() + one.body
        if isinstance(taken, ItemValues):
            taken.add_request(callback, one.url, sent.decode("latin-1"))
        else:
            taken.add_request(callback, one.url, {**_handed_on(one, response), **one.cb_kwargs}, sent or None)
    elif isinstance(taken, ItemValues):
        taken.add_item(type(one).__name__, one if type(one) is dict else ItemAdapter(one).asdict())
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


def _by_text(handed_on: Mapping[Any, object]) -> dict[str, object]:
    """The values of *handed_on* by their names as text; items as mappings."""
    return {
        str(name): one if _is_plain(one) or not ItemAdapter.is_item(one) else ItemAdapter(one).asdict()
        for name, one in handed_on.items()
    }


def _in_headers(headers: Headers) -> list[str]:
    return list(headers.to_unicode_dict().values())


def _is_plain(value: object) -> bool:
    return isinstance(value, (str, bytes, int, float, bool, type(None)))
