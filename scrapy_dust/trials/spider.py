"""The spider that fetches pages for trials, with the project's own settings and manners.

Its requests bypass our own canonizing and every cache: an answer from a cache that is keyed by the rules under test
would prove anything. `trials/manners.py` decides which requests reach the network, and `trials/pacing.py` when.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider, signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.asyncio import call_later
from twisted.python.failure import Failure

from scrapy_dust.judge.answers import Fetched
from scrapy_dust.sites import site_of
from scrapy_dust.trials.answers import fetched, unanswered, words_of
from scrapy_dust.trials.declarations import by_header
from scrapy_dust.trials.manners import RobotsUnavailable
from scrapy_dust.trials.pacing import Pace, Patience
from scrapy_dust.trials.rendering import rendering_meta
from scrapy_dust.trials.site_trials import SiteTrials
from scrapy_dust.trials.spending import OnProgress, OnText

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.utils.asyncio import CallLaterResult

#: The meta of our requests: not canonized, not cached, not recorded in the crawl log, and without a
#: referrer, since no page links to these URLs: some sites redirect by the referrer.
TRIAL_META = {"dust": False, "dont_cache": True, "dust_trial": True, "referrer_policy": "no-referrer"}


class TrialSpider(Spider):
    """Runs until every site's trials are finished or the budget is spent."""

    name = "dust-trials"

    def __init__(
        self,
        trials: Sequence[SiteTrials],
        budget: int,
        on_progress: OnProgress,
        patience: Patience | None = None,
        unbound: bool = False,
        render_meta: dict[str, Any] | None = None,
        on_text: OnText | None = None,
        ignore: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        """A spider for *trials* with at most *budget* fetches. *unbound*: the project's crawls do not obey robots.txt.
        *on_text* is called with the words of pages.

        *ignore*: CSS selectors of elements that do not count where pages are compared.
        """
        super().__init__(**kwargs)
        self.trials, self.budget = trials, budget
        self.interrupted = False
        self.paces = {site.site: Pace(patience or Patience()) for site in trials}
        self._on_progress, self._unbound, self._render_meta = on_progress, unbound, render_meta or {}
        self._on_text, self._ignore = on_text, ignore
        self._alarm: CallLaterResult | None = None
        self._strangers = 0  # requests so far that were made without cookies

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._on_idle, signal=signals.spider_idle)
        crawler.signals.connect(spider._on_closed, signal=signals.spider_closed)
        return spider

    @property
    def fetches(self) -> int:
        """The number of fetches so far."""
        return sum(pace.spent for pace in self.paces.values())

    async def start(self) -> AsyncIterator[Request]:
        """The first requests of all sites, one of each in turn, so that no site spends the budget of the others."""
        # Sites take turns, so that none spends the budget of the others.
        for site in self.trials:
            self.paces[site.site].push(site.wanted())
        asking = [(site, self._requests_now(site)) for site in self.trials]
        while asking:
            for site, requests in list(asking):
                request = next(requests, None)
                if request is None:
                    asking.remove((site, requests))
                else:
                    yield request

    def _requests_now(self, site: SiteTrials) -> Iterator[Request]:
        """Requests for what *site* waits for, as far as the budget and its pace allow."""
        pace = self.paces[site.site]
        while self.fetches < self.budget and site.given_up is None:
            url = pace.next_url(time.monotonic())
            if pace.too_long is not None:
                self._give_up(site, pace.too_long)
            if url is None:
                return
            yield self._request_for(site, url)

    def _request_for(self, site: SiteTrials, url: str) -> Request:
        """The request that fetches *url* of *site*, with its renderer and, where the trials want it, without cookies."""
        meta = TRIAL_META | rendering_meta(site.renderer(url), url, self._render_meta)
        if self._unbound and site.limits.has(url):
            meta["dont_obey_robotstxt"] = True
        if site.is_stateless(url):
            self._strangers += 1
            meta["dust_stranger"] = self._strangers
        return Request(
            url,
            callback=self.answered,
            errback=self.failed,
            dont_filter=True,
            meta=meta,
            cb_kwargs={"site": site, "asked": url},
        )

    def answered(self, response: Response, site: SiteTrials, asked: str) -> Iterator[Request]:
        """Give the answer to the trials of its site. Yields the next requests."""
        if site_of(response.url) == site.site:
            for value in response.headers.getlist("No-Vary-Search"):
                site.declared(by_header(value.decode("latin-1"), response.url))
        rendered = "playwright" in response.flags or bool(response.meta.get("_splash_processed"))
        if self._on_text is not None:
            self._on_text(asked, words_of(response, rendered=rendered))
        page = fetched(response, asked, rendered=rendered, ignore=self._ignore)
        return self._take_answer(site, page, response)

    def failed(self, failure: Failure) -> Iterator[Request]:
        """Tell the trials that a request brought no page. Yields the next requests."""
        request: Request = failure.request  # type: ignore[attr-defined]
        site, asked = request.cb_kwargs["site"], request.cb_kwargs["asked"]
        error = failure.value
        if isinstance(error, HttpError):
            return self._take_answer(site, unanswered(asked, error.response.status), error.response)
        if isinstance(error, RobotsUnavailable):
            return self._take_answer(site, unanswered(asked, error.status), error.response)
        if isinstance(error, IgnoreRequest):
            return self._leave_out(site, asked, asked_before="redirect_urls" in request.meta)
        return self._take_answer(site, unanswered(asked), None)

    def _leave_out(self, site: SiteTrials, asked: str, *, asked_before: bool) -> Iterator[Request]:
        """Tell the trials that *asked* must not be fetched. *asked_before*: a redirect led where we do not follow."""
        pace = self.paces[site.site]
        if asked_before:  # a redirect led where we do not follow
            pace.went_well()
        else:
            pace.not_sent()
        return self._pass_on(site, unanswered(asked))

    def _take_answer(self, site: SiteTrials, page: Fetched, response: Response | None) -> Iterator[Request]:
        """Give *page* to the trials of *site*; after a refusal, leave the site alone for a while. Yields the next requests."""
        pace = self.paces[site.site]
        if not page.is_refusal:
            pace.went_well()
            return self._pass_on(site, page)
        again = pace.refused(page.url, page.status, _retry_after(response), time.monotonic())
        if pace.too_long is not None:
            self._give_up(site, pace.too_long)
        self._set_wakeup()
        return self._requests_now(site) if again else self._pass_on(site, page)

    def _pass_on(self, site: SiteTrials, page: Fetched) -> Iterator[Request]:
        """Give *page* to the trials of *site*, and yield the requests that are wanted next."""
        self.paces[site.site].push(site.answer(page))
        self._on_progress(self)
        yield from self._requests_now(site)

    def _give_up(self, site: SiteTrials, reason: str) -> None:
        """Fetch nothing more from *site* in this run, for *reason*."""
        if site.given_up is None:
            self.logger.warning("%s is left alone for now: %s.", site.site, reason)
        site.give_up(reason)
        self.paces[site.site].clear()

    def _on_idle(self) -> None:
        """Wait when nothing is under way and a site is left alone for a while."""
        self._set_wakeup()
        if self._alarm is not None:
            raise DontCloseSpider

    def _set_wakeup(self) -> None:
        """Wake up when the first site that is left alone may be asked again."""
        paused = [
            self.paces[site.site].paused_until
            for site in self.trials
            if site.given_up is None and self.paces[site.site].is_waiting
        ]
        if paused and self._alarm is None and self.fetches < self.budget:
            self._alarm = call_later(max(0.01, min(paused) - time.monotonic()), self._send_due_requests)

    def _send_due_requests(self) -> None:
        self._alarm = None
        for site in self.trials:
            for request in self._requests_now(site):
                self.crawler.engine.crawl(request)

    def _on_closed(self, reason: str) -> None:
        self.interrupted = reason == "shutdown"
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def _retry_after(response: Response | None) -> float | None:
    """The seconds in the ``Retry-After`` header; None if it has no sensible value."""
    said = (
        (response.headers.get("Retry-After") or b"").decode("latin-1").strip() if response is not None else ""
    )
    try:
        if said.isdecimal():
            return float(said)
        until = parsedate_to_datetime(said)
    except ValueError:
        return None
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
