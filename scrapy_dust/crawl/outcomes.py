"""Follows what becomes of each URL that stands for its class, and does what `life` decides.

A class has its page when an answer with a page of its own has come to the callback and the callback has ended well.
Every other end brings no page: an error, an exception, an answer that a middleware drops, an answer without content
or with a part of it, a callback that raises. Then the next URL of the class is fetched. A request that leaves no
trace at all is noticed when the spider is idle.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from scrapy import Request, signals
from scrapy.exceptions import CloseSpider, DontCloseSpider
from scrapy.http import Response
from scrapy.utils.asyncio import call_later, create_looping_call
from xxhash import xxh3_128_digest, xxh32_intdigest

from scrapy_dust.crawl import life
from scrapy_dust.crawl.life import Class, Effect, State
from scrapy_dust.crawl.records import DUPLICATE_OF
from scrapy_dust.crawl.requests import LINKED_BY, STANDS_FOR, is_rendered
from scrapy_dust.crawl.store import Standing, StoreGone
from scrapy_dust.crawl.walls import Belief, NoItem, Walls
from scrapy_dust.sites import site_of
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import AsyncioLoopingCall
    from twisted.internet.task import LoopingCall

    from scrapy_dust.crawl.returning import Returning
    from scrapy_dust.crawl.store import Store
    from scrapy_dust.crawl.trapping import Trapping

logger = logging.getLogger(__name__)

#: Successful answers that show no page: accepted, other than asked for, empty, and a part.
_NO_PAGES = frozenset({202, 204, 205, 206})

#: In seconds: how often it is looked for URLs that keep others waiting, and how long each may, at least.
_LOOKING, _PATIENCE = 0.1, 5.0
#: Of the time between two looks, so much counts: while the crawl itself stands still, no site is late.
_COUNTED = 0.3
#: Or as many times as long as an answer takes on average.
_TIMES = 8.0
#: Or until so many less urgent requests have been fetched, for each that may be fetched at a time.
_OTHERS = 2

#: Who is led where all are led.
_NOBODY: Standing = (b"", 0)

#: So many are looked at; what became of those before them leaves no trace.
_FETCHING = 1000

#: Requests of one callback that are looked at; one that yields more has found more than its own page.
_ASKED = 200


def shows_page(response: Response) -> bool:
    """Whether *response* may show the page that was asked for."""
    if not 200 <= response.status < 300 or response.status in _NO_PAGES or "dataloss" in response.flags:
        return False
    method = response.request.method if response.request is not None else "GET"
    return method == "HEAD" or (bool(response.body) and not _lacks_some(response))


def _lacks_some(response: Response) -> bool:
    """Whether the body is shorter than the server announced. The flag ``partial`` without a length says only that no
    length was announced.
    """
    if "partial" not in response.flags and "download_stopped" not in response.flags:
        return False
    announced = response.headers.get("Content-Length")
    return announced is not None and announced.isdigit() and len(response.body) < int(announced)


@dataclass(slots=True)
class _Given:
    """The state of an answer that the spider has got: whether its callback is done, and what came of it."""

    has_more: bool = False  #: whatever nobody looks after any more, or more requests than are looked at
    has_item: bool = False  #: an item that nobody looks after any more
    asked: list[Request] = field(default_factory=list)  #: requests that the callback yielded
    asks_again: bool = False  #: for the same URL, which is not to be filtered
    items: int = 0  #: that spider middlewares have let through
    scraped: int = 0  #: of these: that came out of the pipelines
    lost: int = 0  #: of these: that pipelines dropped, or failed with
    is_over: bool = False  #: the callback has ended well
    is_through: bool = False  #: all that it yielded has passed the spider middlewares

    @property
    def is_known(self) -> bool:
        """Whether it is known what the spider has made of the answer, so that nothing more can follow."""
        return self.is_over and self.is_through and self.scraped + self.lost >= self.items


class DustOutcomeMiddleware:
    """Middleware that reports what became of requests, and which site links to each. It changes nothing else.

    Goes into ``DOWNLOADER_MIDDLEWARES`` at 1, outermost, and into ``SPIDER_MIDDLEWARES`` at 10000, next to the
    spider.
    """

    def __init__(self) -> None:
        self.outcomes: Outcomes | None = None  #: where rules are in force, from when the spider is open
        self.trapping: Trapping | None = None  #: where traps are told, next to the spider

    def process_request(self, request: Request) -> None:
        if self.outcomes is not None:
            self.outcomes.fetching(request)

    def process_exception(self, request: Request, exception: Exception) -> None:
        if self.outcomes is not None:
            self.outcomes.failed(request)

    def process_spider_input(self, response: Response) -> None:
        if self.outcomes is not None:
            self.outcomes.with_spider(response)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        page = None if self.trapping is None else self.trapping.begins(response)
        async for one in result:
            if self.outcomes is not None:
                self._yielded(self.outcomes, response, one)
            if page is not None and self.trapping is not None:
                self.trapping.yielded(page, one)
            yield one
        if page is not None and self.trapping is not None:
            self.trapping.done(page, response)
        if self.outcomes is not None and not self.outcomes.kept_back(response):
            self.outcomes.over(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        if self.trapping is not None:
            self.trapping.gone(response)
        if self.outcomes is not None and not self.outcomes.kept_back(response):
            self.outcomes.raised(response, exception)

    @staticmethod
    def _yielded(outcomes: Outcomes, response: Response, one: object) -> None:
        if isinstance(one, Request):
            _mark(one, response)
            outcomes.asked(response, one)
        elif not outcomes.sees_items:
            outcomes.gave(response)


class DustGivenMiddleware:
    """Spider middleware that reports which items other middlewares let through. ``SPIDER_MIDDLEWARES`` at 0, outermost."""

    def __init__(self) -> None:
        self.outcomes: Outcomes | None = None  #: as above

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for one in result:
            if self.outcomes is not None and one is not None and not isinstance(one, Request):
                self.outcomes.let_through(response)
            yield one
        if self.outcomes is not None:
            self.outcomes.through(response)

    def process_spider_exception(self, response: Response, exception: Exception) -> None:
        if self.outcomes is not None:
            self.outcomes.raised(response, exception)


def _mark(request: Request, response: Response) -> None:
    """Note in *request* which other site links to it."""
    here = site_of(response.url)
    if here == site_of(request.url):
        request.meta.pop(LINKED_BY, None)  # copied from the request before
    else:
        request.meta[LINKED_BY] = here or ""


@dataclass(slots=True)
class _Fetched:
    """A class of which a URL is being fetched."""

    since: float
    priority: int
    others: int = 0  #: less urgent requests that were fetched since
    is_answered: bool = False


class Clock:
    """A clock in seconds that leaves out the time in which the crawl itself stood still."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.now, self._looked = 0.0, clock()

    def look(self) -> None:
        """Set `now` to the time of now."""
        looked = self._clock()
        self.now += min(looked - self._looked, _COUNTED)
        self._looked = looked


