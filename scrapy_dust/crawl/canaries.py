"""Canaries: a few of the URLs that rules suppress, fetched all the same through the crawl's own queue.

A secret draw chooses them (`canary_draw`), and the spider gets their pages like any other. Each canary is compared with
the page of its keeper: at once if the bytes are the same or a redirect leads to the keeper; else by an inquiry
(`inquiries`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import xxhash
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response

from scrapy_dust.crawl.canary_draw import Draw
from scrapy_dust.crawl.components import Latest, listen
from scrapy_dust.crawl.requests import CANARY, LAST, canary_of, target_url
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.takings import Takings
from scrapy_dust.stats import Stat
from scrapy_dust.visits.outcomes import Outcome

if TYPE_CHECKING:
    from scrapy_dust.crawl.inquiries import Inquiries
    from scrapy_dust.crawl.pages_kept import PagesKept
    from scrapy_dust.judge.answers import Fetched

#: The number of pages that are remembered by a hash of their bytes: some 10 MB.
BODIES_REMEMBERED = 100_000

#: Answers that are kept while their keepers are waited for, for each keeper and in all. The pages of others are fetched again then.
EARLY_KEPT, ALL_KEPT = 16, 256
#: The most keepers that are waited for, and the most canaries that wait for them. Other canaries teach nothing.
EARLY_KEEPERS, EARLY_HELD = 10_000, 10_000

#: The most canaries that wait for their keepers with their own pages kept, parsed.
READINGS_HELD = 400

#: The most canaries that wait until the log says whether they show their keepers' pages.
ASKED = 200
#: The seconds for which each of these canaries may hold up the end of a crawl.
ANSWERED = 5.0

#: How much the priority of a canary is raised above requests queued with it: until it is judged, its rule goes on suppressing.
AHEAD = 1


#: Pages that may be fetched again to compare them: as a share of the crawl's responses, and in any case.
_SHARE, _FREE = 0.02, 12
#: Canaries with values on which rules are untested that need not come last: as a share of the responses, and in any case.
_BEYOND_SHARE, _BEYOND_FREE = 0.01, 3
#: The most fetches that comparing two pages takes.
AT_MOST = 5


class Budget:
    """The number of pages that one crawl may still fetch again to compare them."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._responses = 0
        listen(crawler, self._response_received)

    def _response_received(self) -> None:
        self._responses += 1

    @property
    def left(self) -> float:
        """How many pages the crawl may fetch again now."""
        asked = self._stats.get_value(Stat.CONTROLS.value, 0)
        return float(_FREE + _SHARE * self._responses - asked)

    @property
    def most_beyond(self) -> float:
        """How many URLs with values on which rules are untested may be canaries in their usual order by now; others come last."""
        return _BEYOND_FREE + _BEYOND_SHARE * self._responses


@dataclass(frozen=True, slots=True)
class Canary:
    """A URL that rules would have suppressed, fetched to test them."""

    url: str
    keeper: str  #: the URL that was fetched for the class
    key: str  #: of their class, in hex


@dataclass(frozen=True, slots=True)
class _Came:
    """The answer to a canary's request."""

    canary: Canary
    request: Request
    url: str  #: where redirects ended
    is_cached: bool
    body: int | None  #: a hash; None: empty
    page: Fetched | None  #: the page, read; None: *response* is kept instead, or nothing
    response: Response | None  #: the page as it came; None: it was read, or is not kept


