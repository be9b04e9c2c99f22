"""``DUST_TRAPS``: fetches URLs of forms that bring nothing new after all others, or not at all. On in every crawl.

A request that comes last stays in the project's own queue with a lower priority, so that nothing is lost and a job
can be paused. When its turn comes, its form is asked about again: if the form has brought something meanwhile, the
request is fetched, else it is put last again. With ``"cap"`` a form ends once enough pages in a row, drawn secretly
from those that wait, had nothing new. The rest is kept, and is fetched after all when the form brings something
again, or when a page outside the form links to it.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from itemadapter import ItemAdapter
from scrapy import Request, signals
from scrapy.http import TextResponse
from xxhash import xxh3_64_hexdigest

from scrapy_dust.crawl.canary_draw import Draw, local_draw
from scrapy_dust.crawl.kept_forms import KeptForms
from scrapy_dust.crawl.outcome_middlewares import DustOutcomeMiddleware
from scrapy_dust.crawl.put_last import PutLast, in_words, why_last
from scrapy_dust.crawl.requests import follows_rules, is_plain
from scrapy_dust.crawl.trap_journal import GIVEN_BACK, TrapJournal
from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.stats import Stat
from scrapy_dust.traps.budget import BARREN
from scrapy_dust.traps.ending import pages_for
from scrapy_dust.traps.items import digest_of
from scrapy_dust.traps.ledger import Arrived, Ledger, Place
from scrapy_dust.traps.said import Said, said_by
from scrapy_dust.traps.tokens import Tokens

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_dust.crawl.rules import CrawlRules
    from scrapy_dust.traps.budget import Account

logger = logging.getLogger(__name__)

#: In a request's meta, internal: it comes last; its turn, how much its priority was lowered, and its form.
LAST = "_dust_last"
#: The same: it was drawn from what comes last.
DRAWN = "_dust_drawn"
#: The same, until the request is queued: the page that links to it.
_LINKED = "_dust_linked"
#: The same: a page that has nothing new links to it.
_OF_A_TRAP = "_dust_of_trap"

#: How much lower a priority is for each turn, for each parameter, and for each part that chance makes of what waits.
_TURN, _NAME, _DRAW = 20_000_000, 1_000_000, 100_000
_DRAWS = 8
#: With ``"cap"``, half of the URLs that wait come in their usual order, and the others with URLs of so many parameters less.
_LESS = (0, 0, 0, 0, 1, 1, 2, 3)
#: The share of waiting URLs that may be fetched before their turn, to see whether their form brings something again.
_PROBES = 0.25
#: The most requests that are put off at a time; the next one is fetched, so that nothing else waits for it.
_AT_A_TIME = 100
#: Requests on their way whose places are remembered.
_GOING = 10_000
#: Forms that are named when a crawl ends.
_NAMED = 5
#: Answers that say that there is no page.
_GONE = frozenset({404, 410})


class Link(NamedTuple):
    """A link of a page."""

    page: Arrived
    place: Place  #: to which it leads


class Trapping:
    """Handles the traps of one crawl. *key_of* gives the key of a URL by the rules in force and the likely ones."""

    def __init__(self, crawler: Crawler, rules: CrawlRules, key_of: Callable[[str], str]) -> None:
        self._crawler, self._rules, self._key_of = crawler, rules, key_of
        settings = rules.settings
        self._caps = settings.traps == "cap" and settings.mode != "shadow"
        self._wanted = frozenset(settings.traps_wanted)
        self._ledger = Ledger(pages_for(settings.max_risk) if self._caps else 0)
        self._folder = log_dir(settings.dir).parent
        self._kept = KeptForms(self._folder)
        self._ledger.remember(self._kept.sites)
        self._journal = TrapJournal(crawler, settings)
        self._tokens = Tokens()
        self._waiting: Counter[str] = Counter()  #: by form
        self._late: dict[str, Account] = {}  #: by form, of those that were put last
        self._going: dict[str, Place] = {}  #: by URL
        self._put_off = 0  #: requests in a row
        self._said_rest = self._has_failed = False
        self._capped: dict[str, Account] = {}  #: by the ids of forms
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    @cached_property
    def _draw(self) -> Draw:
        """The draw that decides by the project's secret, which is made when it is first needed."""
        return local_draw(self._folder)

    # -- what the scheduler tells

    def linked(self, request: Request) -> Link | None:
        """The link to *request*, which is about to be queued; None if the page with the link does not matter."""
        meta = request.meta
        if not meta:
            return None
        meta.pop(LAST, None)  # copied from the request before
        page: Arrived | None = meta.pop(_LINKED, None)
        if page is None:
            return None
        try:
            is_barred = page.account.is_barren
            place = self._place(request, of_a_trap=is_barred)
            if _is_watched(request):
                self._ledger.shows(page, place)
                if is_barred or page.form.is_kin_of(place.form):
                    meta[_OF_A_TRAP] = True
                if place.is_late and not self._goes_first(request, place):
                    self._lower_priority(request, place)
        except Exception as error:  # noqa: BLE001  Whatever a request of the project's has against it.
            self._note_fault(request, error)
            return None
        return Link(page, place)

    def queued(self, request: Request, link: Link) -> None:
        """Take note that *request*, to which *link* leads, is no duplicate."""
        try:
            if LAST in request.meta:
                self._note_waiting(request, 0)
            if link.place.site:
                self._ledger.leads(*link)
        except Exception as error:  # noqa: BLE001  as above
            self._note_fault(request, error)

    def refused(self, request: Request, link: Link | None) -> Request | None:
        """Take note that *request* is a duplicate. Returns *request* if it was capped and must be fetched; else None."""
        if not self._capped or (link is not None and link.page.account.is_barren):
            return None
        return self._journal.take_back(request)

    def wake(self, request: Request) -> int:
        """Undo the changes to *request* that put it last, now that it has left the queue. Returns its turn, 0 if it had none, and -1 if
        it is given back and has none yet.
        """
        if request.meta.pop(GIVEN_BACK, False):
            request.dont_filter = False
            return -1
        mark = request.meta.pop(LAST, None)
        if mark is None:
            return 0
        turn, lowered, form = mark
        request.priority += lowered
        request.dont_filter = False
        self._waiting[form] -= 1
        self._ledger.budget.woke(self._late.get(form))
        return int(turn)

    def is_fetched(self, request: Request, turn: int) -> bool | None:
        """Whether *request*, which had the *turn*, is fetched now. False: it is put off. None: it is not fetched at all."""
        if not _is_watched(request):
            return True
        try:
            return self._is_fetched(request, turn)
        except Exception as error:  # noqa: BLE001  as above
            self._note_fault(request, error)
            return True

    def _is_fetched(self, request: Request, turn: int) -> bool | None:
        place = self._place(request, of_a_trap=_OF_A_TRAP in request.meta)
        if not place.is_late:
            self._note_fetched(request, place, turn)
            return True
        if place.account.is_capped and self._cap(request, place):
            return None
        has_come = turn >= place.turn
        if has_come or self._put_off >= _AT_A_TIME or self._goes_first(request, place):
            self._note_fetched(request, place, turn)
            return True
        self._put_off += 1
        self._lower_priority(request, place)
        self._note_waiting(request, turn)
        request.dont_filter = True  # it has passed the dupefilter
        return False

    def _note_fetched(self, request: Request, place: Place, turn: int) -> None:
        self._put_off = 0
        self._ledger.budget.sent(place.account, is_early=place.is_late and not turn)
        self._going[request.url] = place
        if len(self._going) > _GOING:
            del self._going[next(iter(self._going))]
        if turn:
            self._journal.its_turn(request, trap_id(place.form.text))
            self._say_rest(turn)
        if place.is_late or turn:
            request.meta[DRAWN] = True

    def _place(self, request: Request, *, of_a_trap: bool) -> Place:
        site = self._rules.site_of(request.url)
        place = self._ledger.place(site or "", self._key_of(request.url), of_a_trap=of_a_trap)
        may_expire = self._tokens.may_be_in(place.site, place.url)
        if site is None or may_expire or (self._wanted and self._is_wanted(place)):
            return place._replace(turn=0)
        return place

    def _is_wanted(self, place: Place) -> bool:
        text = place.form.text
        return text in self._wanted or trap_id(text) in self._wanted

    def _goes_first(self, request: Request, place: Place) -> bool:
        """Whether *request* is fetched before its turn, to see whether its form brings something again."""
        if not self._ledger.budget.may_probe(place.site) or not self._draw.chooses(request.url, _PROBES):
            return False
        self._ledger.budget.probe(place.site)
        return True

    def _lower_priority(self, request: Request, place: Place) -> None:
        # Drawn by the key: chance makes no URL of a class more urgent than the URL that stands for the class.
        drawn, chance = divmod(self._draw.number(place.url, _DRAWS * len(_LESS)), len(_LESS))
        names = len(place.form.names)
        if self._caps:
            # What ends a form is a sample of what waits, so some URLs come together with those of fewer parameters.
            names = max(0, names - _LESS[chance])
        lowered = _TURN * place.turn + _NAME * names + _DRAW * drawn
        request.priority -= lowered
        request.meta[LAST] = [place.turn, lowered, place.form.text]
        self._late[place.form.text] = place.account

    def _note_waiting(self, request: Request, turn: int) -> None:
        form = request.meta[LAST][2]
        self._waiting[form] += 1
        self._ledger.budget.waits(self._late[form], is_new=not turn)
        if turn <= 0:
            self._journal.put_last(request, form, trap_id(form), is_new=not turn)

    def _cap(self, request: Request, place: Place) -> bool:
        if not place.form.is_again and _OF_A_TRAP not in request.meta:
            return False
        form = place.form.text
        if not self._journal.cap(request, form, trap_id(form)):
            return False
        if trap_id(form) not in self._capped:
            self._capped[trap_id(form)] = place.account
            self._say_capped(form, request.url)
        return True

    # -- what the middleware next to the spider tells

    def _spider_opened(self, spider: Spider) -> None:
        middleware = self._crawler.get_spider_middleware(DustOutcomeMiddleware)
        if middleware is not None:
            middleware.trapping = self

    def begins(self, response: Response) -> Arrived | None:
        """Begin to watch what the spider makes of *response*. None if the page does not matter for traps."""
        request = response.request
        if request is None or not 200 <= response.status < 300:
            self.gone(response)
            return None
        place = self._going.pop(request.url, None) or self._place_of_its_own(request)
        if place is None or not place.site:
            return None
        meta = request.meta
        meta.pop(_OF_A_TRAP, None)
        return self._ledger.arrived(place, is_drawn=meta.pop(DRAWN, False))

    def _place_of_its_own(self, request: Request) -> Place | None:
        """The `Place` of *request*, which was not judged in the queue; None if it does not matter for traps."""
        site = self._rules.site_of(request.url) if _is_of_interest(request) else None
        if site is None:
            return None
        return self._ledger.place(site, self._key_of(request.url), may_repeat=False)

    def yielded(self, page: Arrived, one: Any) -> None:
        """Take note that the callback has yielded *one* from *page*."""
        if not isinstance(one, Request):
            self._note_yielded(page, one)
        elif page.follows_links:
            one.meta[_LINKED] = page

    def _note_yielded(self, page: Arrived, item: Any) -> None:
        try:
            said = item if item is None or type(item) is dict else ItemAdapter(item)
            digest = None if said is None else digest_of(said, page.url)
        except Exception:  # noqa: BLE001  Whatever an item of the project's has against it.
            digest = id(page)  # it is new
        if digest is not None:
            self._ledger.yielded(page, digest)

    def done(self, page: Arrived, response: Response) -> None:
        """Take note that the callback has ended for *page*."""
        account, queue = page.account, page.account.pool.queue
        before = queue.is_over, account.has_ended
        self._ledger.done(page, lambda: _said_in_body(response))
        if self._capped and before > (queue.is_over, account.has_ended):
            self._give_back()

    def _give_back(self) -> None:
        """Give back capped requests of forms that bring something again, until these end again."""
        for identity, account in self._capped.items():
            if not account.has_ended:
                self._journal.give_back(identity, account)

    def gone(self, response: Response) -> None:
        """Take note of *response*, which the spider does not get, if *response* says that there is no such page."""
        request = response.request
        if response.status not in _GONE or request is None or not _is_of_interest(request):
            return
        site = self._rules.site_of(request.url)
        if site is not None:
            self._ledger.gone(site, self._key_of(request.url), is_drawn=DRAWN in request.meta)

    # -- what people are told

    def _say_rest(self, turn: int) -> None:
        if self._said_rest or turn < BARREN or not self._waiting_forms():
            return
        self._said_rest = True
        logger.info(
            "All other URLs are fetched. Now come those of forms that brought nothing new: %(forms)s. Nothing is lost; to end "
            'crawls here, set DUST_TRAPS = "cap", or stop this one.',
            {"forms": self._waiting_forms()},
            extra={"spider": self._crawler.spider},
        )

    @property
    def put_last(self) -> list[PutLast]:
        """The forms whose requests wait until all others are fetched, the form with most requests first."""
        most = sorted(
            ((n, form) for form, n in self._waiting.items() if n > 0), key=lambda one: (-one[0], one[1])
        )
        return [PutLast(trap_id(form), in_words(form), n, why_last(self._late.get(form))) for n, form in most]

    @property
    def capped(self) -> list[str]:
        """The forms of which no more is fetched, in words."""
        return [in_words(account.form.text) for account in self._capped.values() if account.has_ended]

    def _waiting_forms(self) -> str:
        most = self.put_last
        named = [f"{one.waiting} like {one.form} ({one.id})" for one in most[:_NAMED]]
        left = sum(one.waiting for one in most[_NAMED:])
        return ", ".join([*named, f"{left} of {len(most) - _NAMED} more forms"] if left else named)

    def _say_capped(self, form: str, url: str) -> None:
        logger.warning(
            "A trap: pages like %(url)s (%(form)s), drawn at random from those that waited, showed nothing new, so that no more "
            "of them are fetched (stat %(stat)s). `scrapy dustrules requeue %(id)s` has the next crawl fetch them; with "
            "%(id)s in DUST_TRAPS_WANTED they are fetched as any other.",
            {"url": url, "form": form, "stat": Stat.CAPPED.value, "id": trap_id(form)},
            extra={"spider": self._crawler.spider},
        )

    def _spider_closed(self, spider: Spider) -> None:
        waiting = sum(max(0, n) for n in self._waiting.values())
        if waiting:
            logger.info(
                "%(n)d URLs were put last, since pages like them had brought nothing new, and this crawl ended before their turn: "
                "%(forms)s. `scrapy dustrules requeue ID` has the next crawl fetch them; URLs like those that "
                "DUST_TRAPS_WANTED names are never put last.",
                {"n": waiting, "forms": self._waiting_forms()},
                extra={"spider": spider},
            )
        self._kept.save(self._ledger.keep(self._rules.site_of))

    def _note_fault(self, request: Request, error: Exception) -> None:
        self._crawler.stats.inc_value(Stat.TRAP_ERRORS.value)
        if not self._has_failed:
            self._has_failed = True
            logger.error(
                "Could not tell whether %(request)s belongs to a trap (%(error)r): it is fetched as without DUST_TRAPS. What "
                "else fails is counted in the stat %(stat)s.",
                {"request": request, "error": error, "stat": Stat.TRAP_ERRORS.value},
                extra={"spider": self._crawler.spider},
                exc_info=logger.isEnabledFor(logging.DEBUG),
            )


def trap_id(form: str) -> str:
    """The id by which the journal, ``dustrules requeue`` and DUST_TRAPS_WANTED name *form*."""
    return f"trap-{xxh3_64_hexdigest(form.encode('utf-8', 'surrogatepass'))[:10]}"


def _is_of_interest(request: Request) -> bool:
    return is_plain(request) or (request.method == "GET" and follows_rules(request))


def _is_watched(request: Request) -> bool:
    return not request.dont_filter and _is_of_interest(request)


def _said_in_body(response: Response) -> Said | None:
    if not isinstance(response, TextResponse):
        return None
    kind = (response.headers.get("Content-Type") or b"").lower()
    return said_by(response.body, is_markup=b"html" in kind or b"xml" in kind or not kind)
