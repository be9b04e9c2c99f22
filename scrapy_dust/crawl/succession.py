"""Who stands for a class, what became of it, and who comes next.

An answer that is no 2xx is none of the class's page, whether or not the spider handles it, since another alias
may still have it. A 2xx is one when it has come to the spider, past all spider middlewares; an exception when
it has passed all downloader middlewares. `DustOutcomeMiddleware` tells of both; where a project does without
it, ``response_received`` has to do. What leaves no trace at all (an exception while an answer was processed, a
redirect that a signal handler refused) is known to have failed when the spider is idle.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.job import job_dir

from scrapy_dust.crawl.classes import WaitingClasses
from scrapy_dust.crawl.heirs import HEIRS_FILE, TEMPORARY, HeirsOnDisk
from scrapy_dust.crawl.outcomes import DustOutcomeMiddleware
from scrapy_dust.crawl.requests import is_rendered
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)

#: In a request's meta, internal: the classes it stands for, each as its key in hex and the URL let through for
#: it; several after a redirect from one class to another. In meta, because retries, renderers, proxies and disk
#: queues keep meta and nothing else.
STANDS_FOR = "_dust_stands_for"

#: A class's key in hex, and the URL let through for it.
Standing = tuple[str, str]

#: Of so many pages where redirects led it is known whence: some 40 MB. Of the others, a class that lands there
#: is taken for the first one, and has to be confirmed by its next alias as ever.
LANDINGS_REMEMBERED = 100_000


class Succession:
    """Of one crawl."""

    def __init__(
        self,
        crawler: Crawler,
        classes: WaitingClasses[Request] | None = None,
        landings: dict[bytes, Standing | None] | None = None,
    ) -> None:
        """*classes*, *landings*: those of several workers."""
        jobdir = job_dir(crawler.settings)
        self._on_disk = HeirsOnDisk(str(Path(jobdir, HEIRS_FILE)) if jobdir else TEMPORARY, self._spider)
        self.classes = WaitingClasses(self._on_disk) if classes is None else classes
        self._crawler = crawler
        self._ready: list[Request] = []
        self._sees_spider_input = False
        #: Key where redirects led that left a class → where the first of them came from; None: several classes.
        # A plain dict would look for its oldest past all that it has forgotten.
        self._led_here = OrderedDict() if landings is None else landings
        #: Key of a page that is still to come → what redirects that led there stand for.
        self._awaiting: dict[bytes, list[Sequence[Standing]]] = {}
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self._response_received, signal=signals.response_received)
        crawler.signals.connect(self._spider_idle, signal=signals.spider_idle)

    def admit(self, request: Request, key: bytes) -> None:
        """*request* is let through and stands for its class, and for those it was redirected from."""
        before = self._still_stands_for(request) if request.meta.get("redirect_urls") else ()
        request.meta[STANDS_FOR] = [*before, (key.hex(), request.url)]
        self.classes.stand(key, request.url)

    def _still_stands_for(self, request: Request) -> list[Standing]:
        # Spiders copy meta from one request to the next; what is settled would be carried along for ever.
        return [
            (name, url) for name, url in _standings(request) if self.classes.stands(bytes.fromhex(name), url)
        ]

    def keep(self, request: Request, key: bytes) -> bool:
        """*request* is filtered and may be an heir. False: there is no room, it should be let through instead."""
        return self.classes.keep(key, request.url, request)

    def chain_ended(self, request: Request, key: bytes) -> None:
        """*request* was filtered. If it is a redirect, the page of *key* is all that its chain can have found."""
        stands_for = _standings(request)
        if not (request.meta.get("redirect_urls") and stands_for):
            return
        if self.classes.is_waiting(key) and all(name != key.hex() for name, _ in stands_for):
            # Not before it has come: a login that the next alias would come too early for as well.
            self._awaiting.setdefault(key, []).append(stands_for)
        else:
            self._ready += self._conclude(stands_for, key, is_page=not self.classes.is_waiting(key))

    def failed(self, request: Request) -> None:
        """*request* ended without an answer, and nothing goes on in its place."""
        if stands_for := _standings(request):
            self._ready += self._conclude(stands_for, None, is_page=False)
            self._queue_heirs()

    def delivered(self, response: Response) -> None:
        """*response* has come to the spider."""
        request = response.request
        if request is not None and (stands_for := _standings(request)):
            landed_on = self._landing(request, response)
            self._ready += self._conclude(stands_for, landed_on, is_page=_is_page(response))
            self._queue_heirs()

    def at_rest(self) -> WaitingClasses[Request]:
        """All classes, with the heirs that were about to be queued back in their places."""
        for heir in self._ready:
            self.classes.keep(self._crawler.request_fingerprinter.fingerprint(heir), heir.url, heir)
        self._ready.clear()
        return self.classes

    def close(self) -> None:
        self._on_disk.close()

    def _spider_opened(self, spider: Spider) -> None:
        at_download = self._crawler.get_downloader_middleware(DustOutcomeMiddleware)
        at_spider = self._crawler.get_spider_middleware(DustOutcomeMiddleware)
        for middleware in (at_download, at_spider):
            if middleware is not None:
                middleware.succession = self
        self._sees_spider_input = at_spider is not None

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        if not (self._sees_spider_input and _is_page(response)):
            self.delivered(response)

    def _landing(self, request: Request, response: Response) -> bytes | None:
        """The key of the page that redirects led to, Scrapy's or those that a browser followed; None: no redirect."""
        fingerprint = self._crawler.request_fingerprinter.fingerprint
        if response.url != request.url and not is_rendered(request):
            with suppress(TypeError, ValueError):  # a subclass of Request that wants more, a URL that is none
                return fingerprint(request.replace(url=response.url))
        return fingerprint(request) if request.meta.get("redirect_urls") else None

    def _conclude(
        self, stands_for: Sequence[Standing], landed_on: bytes | None, *, is_page: bool
    ) -> Iterator[Request]:
        """Settle or fail all of *stands_for*, and what waited for it; the heirs that come next.

        *landed_on*: the key where a redirect led; None: there was none.
        """
        is_shared = False
        if landed_on is not None and bytes.fromhex(stands_for[0][0]) != landed_on:
            is_shared = yield from self._left(stands_for[0], landed_on)
        for name, url in stands_for:
            key = bytes.fromhex(name)
            if is_page and landed_on in (None, key):
                if self.classes.settle(key):
                    self._crawler.stats.inc_value(Stat.KEPT_ALIVE.value)
            elif is_page and landed_on is not None and not is_shared:
                self.classes.rest(key, landed_on)
            else:
                yield from self._fail(key, url)
            for others in self._awaiting.pop(key, ()):
                yield from self._conclude(others, key, is_page=is_page)

    def _left(self, origin: Standing, landed_on: bytes) -> Generator[Request, None, bool]:
        """A redirect led from *origin* out of its class. Whether redirects from other classes led there too.

        A page to which several classes redirect is a login, a home or an error page, and the page of none
        of them. As long as there is one class only, it is believed to have found its own.
        """
        first = self._led_here.setdefault(landed_on, origin)
        if len(self._led_here) > LANDINGS_REMEMBERED:
            del self._led_here[next(iter(self._led_here))]
        if first is not None and first[0] == origin[0]:
            return False
        if first is not None:
            self._led_here[landed_on] = None
            yield from self._fail(bytes.fromhex(first[0]), first[1])
        return True

    def _fail(self, key: bytes, url: str) -> Iterator[Request]:
        heir = self.classes.fail(key, url)
        if heir is not None:
            yield heir

    def _spider_idle(self, spider: Spider) -> None:
        self._ready += self.classes.orphans()
        if self._ready:
            self._queue_heirs()
            raise DontCloseSpider

    def _queue_heirs(self) -> None:
        # Not from within `chain_ended`: the scheduler is just queueing another request there.
        ready, self._ready = self._ready, []
        for heir in ready:
            logger.debug(
                "Queued %(request)s after all: the URL that stood for its class brought no page.",
                {"request": heir},
                extra={"spider": self._crawler.spider},
            )
            self._crawler.engine.crawl(heir)

    def _spider(self) -> Spider:
        assert self._crawler.spider is not None
        return self._crawler.spider


def stands_for(request: Request, key: bytes) -> bool:
    """Whether *request* was let through for the class of *key*."""
    return any(name == key.hex() for name, _ in _standings(request))


def _standings(request: Request) -> Sequence[Standing]:
    stands_for: Sequence[Standing] = request.meta.get(STANDS_FOR, ())
    return stands_for


def _is_page(response: Response) -> bool:
    return 200 <= response.status < 300