class Canaries:
    """Sends the canaries of one crawl and compares each with its keeper.

    *concluded* is called with the result of each canary. *mark* is the key in a request's meta that marks a canary.
    *kept*: the latest pages; an inquiry is made only where two of these differ.
    """

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        concluded: Callable[[Canary, Outcome], None],
        draw: Draw,
        may_inquire: Callable[[Canary], bool],
        kept: PagesKept | None,
        mark: str = CANARY,
    ) -> None:
        self._rules, self._draw, self._mark = rules, draw, mark
        self._concluded, self._may_inquire = concluded, may_inquire
        self._crawler = crawler
        self._inquiries: Inquiries | None = None  #: from the first one on
        of_items = rules.settings.same == "items"
        self._takings = Takings(crawler, rules, concluded, mark) if of_items else None
        self._kept = None if of_items else kept
        self._bodies: Latest[int, int] = Latest(BODIES_REMEMBERED)  #: hash of a URL → of what it showed
        #: Where canaries were redirected to → the class of the first of them.
        self._landings: dict[str, str] = {}
        #: Keepers that have not come yet, by hash → the canaries that came before them.
        self._expected: dict[int, list[_Came]] = {}
        self._held = 0
        #: Asks a process that reads the log how a canary compares with its keeper. Then `told` comes. False: it cannot be
        #: asked.
        self.asks_log: Callable[[Canary], bool] = lambda canary: False
        self._asked: dict[str, tuple[_Came, float]] = {}  #: by URL, with when that was
        listen(crawler, self._spider_idle, self._response_received)

    def are_chosen(self, url: str) -> bool:
        """Whether the draw alone chooses *url* as a canary."""
        rate = self._rules.settings.canary_rate
        return rate > 0 and self._draw.chooses(url, rate)

    def are_being_judged(self) -> bool:
        """Whether any canary still waits for its result."""
        return bool(self._asked) or self.open > 0

    @property
    def open(self) -> int:
        """The number of canaries for which further pages are being fetched."""
        return 0 if self._inquiries is None else self._inquiries.open

    def told(self, url: str, *, is_same: bool) -> None:
        """Take from the log whether the canary *url* showed its keeper's page. False: the log cannot tell."""
        if url in self._asked:
            came, _ = self._asked.pop(url)
            self._judge(came, waits=False, is_same=is_same)

    def told_nothing(self) -> None:
        """Stop waiting for the log: no more answers come."""
        for url in list(self._asked):
            self.told(url, is_same=False)

    def send(
        self,
        request: Request,
        key: bytes,
        keeper: str | None,
        *,
        early: bool = False,
        comes_last: bool = False,
    ) -> None:
        """Let *request* through as a canary. Without a *keeper* to compare it with, the canary teaches nothing.

        *early*: the keeper's own page has not come yet. *comes_last*: the canary is fetched after all other requests.
        """
        if request.method == "HEAD":  # its answer shows nothing
            keeper = None
        if early and keeper is not None:
            # Nobody asks a site for a keeper's page before the spider has had the page: the site may show it once.
            if len(self._expected) < EARLY_KEEPERS:
                self._expected.setdefault(_hash(keeper), [])
            else:
                keeper = None
        request.meta[self._mark] = {"url": target_url(request), "keeper": keeper, "key": key.hex()}
        if comes_last:
            request.priority += LAST
        elif self._mark == CANARY and not early:
            request.priority += AHEAD

    def _response_received(self, response: Response, request: Request) -> None:
        if request.method == "HEAD" or not self._rules.may_cover(target_url(request)):
            return
        known = canary_of(request, self._mark)
        is_page = 200 <= response.status < 300
        if known is None and is_page:
            self._remember(request, response)
        elif known is not None and known["keeper"] is not None:
            canary = Canary(**known)
            if is_page:
                self._judge(self._read_answer(canary, response, request))
            else:  # nobody knows what it would have shown
                self._concluded(canary, Outcome.UNFETCHABLE)

    def _read_answer(self, canary: Canary, response: Response, request: Request) -> _Came:
        """The answer to *canary*: its page read for comparison or, if it cannot be read now, the response."""
        page = self._kept.read(response, self._shown_as(canary, response.url)) if self._kept else None
        return _Came(
            canary,
            request,
            response.url,
            "cached" in response.flags,
            xxhash.xxh3_64_intdigest(response.body) if response.body else None,
            page,
            response if page is None else None,
        )

    def _shown_as(self, canary: Canary, landed: str) -> str:
        """The URL whose page *canary* shows: where a redirect has *landed*, if that is a URL of its class."""
        is_one = self._rules.canonize(landed) == self._rules.canonize(canary.url)
        return landed if is_one else canary.url

    def _remember(self, request: Request, response: Response) -> None:
        """Remember the page of *response* for comparisons, and judge the canaries that waited for it."""
        body = xxhash.xxh3_64_intdigest(response.body)
        for url in {target_url(request), *request.meta.get("redirect_urls", ())[:1]}:
            if self._kept is not None:
                self._kept.keep(url, response)
            self._bodies[_hash(url)] = body
            for held in self._expected.pop(_hash(url), ()):
                self._held -= 1
                self._judge(held)

    def _judge(self, came: _Came, *, waits: bool = True, is_same: bool = False) -> None:
        """Compare the page of a canary with its keeper's page. *waits*: the canary may wait until that page has come."""
        canary = came.canary
        if self._rules.canonize(canary.url) != self._rules.canonize(canary.keeper):
            return  # it tests nothing any more: a rule was suspended meanwhile
        if waits and self._hold(came):
            return
        outcome = self._known_outcome(came)
        if outcome is None and self._kept is not None and came.page is not None:
            is_same |= self._kept.are_the_same(came.page, canary.keeper, self._rules.canonize)
        if outcome is None and is_same:
            outcome = Outcome.SAME
        if outcome is not None:
            self._concluded(canary, outcome)
        elif self._takings is not None:
            self._takings.judge(canary)
        elif waits and len(self._asked) < ASKED and self.asks_log(canary):
            self._asked[canary.url] = came, time.monotonic()
        elif self._may_inquire(canary):
            self._inquire(came)

    def _hold(self, came: _Came) -> bool:
        """Whether the canary that *came* waits for its keeper's page and is not judged now. If many wait, its own page is not kept."""
        keeper = _hash(came.canary.keeper)
        most = 0 if self._kept is None else READINGS_HELD
        if came.page is not None and self._held < most and keeper not in self._bodies:
            self._expected.setdefault(keeper, []).append(came)
        elif keeper in self._expected and self._held < EARLY_HELD:
            keeps = len(self._expected[keeper]) < EARLY_KEPT and self._held < ALL_KEPT
            self._expected[keeper].append(came if keeps else replace(came, page=None, response=None))
        else:
            return keeper in self._expected
        self._held += 1
        return True

    def _inquire(self, came: _Came) -> None:
        """Begin an inquiry about a canary, since the pages that the crawl has do not decide."""
        # Not loaded before: it brings all that compares texts.
        from scrapy_dust.crawl.inquiries import Inquiries, read_fetched  # noqa: PLC0415
        from scrapy_dust.crawl.judges import Judges  # noqa: PLC0415

        if self._inquiries is None:
            judges = Judges(self._rules.settings)
            self._inquiries = Inquiries(self._crawler, self._rules, self._concluded, judges)
        page = came.page
        if page is None and came.response is not None:
            shown_as = self._shown_as(came.canary, came.url)
            page = read_fetched(came.response, shown_as, self._rules.settings.ignore)
        keeper = None if self._kept is None else self._kept.page(came.canary.keeper)
        self._inquiries.begin(came.canary, page, came.request, keeper=keeper)

    def _spider_idle(self) -> None:
        """Stop waiting for keepers whose pages have not come. Wait a little longer for the log's answers."""
        expected, self._expected, self._held = self._expected, {}, 0
        for held in expected.values():
            for came in held:
                self._judge(came, waits=False)
        overdue = time.monotonic() - ANSWERED
        for url in [url for url, (_, asked) in self._asked.items() if asked < overdue]:
            self.told(url, is_same=False)
        if self._asked:
            raise DontCloseSpider

    def _known_outcome(self, came: _Came) -> Outcome | None:
        """The outcome that bytes and redirects alone decide; None if the texts must be compared."""
        canary = came.canary
        if came.is_cached:  # says what was, not what is
            return Outcome.UNKNOWN
        if came.body is not None and self._bodies.get(_hash(canary.keeper)) == came.body:
            return Outcome.SAME
        if came.url == canary.url or target_url(came.request) == canary.url:
            return None
        if came.url == canary.keeper:
            return Outcome.SAME
        if self._rules.canonize(came.url) == self._rules.canonize(canary.url):
            return None
        # A page to which several classes redirect is a login, a home or an error page, and no canary's own.
        first = self._landings.setdefault(came.url, canary.key)
        return None if first == canary.key else Outcome.UNKNOWN


def _hash(text: str) -> int:
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))
