"""`ContentDedupMiddleware`: marks or drops a page whose content the crawl has seen under another URL.

A dropped page raises no exception, since errbacks and logs would show an error. Instead the response gets a copy of
its request whose callback does nothing, so that other middlewares see a page that yields nothing.

A page owns its content from the moment it arrives. If its callback fails, nobody owns the content any more, and the
first copy that was dropped meanwhile is fetched.

Never compared: start pages, requests with ``dont_filter`` or ``meta={"dust": False}``, methods other than GET, and
answers that failed or are known to be incomplete. Comparing never hurts the crawl: an error is logged once, counted,
and lets the page through.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from copy import copy
from itertools import count
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.spiders import CrawlSpider
from scrapy.utils.job import job_dir

from scrapy_dust.crawl import answer_records
from scrapy_dust.crawl.answer_records import DUPLICATE_BY, DUPLICATE_OF, is_recorded, page_url
from scrapy_dust.crawl.components import Component, CrawlLogger, listen
from scrapy_dust.crawl.faults import Faults
from scrapy_dust.crawl.log_middleware import CrawlLogMiddleware
from scrapy_dust.crawl.requests import ALONE, ASKED, OPT_OUT
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.errors import DustError
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy_dust.crawl.seen_contents import Contents, CopyFinding


#: In a request's meta: `_ask_for` has asked for it again, and it may be a copy still.
_HEIR = "dust_content_heir"
#: Seconds without comparing after a store has failed: one that does not answer must not hold up each page.
_RECOVERY = 30.0
#: Not `partial`: so Scrapy calls each answer that ends with its connection, as those of HTTP/1.0 do.
_INCOMPLETE = frozenset({"dataloss", "download_stopped"})


class ContentDedupMiddleware(Component):
    """Spider middleware that marks or drops copies of pages. Goes into ``SPIDER_MIDDLEWARES`` at 955."""

    def __init__(self, crawler: Crawler) -> None:
        rules = rules_of(crawler)
        self._settings = rules.settings
        if not self._settings.enabled or self._settings.content_dedup in ("off", "paper"):
            raise NotConfigured
        # numpy and the parser, which a crawl without this need not load
        from scrapy_dust.crawl.judges import volatile_places  # noqa: PLC0415
        from scrapy_dust.crawl.seen_contents import Contents  # noqa: PLC0415
        from scrapy_dust.signatures.store_opening import open_store  # noqa: PLC0415

        store = open_store(self._settings, job_dir(crawler.settings))
        volatile = volatile_places(self._settings)
        self._contents: Contents = Contents(self._settings, store, rules.canonize, volatile)
        super().__init__(crawler)
        rules.changed.append(self._contents.keys_changed)
        self._handlers, self._log = Handlers(), CrawlLogger(__name__, crawler)
        self._dropped: WeakKeyDictionary[Request, Request] = WeakKeyDictionary()
        self._followed: WeakSet[Request] = WeakSet()
        self._new: WeakKeyDictionary[Request, str] = WeakKeyDictionary()  #: whose callbacks are not done
        self._heirs: dict[str, Request | None] = {}  #: by their URLs, the first copy dropped since
        # Under a limit of depth the links of a copy may lead farther than those of the page that came first.
        self._follows = self._settings.content_follow or crawler.settings.getint("DEPTH_LIMIT") > 0
        self._failing_until = 0.0
        self._faults = Faults(crawler, Stat.CONTENT_ERRORS)
        listen(crawler, self._spider_closed)

    def process_spider_input(self, response: Response) -> None:
        request = response.request
        if request is None:
            return
        # A spider may hand the meta of one page on to the next.
        request.meta.pop(DUPLICATE_OF, None)
        request.meta.pop(DUPLICATE_BY, None)
        if not _is_compared(request, response) or time.monotonic() < self._failing_until:
            return
        try:
            url = page_url(request, response)
            body = answer_records.body_of(request, response)
            seen = self._contents.examine(url, body, self._handler(request))
            self._handle_finding(request, response, url, seen)
        except Exception as error:  # noqa: BLE001  The crawl goes on, whatever a page or the disk has against it.
            self._note_fault(f"Could not compare {response}", error)

    def _handler(self, request: Request) -> str:
        """A name for what handles the answer to *request*: callback, arguments, and the `Rule` of a `CrawlSpider`."""
        rule = request.meta.get("rule") if isinstance(self._crawler.spider, CrawlSpider) else None
        said = [str(one) for one in (request.meta.get(ASKED), rule) if one is not None]
        return " ".join([self._handlers.name(request.callback), *said])

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        self._restore_request(response)
        async for one in result:
            if self._lets_through(response, one):
                yield one
        if response.request is not None and (url := self._new.pop(response.request, None)) is not None:
            self._heirs.pop(url, None)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        """Forget the content of a page whose callback failed, so that the next page with the content is no copy."""
        self._restore_request(response)
        url = self._new.pop(response.request, None) if response.request is not None else None
        if url is None:
            return
        heir = self._heirs.pop(url, None)
        try:
            self._contents.store.release(url)
        except Exception as error:  # noqa: BLE001  as above
            self._note_fault(f"Could not forget {url}", error)
        if heir is not None:
            self._ask_for(heir, url)

    def _ask_for(self, heir: Request, url: str) -> None:
        """Fetch *heir*, the first dropped copy of the page at *url*, whose callback failed."""
        self._crawler.stats.inc_value(Stat.COPIES_ASKED_FOR.value)
        said = "The callback of %s failed, so %s, which was dropped as its copy, is asked for."
        self._log.info(said, url, heir)
        self._crawler.engine.crawl(heir.replace(dont_filter=True, meta={**heir.meta, _HEIR: True}))

    def _handle_finding(self, request: Request, response: Response, url: str, seen: CopyFinding) -> None:
        """Remember a page with a new content; mark or drop a copy, unless there is an excuse."""
        stats = self._crawler.stats
        if seen.is_new:
            self._new[request] = url
            self._heirs[url] = None
            stats.inc_value(Stat.CONTENTS.value)
        if seen.keeper is None:
            return
        excuse = _excuse(request, seen)
        if excuse is not None:
            stats.inc_value(Stat.COPIES_EXCUSED.value)
            stats.inc_value(f"{Stat.COPIES_EXCUSED}/{excuse}")
            return
        stats.inc_value(Stat.COPIES.value)
        stats.inc_value(f"{Stat.COPIES}/{seen.by}")
        request.meta[DUPLICATE_OF], request.meta[DUPLICATE_BY] = seen.keeper, str(seen.by)
        if (log := self._crawler.get_downloader_middleware(CrawlLogMiddleware)) is not None:
            log.add_copy(request, response, seen.keeper, str(seen.by))
        if self._settings.content_dedup == "drop":
            self._drop(request, response, seen)

    def _drop(self, request: Request, response: Response, seen: CopyFinding) -> None:
        """Keep *response* from its callback; where links of copies are followed, drop only its items."""
        if self._follows:
            self._followed.add(request)
            self._crawler.stats.inc_value(Stat.COPIES_FOLLOWED.value)
        else:
            ignored = copy(request)
            ignored.callback = answer_records.yield_nothing
            self._dropped[ignored] = request
            response.request = ignored
            if seen.keeper in self._heirs and self._heirs[seen.keeper] is None:
                self._heirs[seen.keeper] = request
            self._crawler.stats.inc_value(Stat.COPIES_DROPPED.value)
        self._log.debug("Dropped %s: %s as %s.", response, _SAID[str(seen.by)], seen.keeper)

    def _restore_request(self, response: Response) -> None:
        """Put the real request of *response* back in the place of the one that `_drop` made."""
        if response.request is not None:
            response.request = self._dropped.pop(response.request, response.request)

    def _lets_through(self, response: Response, one: Any) -> bool:
        """Whether *one*, yielded by the callback, goes on. Of a dropped copy, only requests do."""
        if response.request not in self._followed or isinstance(one, Request):
            return True
        self._crawler.stats.inc_value(Stat.COPY_ITEMS.value)
        return False

    def _spider_closed(self) -> None:
        try:
            self._contents.store.close()
        except Exception as error:  # noqa: BLE001  as above
            self._note_fault("Could not write the last signatures", error)
        stats = self._crawler.stats
        pages, copies = stats.get_value(Stat.CONTENTS.value, 0), stats.get_value(Stat.COPIES.value, 0)
        dropped = ", which were dropped" if self._settings.content_dedup == "drop" and copies else ""
        self._log.info("%d pages with new content, %d copies of them%s.", pages, copies, dropped)

    def _note_fault(self, what: str, error: Exception) -> None:
        """Log and count a fault. After a fault of the store, do not ask the store for a while."""
        if isinstance(error, DustError):
            self._failing_until = time.monotonic() + _RECOVERY
        self._faults.note(what, error)


class Handlers:
    """Names the callbacks of one crawl. Callbacks that may do different things have different names."""

    def __init__(self) -> None:
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._next = count()
        self._crawl = time.time_ns()

    def name(self, callback: Callable[..., Any] | None) -> str:
        """The name of *callback*: of a spider's method its own; of other functions one that is for this crawl only."""
        if callback is None:
            return "parse"
        function = getattr(callback, "__func__", callback)
        named = getattr(function, "__name__", "")
        if isinstance(function, FunctionType) and function.__closure__ is None and named != "<lambda>":
            return named
        number = self._numbers.get(function)
        if number is None:
            number = self._numbers[function] = next(self._next)
        return f"{named} {self._crawl} {number}"


_SAID = {"body": "the same bytes", "units": "the same page", "near": "nearly the same text"}


def _is_compared(request: Request, response: Response) -> bool:
    """Whether the page may be a copy of another page, or have copies."""
    return (
        is_recorded(request)
        and response.status in (200, 203)
        and _INCOMPLETE.isdisjoint(response.flags)
        and request.meta.get(OPT_OUT) is not False
        and request.meta.get(ASKED) != ALONE
    )


def _excuse(request: Request, seen: CopyFinding) -> str | None:
    """Why a page whose content was *seen* is let through all the same; None if it is a copy to drop or mark."""
    # A spider that hands on the meta of a start page has not started anew.
    is_start = request.meta.get("is_start_request") and not request.meta.get("depth")
    if (request.dont_filter and not request.meta.get(_HEIR)) or is_start:
        return "exempt"
    return None if seen.is_copy else str(seen.kind)
