"""Finds out with a few fetches whether a canary shows the page of its keeper.

The keeper is fetched again, now and in the same way, since pages change with time. If the two pages differ, each is
fetched once more: parts that change at each fetch do not count. A page that equals the site's answer for URLs that
cannot exist, beside it and elsewhere, proves nothing. If the keeper has no page, the canaries of its class are compared with the first of them.
These fetches bypass the scheduler and all caches, keep the delays of the site, and are not recorded.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro

from scrapy_dust.crawl.canaries import Canary
from scrapy_dust.crawl.components import Latest, listen
from scrapy_dust.crawl.judges import Judges
from scrapy_dust.crawl.requests import asked_again, is_rendered
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.judge.answers import Fetched, Known
from scrapy_dust.judge.inquiry import Ask, Finding, inquire
from scrapy_dust.stats import Stat
from scrapy_dust.visits.outcomes import Outcome

logger = logging.getLogger(__name__)

#: The most inquiries that run at a time, and that wait. Further inquiries are dropped.
_AT_A_TIME, _WAITING = 8, 200

#: The most classes without a keeper's page of which a canary with a page is remembered.
_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """A canary to be compared with its keeper, and the pages of the two that are at hand."""

    canary: Canary
    request: Request  #: the request that brought the page
    page: Fetched | None  #: None: it is asked for again
    key: Callable[[str], str]  #: of a URL, by the rules that make the two one class
    keeper: Fetched | None  #: the page of the keeper, as it came; None: it is not at hand


class Inquiries:
    """The inquiries of one crawl.

    *concluded* is told the result of each inquiry. *both_linked*: the site links both URLs of each pair, and no other
    URL is fetched.
    """

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        concluded: Callable[[Canary, Outcome], None],
        judges: Judges,
        *,
        both_linked: bool = False,
    ) -> None:
        self._crawler, self._rules, self._concluded = crawler, rules, concluded
        self._judges, self._both_linked = judges, both_linked
        self._nothing: dict[str, Fetched] = {}  #: what the site answers for URLs that cannot exist
        #: Class → its first canary, where its keeper has no page.
        self._instead: Latest[str, str] = Latest(_REMEMBERED)
        self._under_way = 0
        self._waiting: deque[_Inquiry] = deque()
        listen(crawler, self._spider_idle)

    @property
    def open(self) -> int:
        """The number of inquiries that have no result yet."""
        return self._under_way + len(self._waiting)

    def begin(
        self,
        canary: Canary,
        page: Fetched | None,
        request: Request,
        key: Callable[[str], str] | None = None,
        keeper: Fetched | None = None,
    ) -> None:
        """Compare *page*, which *request* brought and which is fetched again if it is None, with the keeper's page.

        *key* gives the key of a URL by the rules under test, if these are not the rules in force. *keeper*: the
        keeper's page as the crawl got it, if it is at hand: parts that have changed since then change at each fetch.
        """
        if len(self._waiting) >= _WAITING or is_rendered(request):
            # A rendered page cannot be asked for again in the same way.
            self._concluded(canary, Outcome.UNKNOWN)
            return
        self._waiting.append(_Inquiry(canary, request, page, key or self._rules.canonize, keeper))
        self._start_waiting()

    def _start_waiting(self) -> None:
        """Start inquiries that wait, as many as may run at a time."""
        while self._waiting and self._under_way < _AT_A_TIME:
            inquiry = self._waiting.popleft()
            # Where a rule was suspended meanwhile, the two may be no class any more.
            if inquiry.key(inquiry.canary.url) == inquiry.key(inquiry.canary.keeper):
                self._under_way += 1
                deferred_from_coro(self._run(inquiry))

    def _spider_idle(self) -> None:
        if self._under_way:
            raise DontCloseSpider

    async def _run(self, inquiry: _Inquiry) -> None:
        """Carry out *inquiry* and report its outcome, also if something fails."""
        outcome = Outcome.UNKNOWN
        try:
            outcome = await self._inquire(inquiry)
            if outcome is Outcome.UNFETCHABLE and (other := self._with_another(inquiry)) is not None:
                inquiry, outcome = other, await self._inquire(other)
        except Exception:  # whatever a page or a middleware has against it: nothing is learned
            logger.debug("Could not compare %s.", inquiry.canary, exc_info=True)
        self._under_way -= 1
        self._concluded(inquiry.canary, outcome)
        self._start_waiting()

    def _with_another(self, inquiry: _Inquiry) -> _Inquiry | None:
        """*inquiry* with an earlier canary of the class in the place of the keeper, which has no page; or None."""
        canary = inquiry.canary
        first = self._instead.setdefault(canary.key, canary.url)
        return None if first == canary.url else replace(inquiry, canary=replace(canary, keeper=first))

    async def _inquire(self, inquiry: _Inquiry) -> Outcome:
        """The outcome of *inquiry*, after as many fetches as it takes."""
        canary = inquiry.canary
        judge = self._judges.judge_for(canary.url)
        keeper = inquiry.keeper
        steps = inquire(
            canary.url,
            canary.keeper,
            judge,
            known_target=None if keeper is None else Known(keeper.shown, keeper.text_digest, at=keeper.at),
            both_linked=self._both_linked,
            both_shown=not self._both_linked,
            key=inquiry.key,
        )
        try:
            ask = next(steps)
            while True:
                page = await self._answer_to(ask, inquiry)
                if not (ask.beside or ask.elsewhere):
                    judge.learn(page)
                ask = steps.send(page)
        except StopIteration as end:
            found: Finding = end.value
        return found.outcome

    async def _answer_to(self, ask: Ask, inquiry: _Inquiry) -> Fetched:
        """The page that *ask* asks for: the canary's own if it is at hand, else a fetched one."""
        if inquiry.page is not None and ask == Ask(inquiry.canary.url):
            return inquiry.page
        if ask.beside or ask.elsewhere:
            return await self._nonsense_page(ask, inquiry)
        return await self._fetch(ask.url, inquiry.request)

    async def _nonsense_page(self, ask: Ask, inquiry: _Inquiry) -> Fetched:
        """The site's answer for a URL that cannot exist, in the folder of the URL that *ask* names or elsewhere."""
        # Not loaded before: it brings all of the trials.
        from scrapy_dust.trials.surveying import nonsense_beside, nonsense_elsewhere  # noqa: PLC0415

        made_up = (nonsense_beside if ask.beside else nonsense_elsewhere)(ask.url)
        if made_up not in self._nothing:
            self._nothing[made_up] = await self._fetch(made_up, inquiry.request)
        return self._nothing[made_up]

    async def _fetch(self, url: str, like: Request) -> Fetched:
        """Fetch *url* with a request *like* one of the crawl's."""
        self._crawler.stats.inc_value(Stat.CONTROLS.value)
        request = asked_again(like, url)
        try:
            response = await self._crawler.engine.download_async(request)
        except Exception:  # noqa: BLE001  No answer, for whatever reason the downloader or a middleware has.
            return Fetched(url, url, None)
        return read_fetched(response, url, self._rules.settings.ignore)


def read_fetched(response: Response, asked: str, ignore: Sequence[str] = ()) -> Fetched:
    """The page in *response*, fetched for the URL *asked*, in the form that a judge compares, without *ignore*."""
    # Not loaded by a crawl without canaries.
    from scrapy_dust.trials.answers import fetched  # noqa: PLC0415

    return fetched(response, asked, rendered="playwright" in response.flags, ignore=ignore)
