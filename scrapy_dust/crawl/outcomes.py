"""What became of each URL that stands for its class: told by middlewares and signals, carried out on `life`.

A class has its page when the spider has taken it: an answer that shows a page of its own has come to the callback, and
the callback has ended well. Everything else that ends a request brings no page: an error, an exception, an answer that
a middleware drops, an answer without content or with a part of it, a callback that raises. Then the next alias has
its turn. What leaves no trace at all is known when the spider is idle.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.utils.asyncio import create_looping_call

from scrapy_dust.crawl import life
from scrapy_dust.crawl.life import Class, Effect, State
from scrapy_dust.crawl.requests import LINKED_BY, STANDS_FOR, is_rendered
from scrapy_dust.crawl.store import StoreGone
from scrapy_dust.sites import site_of
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

    from scrapy_dust.crawl.returning import Returning
    from scrapy_dust.crawl.store import Standing, Store
    from scrapy_dust.crawl.trapping import Trapping

logger = logging.getLogger(__name__)

#: Successful answers that show no page: accepted, other than asked for, empty, and a part.
_NO_PAGES = frozenset({202, 204, 205, 206})

#: In seconds: how often it is looked for URLs that keep others waiting, and how long each may, at least.
_LOOKING, _PATIENCE = 0.1, 5.0
#: Or as many times as long as an answer takes on average.
_TIMES = 8.0
#: Or until so many less urgent requests have been fetched, for each that may be fetched at a time.
_OTHERS = 2

#: So many are looked at; what became of those before them leaves no trace.
_FETCHING = 1000

#: Of each callback so many classes are remembered of which nothing was made before it first made something.
_UNSURE = 10_000


def shows_page(response: Response) -> bool:
    """Whether *response* may show the page that was asked for."""
    if not 200 <= response.status < 300 or response.status in _NO_PAGES or "dataloss" in response.flags:
        return False
    method = response.request.method if response.request is not None else "GET"
    return method == "HEAD" or (bool(response.body) and not _lacks_some(response))


def _lacks_some(response: Response) -> bool:
    """Whether fewer bytes came than were announced. ``partial`` alone says that none were announced."""
    if "partial" not in response.flags and "download_stopped" not in response.flags:
        return False
    announced = response.headers.get("Content-Length")
    return announced is not None and announced.isdigit() and len(response.body) < int(announced)


class Made(Enum):
    """What a callback has made of an answer."""

    NOTHING = "nothing"
    ASKED_AGAIN = "asked again"  #: nothing but a request for the same URL
    SOMETHING = "something"


class DustOutcomeMiddleware:
    """For ``DOWNLOADER_MIDDLEWARES`` at 1, outermost, and ``SPIDER_MIDDLEWARES`` at 10000, next to the spider.

    It tells what became of requests, and from which site links come. It changes nothing else.
    """

    def __init__(self) -> None:
        self.outcomes: Outcomes | None = None  #: where rules are in force, from when the spider is open
        self.trapping: Trapping | None = None  #: where traps are told, next to the spider
        #: Answers that are with the callback, and what it has made of them.
        self._with_spider: WeakKeyDictionary[Response, Made] = WeakKeyDictionary()

    def process_request(self, request: Request) -> None:
        if self.outcomes is not None:
            self.outcomes.fetching(request)

    def process_exception(self, request: Request, exception: Exception) -> None:
        if self.outcomes is not None:
            self.outcomes.failed(request)

    def process_spider_input(self, response: Response) -> None:
        if self.outcomes is not None:
            self._with_spider[response] = Made.NOTHING

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        page = None if self.trapping is None else self.trapping.begins(response)
        async for one in result:
            if self.outcomes is not None:
                self._yielded(response, one)
            if page is not None and self.trapping is not None:
                self.trapping.yielded(page, one)
            yield one
        if page is not None and self.trapping is not None:
            self.trapping.done(page, response)
        if response in self._with_spider:
            made = self._with_spider.pop(response)
            if self.outcomes is not None and made is not Made.ASKED_AGAIN:
                self.outcomes.taken(response, gave=made is Made.SOMETHING)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        if response in self._with_spider and self.outcomes is not None:
            del self._with_spider[response]
            if isinstance(exception, CloseSpider):
                self.outcomes.taken(response, gave=True)
            else:
                self.outcomes.not_taken(response)

    def _yielded(self, response: Response, one: object) -> None:
        made = Made.SOMETHING
        if isinstance(one, Request):
            _mark(one, response)
            if one.dont_filter and one.url == response.url:
                made = Made.ASKED_AGAIN
                if response.request is not None and STANDS_FOR in response.request.meta:
                    one.meta[STANDS_FOR] = response.request.meta[STANDS_FOR]
        if self._with_spider.get(response, Made.SOMETHING) is not Made.SOMETHING:
            self._with_spider[response] = made


def _mark(request: Request, response: Response) -> None:
    """Say in *request* which other site links to it."""
    here = site_of(response.url)
    if here == site_of(request.url):
        request.meta.pop(LINKED_BY, None)  # copied from the request before
    else:
        request.meta[LINKED_BY] = here or ""


@dataclass(slots=True)
class _Fetched:
    """Of a class of which a URL is being fetched."""

    since: float
    priority: int
    others: int = 0  #: less urgent requests that were fetched since
    is_answered: bool = False


class Outcomes:
    """Of one crawl. *name*: the class of the page at which a request has ended."""

    def __init__(
        self,
        crawler: Crawler,
        store: Store,
        returning: Returning,
        name: Callable[[Request], bytes],
        fetched_after_all: Callable[[Request], None],
    ) -> None:
        self._crawler, self._store, self._returning = crawler, store, returning
        self._name, self._fetched_after_all = name, fetched_after_all
        self._due: dict[bytes, None] = {}  #: classes of which the next URL is to be fetched, in order
        self._sees_spider = False
        #: Told of each request of which the spider has taken the page.
        self.told: list[Callable[[Request], None]] = []
        self._giving: set[object] = set()  #: callbacks that have yielded something
        #: Of the others, classes of which they have made nothing.
        self._unsure: dict[object, list[bytes]] = {}
        #: Class whose page is still to come → what redirects that led there stand for.
        self._awaiting: dict[bytes, list[Sequence[Standing]]] = {}
        self._fetching: dict[bytes, _Fetched] = {}  #: classes of which a URL is out of the queue
        self._others = _OTHERS * crawler.settings.getint("CONCURRENT_REQUESTS")
        self._answers, self._seconds = 0, 0.0
        self._looking: AsyncioLoopingCall | LoopingCall | None = None
        for handler, signal in (
            (self._spider_opened, signals.spider_opened),
            (self._response_received, signals.response_received),
            (self._spider_idle, signals.spider_idle),
            (self._spider_closed, signals.spider_closed),
        ):
            crawler.signals.connect(handler, signal=signal)

    # -- what the dupefilter tells

    def admit(self, request: Request, of: bytes, depth: int) -> None:
        """*request* is let through and stands for its class, and for those it was redirected from."""
        before = self._still_stands_for(request) if request.meta.get("redirect_urls") else []
        url, priority = request.url, request.priority
        self._store.change(of, lambda known: (life.let_through(known, url, priority, depth), None))
        request.meta[STANDS_FOR] = [*((name.hex(), one) for name, one in before), (of.hex(), url)]

    def _still_stands_for(self, request: Request) -> list[Standing]:
        # Spiders copy meta from one request to the next; what is settled would be carried along for ever.
        return [(of, url) for of, url in standings(request) if url in self._store.get(of).standing]

    def chain_ended(self, request: Request, of: bytes) -> None:
        """*request* was filtered. If it is a redirect, the page of *of* is all that its chain can have found."""
        stands_for = standings(request)
        if not (stands_for and request.meta.get("redirect_urls")):
            return
        waits = self._store.get(of).state not in (State.UNKNOWN, State.SETTLED, State.RESTING)
        if waits and all(name != of for name, _ in stands_for):
            # Not before it has come: a login that the next alias would come too early for as well.
            self._awaiting.setdefault(of, []).append(stands_for)
        else:
            self._conclude(stands_for, of, is_page=not waits)

    def replaced(self, request: Request, stands_for: Sequence[Standing], of: bytes) -> None:
        """*request* is dropped, since by now the class *of* has its page, or another URL stands for it."""
        if self._store.get(of).state is State.SETTLED:
            self._conclude(stands_for, None, is_page=True)
        elif stands_for:
            self._awaiting.setdefault(of, []).append(stands_for)

    def is_fetched(self, of: bytes) -> bool:
        """Whether what stands for the class has left the queue."""
        return of in self._fetching

    def settle(self, request: Request) -> None:
        """*request* has brought the page of all classes that it stands for."""
        self._conclude(standings(request), None, is_page=True)

    # -- what middlewares tell

    def fetching(self, request: Request) -> None:
        """*request* is out of the queue."""
        if self._counts_as_other(request):
            self._look()  # at once: many a site answers that often before the next look
        for of, _ in standings(request):
            # A retry goes on waiting.
            self._fetching.setdefault(of, _Fetched(time.monotonic(), request.priority))
            if len(self._fetching) > _FETCHING:
                del self._fetching[next(iter(self._fetching))]
            if self._looking is None:
                self._looking = create_looping_call(self._look)
                self._looking.start(_LOOKING, now=False)

    def _counts_as_other(self, request: Request) -> bool:
        """Count *request* where a more urgent one is being fetched. Whether one of these is overdue from now on."""
        more_urgent = [one for one in self._fetching.values() if request.priority < one.priority]
        for fetched in more_urgent:
            fetched.others += 1
        return any(fetched.others == self._others for fetched in more_urgent)

    def failed(self, request: Request) -> None:
        """*request* ended without an answer, and nothing goes on in its place."""
        if stands_for := standings(request):
            self._conclude(stands_for, None, is_page=False)
            self._fetch_due()

    def taken(self, response: Response, *, gave: bool) -> None:
        """The spider has dealt with *response*; *gave*: its callback has yielded something."""
        request = response.request
        callback = None if request is None else getattr(request.callback, "__func__", request.callback)
        is_new = gave and callback not in self._giving
        if is_new:
            self._giving.add(callback)
        if request is not None and (stands_for := standings(request)):
            landing = self._landing(request, response)
            gave_nothing = not gave and callback in self._giving and landing is None
            is_page = shows_page(response)
            self._conclude(
                stands_for, landing, is_page=is_page, how=life.nothing if gave_nothing else life.taken
            )
            if is_page and not gave and not gave_nothing and landing is None:
                self._is_unsure(callback, stands_for)
        if (
            request is not None
            and self.told
            and (gave or callback not in self._giving)
            and shows_page(response)
        ):
            for told in self.told:
                told(request)
        for of in self._unsure.pop(callback, ()) if is_new else ():
            self._act(of, life.nothing)
        self._fetch_due()

    def _is_unsure(self, callback: object, stands_for: Sequence[Standing]) -> None:
        """Nobody knows yet whether *callback* ever yields anything."""
        unsure = self._unsure.setdefault(callback, [])
        if len(unsure) < _UNSURE:
            unsure += [of for of, _ in stands_for]

    def not_taken(self, response: Response) -> None:
        """No page has come, or its callback raised."""
        request = response.request
        if request is not None and (stands_for := standings(request)):
            self._conclude(stands_for, self._landing(request, response), is_page=False)
            self._fetch_due()

    # -- what signals tell

    def _spider_opened(self, spider: Spider) -> None:
        at_download = self._crawler.get_downloader_middleware(DustOutcomeMiddleware)
        at_spider = self._crawler.get_spider_middleware(DustOutcomeMiddleware)
        for middleware in (at_download, at_spider):
            if middleware is not None:
                middleware.outcomes = self
        self._sees_spider = at_spider is not None

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        for of, _ in standings(request):
            fetched = self._fetching.get(of)
            if fetched is not None and not fetched.is_answered:
                self._answers += 1
                self._seconds += time.monotonic() - fetched.since
                fetched.is_answered = True
        if not shows_page(response):
            self.not_taken(response)
        elif not self._sees_spider:
            self.taken(response, gave=True)

    def _spider_idle(self, spider: Spider) -> None:
        self._fetching.clear()
        if not self._due:
            for of in self._store.waiting():
                self._act(of, life.idle)
        if self._due:
            self._fetch_due()
            raise DontCloseSpider

    def _spider_closed(self) -> None:
        if self._looking is not None and self._looking.running:
            self._looking.stop()

    def _look(self) -> None:
        """Nothing waits for a URL that hangs: another one stands beside it."""
        with suppress(StoreGone):
            self._look_at_all()
        self._fetch_due()

    def _look_at_all(self) -> None:
        now, usual = time.monotonic(), self._seconds / self._answers if self._answers else 0.0
        patience = max(_PATIENCE, _TIMES * usual)
        for of, fetched in list(self._fetching.items()):
            is_late = fetched.others >= self._others or now - fetched.since > patience
            if is_late and not fetched.is_answered and self._store.get(of).waiting:
                fetched.since, fetched.others = now, 0
                self._act(of, life.overdue)

    # -- what comes of it

    def _landing(self, request: Request, response: Response) -> bytes | None:
        """The class of the page that redirects led to, Scrapy's or those that a browser followed; None: no redirect."""
        if response.url != request.url and not is_rendered(request):
            with suppress(TypeError, ValueError):  # a subclass of Request that wants more, a URL that is none
                return self._name(request.replace(url=response.url))
        return self._name(request) if request.meta.get("redirect_urls") else None

    def _conclude(
        self,
        stands_for: Sequence[Standing],
        landed_on: bytes | None,
        *,
        is_page: bool,
        how: Callable[[Class], life.After] = life.taken,
    ) -> None:
        """Settle or fail all of *stands_for*, and what waited for it.

        *landed_on*: the class where a redirect led; None: there was none. *how*: what a page of its own means.
        """
        left = [(stands_for, landed_on)]
        while left:
            standing, at = left.pop()
            is_shared = at is not None and standing[0][0] != at and self._left(standing[0], at)
            for of, url in standing:
                self._fetching.pop(of, None)
                if is_page and at in (None, of):
                    self._act(of, how)
                elif is_page and at is not None and not is_shared:
                    self._act(of, lambda known, at=at: life.led_away(known, at))  # type: ignore[misc]
                else:
                    self._no_page(of, url)
                left += [(others, of) for others in self._awaiting.pop(of, ())]

    def _left(self, origin: Standing, landed_on: bytes) -> bool:
        """A redirect led from *origin* out of its class. Whether redirects from other classes led there too.

        A page to which several classes redirect is a login, a home or an error page, and the page of none
        of them. As long as there is one class only, it is believed to have found its own.
        """
        first = self._store.landed(landed_on, origin)
        if first is not None and first[0] != origin[0]:
            self._no_page(*first)
        return first is None or first[0] != origin[0]

    def _no_page(self, of: bytes, url: str) -> None:
        self._act(of, lambda known: life.no_page(known, url))

    def _act(self, of: bytes, how: Callable[[Class], life.After]) -> None:
        try:
            self._act_now(of, how)
        except StoreGone:
            # What became of a request is known once; it is told later.
            self._store.later(partial(self._act_later, of, how))

    def _act_later(self, of: bytes, how: Callable[[Class], life.After]) -> None:
        self._act_now(of, how)
        self._fetch_due()

    def _act_now(self, of: bytes, how: Callable[[Class], life.After]) -> None:
        """Raises `StoreGone`."""
        was_rescued, effects = self._store.change(of, lambda known: _noted(known, *how(known)))
        if was_rescued:
            self._crawler.stats.inc_value(Stat.KEPT_ALIVE.value)
        if Effect.FETCH_NEXT in effects:
            self._due[of] = None

    def _fetch_due(self) -> None:
        # Not from within `chain_ended`: the scheduler is just queueing another request there.
        due, self._due = self._due, {}
        for request in self._next_of(due):
            logger.debug(
                "Queued %(request)s after all: the URL that stood for its class brought no page.",
                {"request": request},
                extra={"spider": self._crawler.spider},
            )
            self._fetched_after_all(request)
            self._returning.now(request, must_stand=True)

    def _next_of(self, due: Iterable[bytes]) -> Iterator[Request]:
        for of in due:
            try:
                request = self._store.next_of(of)
            except StoreGone:
                self._due[of] = None
                self._store.later(self._fetch_due)
                return
            if request is not None:
                yield request


def _noted(
    before: Class, after: Class, effects: tuple[Effect, ...]
) -> tuple[Class, tuple[bool, tuple[Effect, ...]]]:
    """*after*, with what is to be done, and whether a page was got though the first URL had failed."""
    was_rescued = after.state is State.SETTLED and before.state is not State.SETTLED and before.failed
    return after, (was_rescued, effects)


def standings(request: Request) -> list[Standing]:
    """The classes that *request* stands for, with the URLs that were let through for them."""
    stands_for = request.meta.get(STANDS_FOR)
    return [(bytes.fromhex(name), url) for name, url in stands_for] if stands_for else []
