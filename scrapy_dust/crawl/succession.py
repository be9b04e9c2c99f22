"""Decides which URL is fetched next for each class, and carries out the effects that `life` names.

A URL that is let through stands for its class, and after redirects for the classes from which it was redirected. When
it is known what came of the URL, its classes are settled, or fail; then the next URL of the class is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import AsyncioLoopingCall, create_looping_call
from twisted.internet.task import LoopingCall
from xxhash import xxh32_intdigest

from scrapy_dust.crawl import life
from scrapy_dust.crawl.class_store import LocalStore, Standing, StoreGone
from scrapy_dust.crawl.components import CrawlLogger, listen
from scrapy_dust.crawl.fetches_under_way import FetchesUnderWay
from scrapy_dust.crawl.life import Class, Effect, State
from scrapy_dust.crawl.requests import STANDS_FOR
from scrapy_dust.crawl.returned_requests import Returning
from scrapy_dust.sites import site_of
from scrapy_dust.stats import Stat

#: Seconds between two looks for URLs that keep others waiting for too long.
_LOOKING = 0.1

#: The origin noted for a page that belongs to no class, since it is where all are led.
_NOBODY: Standing = (b"", 0)


class Succession:
    """Follows which URLs stand for the classes of one crawl. *fetched_after_all* is called with requests that had waited."""

    def __init__(
        self,
        crawler: Crawler,
        store: LocalStore,
        returning: Returning,
        fetched_after_all: Callable[[Request], None],
        *,
        lets_through_twice: bool,
    ) -> None:
        """*lets_through_twice*: the project's dupefilter may let a URL through again, in another round of the spider's."""
        self._crawler, self._store, self._returning = crawler, store, returning
        self._fetched_after_all, self._lets_through_twice = fetched_after_all, lets_through_twice
        self._log = CrawlLogger(__name__, crawler)
        self._due: dict[bytes, None] = {}  #: classes of which the next URL is to be fetched, in order
        #: By site, classes whose next URL waits until the site shows a page.
        self._later: dict[str, dict[bytes, None]] = {}
        #: Class whose page is still to come → what redirects that led there stand for.
        self._awaiting: dict[bytes, list[Sequence[Standing]]] = {}
        self.fetching = FetchesUnderWay(crawler.settings.getint("CONCURRENT_REQUESTS"))
        self._looking: AsyncioLoopingCall | LoopingCall | None = None
        listen(crawler, self._spider_closed)

    def admit(self, request: Request, class_key: bytes, depth: int, keeper: int = 0) -> None:
        """Let *request* through: it stands for its class, and for the classes from which it was redirected."""
        meta, url, priority = request.meta, alias_number(request.url), request.priority
        before: list[tuple[str, int]] = []
        if "redirect_urls" in meta:
            # Spiders copy meta from one request to the next; what is settled would be carried along for ever.
            stood = (
                (of, one) for of, one in classes_stood_for(request) if one in self._store.get(of).standing
            )
            before = [(of.hex(), one) for of, one in stood]
        self._store.change(
            class_key, lambda known: (life.let_through(known, url, priority, depth, keeper), None)
        )
        meta[STANDS_FOR] = [*before, (class_key.hex(), url)]

    def chain_ended(self, request: Request, class_key: bytes) -> None:
        """Give the classes that redirected to *request*, which was filtered, the page of the class *class_key*, once known."""
        stands_for = classes_stood_for(request) if request.meta.get("redirect_urls") else ()
        if not stands_for:
            return
        waits = self._store.get(class_key).state not in (State.UNKNOWN, State.SETTLED, State.RESTING)
        if waits and all(name != class_key for name, _ in stands_for):
            # Not before it has come: a login that the next alias would come too early for as well.
            self._awaiting.setdefault(class_key, []).append(stands_for)
        else:
            self.conclude(stands_for, class_key, is_page=not waits)

    def note_replaced(self, request: Request, stands_for: Sequence[Standing], class_key: bytes) -> None:
        """Give the classes in *stands_for* the page of *class_key*, once known, since their *request* is dropped for it."""
        if self._store.get(class_key).state is State.SETTLED:
            self.conclude(stands_for, None, is_page=True)
        elif stands_for:
            self._awaiting.setdefault(class_key, []).append(stands_for)

    def settle(self, request: Request) -> None:
        """Settle all classes that *request* stands for: it has brought their page."""
        self.conclude(classes_stood_for(request), None, is_page=True)

    def leaves_queue(self, request: Request) -> None:
        """Begin to measure how long *request*, which has left the queue, takes for the classes for which it stands."""
        if self.fetching.passed_by(request.priority):
            self._fetch_overdue()  # at once: many a site answers that often before the next look
        for of, _ in classes_stood_for(request):
            self.fetching.class_begins(of, request.priority)
            if self._looking is None:
                self._looking = create_looping_call(self._fetch_overdue)
                self._looking.start(_LOOKING, now=False)

    def spider_idle(self) -> bool:
        """Let every URL that stands fail, since the spider is idle. Returns whether other URLs are fetched now."""
        self.fetching.clear()
        # Of all classes, and now: the spider may just have begun another round, which must not overtake what waits. Where
        # the project's dupefilter forgets, each of these requests may be another one than the next round's of its name.
        for of in self._store.waiting():
            self._change_class(of, life.spider_idle)
        self._later.clear()
        is_due = bool(self._due)
        self.fetch_due(all_of_them=self._lets_through_twice)
        return is_due

    def site_showed_page(self, url: str) -> None:
        """Fetch the next URL of one class that has waited until the site of *url* shows a page again."""
        if not self._later or (site := site_of(url) or "") not in self._later:
            return
        of, *others = self._later.pop(site)
        if others:
            self._later[site] = dict.fromkeys(others)
        with suppress(StoreGone):  # else the class has its turn when the spider is idle
            if self._store.get(of).state is State.FAILED:
                self._due[of] = None
        self.fetch_due()

    def doubt(self, classes: Iterable[bytes]) -> None:
        """Confirm *classes* by other URLs, since the pages that they have shown may be login walls or errors."""
        for of in classes:
            landed_on = self._store.get(of).landed_on
            if landed_on is not None:
                self.note_no_landing(landed_on)
            self._change_class(of, life.page_doubted)

    def note_no_landing(self, landing: bytes) -> None:
        """Remember that the class *landing*, to which redirects led, has no page of its own. Nothing is fetched for that."""
        self._store.first_origin(landing, _NOBODY)

    def _spider_closed(self) -> None:
        if self._looking is not None and self._looking.running:
            self._looking.stop()

    def _fetch_overdue(self) -> None:
        """Fetch another URL of each class whose URL that stands takes too long."""
        with suppress(StoreGone):
            for of in self.fetching.late_classes(lambda of: bool(self._store.get(of).waiting)):
                self._change_class(of, life.overdue)
        self.fetch_due()

    def conclude(
        self,
        stands_for: Sequence[Standing],
        landed_on: bytes | None,
        *,
        is_page: bool,
        how: Callable[[Class], life.After] = life.page_taken,
        busy: str | None = None,
    ) -> None:
        """Settle, or fail, all classes in *stands_for*, and decide about the requests that wait for them.

        *landed_on*: the class to which a redirect led; None if there was none. *how*: the function of `life` for a class that has its page.
        *busy*: the site that may be too busy to show a page now.
        """
        left = [(stands_for, landed_on)]
        while left:
            standing, at = left.pop()
            is_shared = at is not None and standing[0][0] != at and self._is_shared_landing(standing[0], at)
            for of, url in standing:
                self.fetching.class_decided(of)
                if is_page and at in (None, of):
                    self._change_class(of, how)
                elif is_page and at is not None and not is_shared:
                    self._change_class(of, lambda known, at=at: life.redirected_away(known, at))  # type: ignore[misc]
                else:
                    self._no_page(of, url, busy)
                left += [(others, of) for others in self._awaiting.pop(of, ())]

    def _is_shared_landing(self, origin: Standing, landed_on: bytes) -> bool:
        """Whether redirects from other classes than that of *origin* also led to the class *landed_on*.

        A page to which several classes redirect is a login, a home or an error page, and belongs to none of them.
        """
        first = self._store.first_origin(landed_on, origin)
        if first is not None and first[0] != origin[0]:
            self._no_page(*first)
        return first is None or first[0] != origin[0]

    def _no_page(self, class_key: bytes, url: int, busy: str | None = None) -> None:
        """Change the class *class_key*, whose URL with the number *url* brought no page."""
        is_busy = busy is not None
        self._change_class(class_key, lambda known: life.no_page(known, url, is_busy=is_busy), busy or "")

    def _change_class(self, class_key: bytes, how: Callable[[Class], life.After], site: str = "") -> None:
        """Change the class as *how* says, now or when the store can be reached again. *site*: of its URL that stood."""
        try:
            self._change_class_now(class_key, how, site)
        except StoreGone:
            # The outcome of a request is known once; the change is made later.
            self._store.call_later(partial(self._change_class_later, class_key, how, site))

    def _change_class_later(self, class_key: bytes, how: Callable[[Class], life.After], site: str) -> None:
        self._change_class_now(class_key, how, site)
        self.fetch_due()

    def _change_class_now(self, class_key: bytes, how: Callable[[Class], life.After], site: str) -> None:
        """Change the class *class_key*, whose URL of *site* stood, as the function *how* says, and carry out the effects.
        Raises `StoreGone`.
        """

        def change(known: Class) -> tuple[Class, tuple[bool, tuple[Effect, ...]]]:
            after, effects = how(known)
            was_settled = known.state is State.SETTLED
            return after, (known.failed and not was_settled and after.state is State.SETTLED, effects)

        was_rescued, effects = self._store.change(class_key, change)
        if was_rescued:
            self._crawler.stats.inc_value(Stat.KEPT_ALIVE.value)
        if Effect.FETCH_NEXT in effects:
            self._due[class_key] = None
        elif Effect.FETCH_LATER in effects:
            self._later.setdefault(site, {})[class_key] = None

    def fetch_due(self, *, all_of_them: bool = False) -> None:
        """Fetch the next URL of each class for which one is due."""
        # Not from within `chain_ended`: the scheduler is just queueing another request there.
        due, self._due = self._due, {}
        for request in self._take_waiting(due, all_of_them=all_of_them):
            self._log.debug(
                "Queued %s after all: the URL that was fetched in its place brought no page.", request
            )
            self._fetched_after_all(request)
            self._returning.queue_now(request, must_stand=True)

    def _take_waiting(self, due: Iterable[bytes], *, all_of_them: bool) -> Iterator[Request]:
        """Take out the next request of each class in *due*, or all its requests."""
        for of in due:
            while True:
                try:
                    request = self._store.take_next(of)
                except StoreGone:
                    self._due[of] = None
                    self._store.call_later(self.fetch_due)
                    return
                if request is not None:
                    yield request
                if request is None or not all_of_them:
                    break


def alias_number(url: str) -> int:
    """A number by which the URLs of one class are told apart, below 2^16. Where two have the same, one that brings no
    page fails for the other too, and the next URL of their class is fetched.
    """
    return xxh32_intdigest(url.encode("utf-8", "surrogatepass")) & 0xFFFF


def classes_stood_for(request: Request) -> list[Standing]:
    """The classes that *request* stands for, with the numbers of the URLs that were let through for them."""
    stands_for = request.meta.get(STANDS_FOR)
    return [(bytes.fromhex(name), url) for name, url in stands_for] if stands_for else []
