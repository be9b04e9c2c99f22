"""`CrawlLogMiddleware`: writes one record to the crawl log for each answer, and for each request that got none.

At position 585 bodies are decoded, and answers that will be retried still pass, as do pages with a meta refresh.
Redirects do not pass there: they come from the signal ``response_downloaded``, and so does the size of a body before
it was decoded. A redirect from the HTTP cache is not recorded: the log of the crawl that filled the cache has it.

Recording never hurts the crawl: an error is logged once, and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.utils.asyncio import create_looping_call, run_in_thread

from scrapy_dust.crawl.answer_records import (
    Recorded,
    is_recorded,
    is_redirect,
    records_of_copy,
    records_of_failure,
    records_of_items,
    records_of_page,
    records_of_redirect,
    records_of_taken,
)
from scrapy_dust.crawl.components import Component, CrawlLogger, listen
from scrapy_dust.crawl.faults import Faults
from scrapy_dust.crawl.recorder import FLUSH_SECONDS, Recorder, recorder
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.crawl_log.log_places import log_dir, new_log_path
from scrapy_dust.crawl_log.log_upkeep import hider, keep_of, move_and_compact_logs
from scrapy_dust.page.item_values import ItemValues
from scrapy_dust.page.taking import Taken
from scrapy_dust.stats import Stat


class CrawlLogMiddleware(Component):
    """Downloader middleware that writes the crawl log. Goes into ``DOWNLOADER_MIDDLEWARES`` at 585."""

    def __init__(self, crawler: Crawler) -> None:
        settings = rules_of(crawler).settings
        if not (settings.enabled and settings.log_enabled):
            raise NotConfigured
        super().__init__(crawler)
        self._settings = settings
        self._recorder: Recorder | None = None
        self.path: Path | None = None  #: of the log, once it is begun
        self._wire_sizes: WeakKeyDictionary[Request, int] = WeakKeyDictionary()
        self._faults = Faults(crawler, Stat.RECORD_ERRORS)
        self._flushing = create_looping_call(self._flush)
        listen(crawler, self._response_downloaded, self._spider_closed)

    def process_response(self, request: Request, response: Response) -> Response:
        # A redirect that the spider handles was recorded when it was downloaded.
        if is_recorded(request) and not is_redirect(response):
            self._record(request, lambda: records_of_page(request, response, self._wire_sizes.get(request)))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        # Robots.txt and the like are our side's decision, and say nothing of the site.
        if is_recorded(request) and not isinstance(exception, IgnoreRequest):
            self._record(request, lambda: records_of_failure(request, exception))

    def add_copy(self, request: Request, response: Response, keeper: str, by: str) -> None:
        """Record that `ContentDedupMiddleware` found *response* to be a copy of the page at *keeper*."""
        self._record(request, lambda: records_of_copy(request, response, keeper, by), Stat.RECORDED_COPIES)

    def add_taken(self, request: Request, response: Response, taken: Taken | None) -> None:
        """Record what the callback took from *response*; None: the callback failed."""
        self._record(request, lambda: records_of_taken(request, response, taken), Stat.RECORDED_TAKEN)

    def add_items(self, request: Request, response: Response, values: ItemValues) -> None:
        """Record the *values* of the items that the callback took from *response*."""
        self._record(request, lambda: records_of_items(request, response, values), Stat.RECORDED_TAKEN)

    def add_again(self, request: Request, response: Response) -> None:
        """Record another answer to *request*, which has shown a page before."""
        self._record(request, lambda: records_of_page(request, response, None))

    # Scrapy's signals take longer to call what names the arguments that it takes, and no others.
    def _response_downloaded(self, response: Response, request: Request, **_: object) -> None:
        if not is_recorded(request):
            return
        if is_redirect(response):
            self._record(request, lambda: records_of_redirect(request, response))
        else:
            self._wire_sizes[request] = len(response.body)

    def _record(
        self, request: Request, make: Callable[[], Iterable[Recorded]], counted: Stat = Stat.RECORDED
    ) -> None:
        """Write the records that *make* makes, and count each in *counted*."""
        try:
            for record, body in make():
                self._open_recorder().add(record, body)
                self._crawler.stats.inc_value(counted.value)
        except Exception as error:  # noqa: BLE001  The crawl goes on, whatever a page or the disk has against it.
            self._faults.note(f"Could not record {request}", error)

    def _open_recorder(self) -> Recorder:
        """The recorder of this crawl, started with the first record."""
        if self._recorder is None:
            assert self._crawler.spider is not None
            settings = self._settings
            self.path = path = new_log_path(log_dir(settings.dir), self._crawler.spider.name)
            hide = hider(settings.dir, settings.log_hide)
            ignore = settings.ignore if settings.log_units else None
            self._recorder = recorder(path, hide, ignore=ignore, beside=settings.log_process)
            self._flushing.start(FLUSH_SECONDS, now=False)
        return self._recorder

    def _flush(self) -> None:
        assert self._recorder is not None
        try:
            self._recorder.flush()
            self._note_lost()
        except OSError as error:
            self._faults.note("Could not write the crawl log", error)

    def _note_lost(self) -> None:
        """Log and count the records that the recording process has lost."""
        complaint = self._recorder.complaint() if self._recorder is not None else None
        if complaint is not None:
            lost, why = complaint
            self._crawler.stats.inc_value(Stat.RECORDED.value, -lost)
            self._faults.note("Could not write the crawl log", why, count=lost)

    async def _spider_closed(self) -> None:
        if self._recorder is None:
            return
        self._flushing.stop()
        try:
            # Another crawl may go on in this process, while this log is finished or moved to where it belongs.
            await run_in_thread(self._recorder.close)
            self._note_lost()
        except OSError as error:
            self._faults.note("Could not finish the crawl log", error)
        keep = keep_of(self._settings)
        for failed in await run_in_thread(move_and_compact_logs, self._settings.dir, keep, compacting=False):
            CrawlLogger(__name__, self._crawler).warning("%s", failed)