class Outcomes:
    """Follows the outcomes of one crawl. *name* gives the class of the page at which a request has ended."""

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
        #: The project's dupefilter may let a URL through again, in another round of the spider's.
        self.lets_through_twice = False
        self._due: dict[bytes, None] = {}  #: classes of which the next URL is to be fetched, in order
        self._sees_spider = False
        self.sees_items = False  #: what becomes of what callbacks yield
        #: Told of each request of which the spider has taken the page.
        self.told: list[Callable[[Request], None]] = []
        #: Answers that are with the spider. An errback has none.
        self._given: WeakKeyDictionary[Response, _Given] = WeakKeyDictionary()
        self._giving: set[object] = set()  #: callbacks of which something has come
        self._making: set[object] = set()  #: callbacks that have made an item
        self._filtered: WeakSet[Request] = WeakSet()  #: requests that lead to nothing new
        self._walls = Walls()
        #: Class whose page is still to come → what redirects that led there stand for.
        self._awaiting: dict[bytes, list[Sequence[Standing]]] = {}
        self._fetching: dict[bytes, _Fetched] = {}  #: classes of which a URL is out of the queue
        self._others = _OTHERS * crawler.settings.getint("CONCURRENT_REQUESTS")
        self._answers, self._seconds, self._clock = 0, 0.0, Clock()
        self._looking: AsyncioLoopingCall | LoopingCall | None = None
        for handler, signal in (
            (self._spider_opened, signals.spider_opened),
            (self._response_received, signals.response_received),
            (self._item_scraped, signals.item_scraped),
            (self._item_lost, signals.item_dropped),
            (self._item_lost, signals.item_error),
            (self._spider_idle, signals.spider_idle),
            (self._spider_closed, signals.spider_closed),
        ):
            crawler.signals.connect(handler, signal=signal)

    # -- what the dupefilter tells

    def admit(self, request: Request, of: bytes, depth: int, keeper: int = 0) -> None:
        """Let *request* through: it stands for its class, and for the classes from which it was redirected."""
        meta, url, priority = request.meta, number_of(request.url), request.priority
        before = self._still_stands_for(request) if meta.get("redirect_urls") else ()
        self._store.change(of, lambda known: (life.let_through(known, url, priority, depth, keeper), None))
        meta[STANDS_FOR] = [*((name.hex(), one) for name, one in before), (of.hex(), url)]

    def _still_stands_for(self, request: Request) -> list[Standing]:
        # Spiders copy meta from one request to the next; what is settled would be carried along for ever.
        return [(of, url) for of, url in standings(request) if url in self._store.get(of).standing]

    def chain_ended(self, request: Request, of: bytes) -> None:
        """Take note that *request* was filtered. After redirects, the page of the class *of* is all that their chain
        can bring.
        """
        stands_for = standings(request) if request.meta.get("redirect_urls") else ()
        if not stands_for:
            return
        waits = self._store.get(of).state not in (State.UNKNOWN, State.SETTLED, State.RESTING)
        if waits and all(name != of for name, _ in stands_for):
            # Not before it has come: a login that the next alias would come too early for as well.
            self._awaiting.setdefault(of, []).append(stands_for)
        else:
            self._conclude(stands_for, of, is_page=not waits)

    def replaced(self, request: Request, stands_for: Sequence[Standing], of: bytes) -> None:
        """Take note that *request* is dropped, since the class *of* has its page, or another URL stands for it."""
        if self._store.get(of).state is State.SETTLED:
            self._conclude(stands_for, None, is_page=True)
        elif stands_for:
            self._awaiting.setdefault(of, []).append(stands_for)

    def is_fetched(self, of: bytes) -> bool:
        """Whether the URL that stands for the class has left the queue."""
        return of in self._fetching

    def settle(self, request: Request) -> None:
        """Take note that *request* has brought the page of all classes that it stands for."""
        self._conclude(standings(request), None, is_page=True)

    def filtered(self, request: Request) -> None:
        """Take note that *request* leads to nothing new: the same URL, or another URL of its class, was asked for before."""
        self._filtered.add(request)

    # -- what middlewares tell

    def fetching(self, request: Request) -> None:
        """Take note that *request* has left the queue."""
        if self._counts_as_other(request):
            self._look()  # at once: many a site answers that often before the next look
        for of, _ in standings(request):
            # A retry goes on waiting.
            self._fetching.setdefault(of, _Fetched(self._clock.now, request.priority))
            if len(self._fetching) > _FETCHING:
                del self._fetching[next(iter(self._fetching))]
            if self._looking is None:
                self._looking = create_looping_call(self._look)
                self._looking.start(_LOOKING, now=False)

    def _counts_as_other(self, request: Request) -> bool:
        """Note that *request* has come although more urgent requests are still being fetched. Returns whether one of these takes
        too long by now.
        """
        more_urgent = [one for one in self._fetching.values() if request.priority < one.priority]
        for fetched in more_urgent:
            fetched.others += 1
        return any(fetched.others == self._others for fetched in more_urgent)

    def failed(self, request: Request) -> None:
        """Take note that *request* ended without an answer, and no other request goes on in its place."""
        if stands_for := standings(request):
            self._conclude(stands_for, None, is_page=False)
            self._fetch_due()

    def with_spider(self, response: Response) -> None:
        """Take note that the callback for *response* is about to be called."""
        self._given[response] = _Given(is_through=not self.sees_items)

    def kept_back(self, response: Response) -> bool:
        """Whether a middleware kept *response* from the callback, so that at most the errback was called. Then
        *response* brought no page.
        """
        if response in self._given:
            return False
        if shows_page(response):  # else that is known since it came
            self.not_taken(response)
        return True

    def asked(self, response: Response, request: Request) -> None:
        """Take note that the callback for *response* has yielded *request*."""
        given = self._given.get(response)
        asker = response.request
        if given is None or given.has_more or asker is None:
            return
        if request.dont_filter and request.url == response.url:
            given.asks_again = True
            if STANDS_FOR in asker.meta:
                request.meta[STANDS_FOR] = asker.meta[STANDS_FOR]
        elif len(given.asked) < _ASKED:
            given.asked.append(request)
        else:
            given.has_more = True

    def _is_for_the_same(self, request: Request, asker: Request) -> bool:
        """Whether *request* can only bring the page that *asker* should have brought."""
        stands_for = standings(asker)
        if not stands_for:
            return False
        try:
            name = self._name(request)
        except Exception:  # noqa: BLE001  Whatever the project's fingerprinter has against it, or the store.
            return False
        return any(name == of for of, _ in stands_for)

    def gave(self, response: Response) -> None:
        """Take note that the callback for *response* has yielded an item. Middlewares may still drop it."""
        if (given := self._given.get(response)) is not None:
            given.has_more = given.has_item = True

    def let_through(self, response: Response) -> None:
        """Take note that all middlewares have let an item through."""
        if (given := self._given.get(response)) is not None:
            given.items += 1

    def over(self, response: Response) -> None:
        """Take note that the callback for *response* has ended without an exception."""
        if (given := self._given.get(response)) is not None:
            given.is_over = True
            self._is_known(response, given)

    def through(self, response: Response) -> None:
        """Take note that all that the callback yielded for *response* has passed the spider middlewares."""
        if (given := self._given.get(response)) is not None:
            given.is_through = True
            self._is_known(response, given)

    def raised(self, response: Response, exception: Exception) -> None:
        """Take note that the callback or a spider middleware has raised *exception*."""
        given = self._given.pop(response, None)
        if given is None:
            return
        if not isinstance(exception, CloseSpider):
            self.not_taken(response)
        elif given.has_more or given.asked or given.items or "partial" not in response.flags:
            self.taken(response, gave=True)
        # Else nobody knows what was missing: where the job goes on, the next URL has its turn.

    def _is_known(self, response: Response, given: _Given) -> None:
        if not given.is_known:
            return
        del self._given[response]
        if given.asked and not (given.has_more or given.scraped):
            # The last of these requests is still on its way to the dupefilter, which knows whether it is new.
            call_later(0, self._decide, response, given)
        else:
            self._decide(response, given)

    def _decide(self, response: Response, given: _Given) -> None:
        asker = response.request
        # Now that spider middlewares have seen them: a request's name is of what they have made of it.
        leads_on = asker is not None and any(not self._is_for_the_same(one, asker) for one in given.asked)
        gave = given.has_more or leads_on or given.scraped > 0
        if gave or not given.asks_again:
            made = given.has_item or given.scraped > 0
            is_new = made or given.has_more or any(one not in self._filtered for one in given.asked)
            self.taken(response, gave=gave, made=made, is_new=is_new)

    def taken(self, response: Response, *, gave: bool, made: bool = False, is_new: bool = True) -> None:
        """Take note that the spider is done with *response*. *gave*: whether an item or a request came of *response*; *made*: an
        item; *is_new*: an item, or a request that was not asked for before.
        """
        request = response.request
        if request is None:
            return
        callback = self._callback(request)
        if gave and callback not in self._giving:
            self._giving.add(callback)
            self._doubt(self._walls.shown(callback))
        if made and callback not in self._making:
            self._making.add(callback)
            self._doubt(self._walls.shown(NoItem(callback)))
        gives_elsewhere = callback in (self._making if gave else self._giving)
        is_page = shows_page(response)
        if stands_for := standings(request):
            landing = self._landing(request, response)
            belief = Belief.PAGE
            if is_page and DUPLICATE_OF not in request.meta:
                belief = self._belief(
                    callback, response, stands_for[0][0], gave=gave, made=made, is_new=is_new
                )
            is_unsure = belief is Belief.UNSURE and not is_new and gives_elsewhere and landing is None
            self._conclude(
                stands_for,
                landing,
                is_page=is_page and belief is not Belief.NONE,
                how=life.nothing if is_unsure else life.taken,
            )
            if landing is not None and belief is Belief.NONE:
                self._is_no_landing(landing)
        if is_page and (is_new or not gives_elsewhere):
            for told in self.told:
                told(request)
        self._fetch_due()

    def _callback(self, request: Request) -> object:
        function = request.callback
        if function is None and self._crawler.spider is not None:
            function = self._crawler.spider.parse
        return getattr(function, "__func__", function)

    def _belief(
        self, callback: object, response: Response, of: bytes, *, gave: bool, made: bool, is_new: bool
    ) -> Belief:
        if not gave:
            return self._walls.nothing(callback, of)
        if not is_new:
            return self._walls.nothing(NoItem(callback), of)
        answer = xxh3_128_digest(response.body)
        belief, doubted = self._walls.something(callback, answer, of, is_item=made)
        self._doubt(doubted)
        return belief

    def _doubt(self, classes: Iterable[bytes]) -> None:
        """Take note that the pages that *classes* have shown may be login walls or errors."""
        for of in classes:
            landed_on = self._store.get(of).landed_on
            if landed_on is not None:
                self._is_no_landing(landed_on)
            self._act(of, life.doubted)

    def _is_no_landing(self, landing: bytes) -> None:
        """Take note that the class *landing*, to which redirects led, has no page of its own. The class is not fetched
        again for that.
        """
        self._store.landed(landing, _NOBODY)

    def not_taken(self, response: Response) -> None:
        """Take note that *response* brought no page, or that its callback raised an exception."""
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
        outermost = self._crawler.get_spider_middleware(DustGivenMiddleware)
        if outermost is not None:
            outermost.outcomes = self
        self.sees_items = outermost is not None

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        for of, _ in standings(request):
            fetched = self._fetching.get(of)
            if fetched is not None and not fetched.is_answered:
                self._answers += 1
                self._seconds += self._clock.now - fetched.since
                fetched.is_answered = True
        if not shows_page(response):
            self.not_taken(response)
        elif not self._sees_spider:
            self.taken(response, gave=True)

    def _item_scraped(self, item: object, response: object) -> None:
        self._item_came(response, scraped=1, lost=0)

    def _item_lost(self, item: object, response: object) -> None:
        self._item_came(response, scraped=0, lost=1)

    def _item_came(self, response: object, *, scraped: int, lost: int) -> None:
        if isinstance(response, Response) and (given := self._given.get(response)) is not None:
            given.scraped += scraped
            given.lost += lost
            self._is_known(response, given)

    def _spider_idle(self, spider: Spider) -> None:
        self._fetching.clear()
        # Of all classes, and now: the spider may just have begun another round, which must not overtake what waits. Where
        # the project's dupefilter forgets, each of these requests may be another one than the next round's of its name.
        for of in self._store.waiting():
            self._act(of, life.idle)
        if self._due:
            self._fetch_due(all_of_them=self.lets_through_twice)
            raise DontCloseSpider

    def _spider_closed(self) -> None:
        if self._looking is not None and self._looking.running:
            self._looking.stop()

    def _look(self) -> None:
        """Fetch another URL of each class whose URL that stands takes too long."""
        with suppress(StoreGone):
            self._look_at_all()
        self._fetch_due()

    def _look_at_all(self) -> None:
        self._clock.look()
        now, usual = self._clock.now, self._seconds / self._answers if self._answers else 0.0
        patience = max(_PATIENCE, _TIMES * usual)
        for of, fetched in list(self._fetching.items()):
            is_late = fetched.others >= self._others or now - fetched.since > patience
            if is_late and not fetched.is_answered and self._store.get(of).waiting:
                fetched.since, fetched.others = now, 0
                self._act(of, life.overdue)

    # -- what comes of it

    def _landing(self, request: Request, response: Response) -> bytes | None:
        """The class of the page to which redirects led, Scrapy's or a browser's; None if there was no redirect."""
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
        """Settle, or fail, all classes in *stands_for*, and decide about the requests that wait for them.

        *landed_on*: the class to which a redirect led; None if there was none. *how*: what a page of its own means.
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
        """Whether redirects from other classes than that of *origin* also led to the class *landed_on*, where one has
        now led.

        A page to which several classes redirect is a login, a home or an error page, and belongs to none of them.
        """
        first = self._store.landed(landed_on, origin)
        if first is not None and first[0] != origin[0]:
            self._no_page(*first)
        return first is None or first[0] != origin[0]

    def _no_page(self, of: bytes, url: int) -> None:
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
        """Change the class *of* as the function *how* says, and carry out the effects. Raises `StoreGone`."""
        was_rescued, effects = self._store.change(of, lambda known: _noted(known, *how(known)))
        if was_rescued:
            self._crawler.stats.inc_value(Stat.KEPT_ALIVE.value)
        if Effect.FETCH_NEXT in effects:
            self._due[of] = None

    def _fetch_due(self, *, all_of_them: bool = False) -> None:
        # Not from within `chain_ended`: the scheduler is just queueing another request there.
        due, self._due = self._due, {}
        for request in self._next_of(due, all_of_them=all_of_them):
            logger.debug(
                "Queued %(request)s after all: the URL that was fetched in its place brought no page.",
                {"request": request},
                extra={"spider": self._crawler.spider},
            )
            self._fetched_after_all(request)
            self._returning.now(request, must_stand=True)

    def _next_of(self, due: Iterable[bytes], *, all_of_them: bool) -> Iterator[Request]:
        for of in due:
            is_next = True
            while is_next:
                try:
                    request = self._store.next_of(of)
                except StoreGone:
                    self._due[of] = None
                    self._store.later(self._fetch_due)
                    return
                if request is not None:
                    yield request
                is_next = all_of_them and request is not None


def _noted(
    before: Class, after: Class, effects: tuple[Effect, ...]
) -> tuple[Class, tuple[bool, tuple[Effect, ...]]]:
    """The class *after* a change, with the *effects* to carry out, and whether a page came although the first URL had
    failed.
    """
    was_rescued = after.state is State.SETTLED and before.state is not State.SETTLED and before.failed
    return after, (was_rescued, effects)


def number_of(url: str) -> int:
    """A number by which the URLs of one class are told apart, below 2^16. Where two have the same, one that brings no
    page fails for the other too, and the next URL of their class is fetched.
    """
    return xxh32_intdigest(url.encode("utf-8", "surrogatepass")) & 0xFFFF


def standings(request: Request) -> list[Standing]:
    """The classes that *request* stands for, with the numbers of the URLs that were let through for them."""
    stands_for = request.meta.get(STANDS_FOR)
    return [(bytes.fromhex(name), url) for name, url in stands_for] if stands_for else []
