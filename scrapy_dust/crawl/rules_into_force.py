"""Puts rules into force while a crawl goes on, whoever has learned or proved them.

The URLs whose pages the spider has taken get their new keys, a slice at a time so that the crawl never waits. URLs
that failed or have no answer yet get none, and stand for no class. Queued requests still have their old keys:
`DustScheduler` asks about each again when its turn comes. A job saves the rules before it makes any key by them.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import AsyncioLoopingCall, create_looping_call
from scrapy.utils.job import job_dir
from twisted.internet.task import LoopingCall

from scrapy_dust.crawl.components import CrawlLogger, listen
from scrapy_dust.crawl.enforcing import Enforcing
from scrapy_dust.crawl.job_rules import JobLearning
from scrapy_dust.crawl.requests import follows_rules
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.spider_answers import Doubt
from scrapy_dust.rules.rule import Rule

#: Seconds between two times that keys are made; and how many of them that takes.
_EVERY, _SLICE = 0.05, 0.008
#: The most URLs of all sites that get new keys. The classes of other URLs are fetched once more.
REMEMBERED = 500_000

Told = Callable[[str], None]


class ShownUrls:
    """The URLs of one crawl that have shown pages.

    The oldest URLs of a site are forgotten first, beginning with the site that was seen longest ago.
    """

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._count = 0
        self.by_site: OrderedDict[str, deque[str]] = OrderedDict()  #: the remembered URLs of each site
        self._work: OrderedDict[str, Iterator[object]] = OrderedDict()

    def __len__(self) -> int:
        return self._count

    def add(self, site: str, url: str) -> None:
        """Remember that *url* of *site* has shown a page."""
        self.by_site.setdefault(site, deque()).append(url)
        self.by_site.move_to_end(site)
        self._count += 1
        while self._count > self._most:
            name, oldest = next(iter(self.by_site.items()))
            oldest.popleft()
            self._count -= 1
            if not oldest:
                del self.by_site[name]

    def make_again(self, site: str, make: Told) -> None:
        """Call *make* with each URL of *site*, while `go_on` has time. A run under way for *site* begins anew."""
        self._work[site] = map(make, list(self.by_site.get(site, ())))

    def go_on(self, seconds: float) -> None:
        """Call the functions that `make_again` was given, with one URL after the other, for at most *seconds* seconds."""
        until = time.monotonic() + seconds
        while self._work and time.monotonic() < until:
            site = next(iter(self._work))
            if next(self._work[site], self) is self:
                del self._work[site]

    @property
    def is_made(self) -> bool:
        """Whether all URLs have been given to the functions that `make_again` was asked to call."""
        return not self._work


class IntoForce:
    """Puts new rules into force in one crawl."""

    def __init__(self, crawler: Crawler, rules: CrawlRules, enforcing: Enforcing) -> None:
        self._crawler, self._rules, self._enforcing = crawler, rules, enforcing
        #: What the crawl, or the job before it was paused, has learned.
        self.learned: dict[str, set[Rule]] = {site: set(of) for site, of in rules.before.rules.items()}
        self._shown = ShownUrls()
        #: What callbacks made of pages and may have made too little of, by the numbers that the URLs of such pages have.
        self._doubts: dict[Doubt, int] = {}
        self._also: dict[str, Told] = {}  #: sites that are known by new keys → who else is told of their URLs
        jobdir = job_dir(crawler.settings)
        self.job = None if jobdir is None else JobLearning(jobdir, rules.settings)
        for site, urls in self.job.shown().items() if self.job is not None else ():
            for url in urls:
                self._shown.add(site, url)
        self._going_on: AsyncioLoopingCall | LoopingCall | None = None
        enforcing.outcomes.told.append(self._note_taken)
        listen(crawler, self._spider_opened, self._spider_closed)

    def put(self, site: str, new: Sequence[Rule]) -> bool:
        """Put the *new* rules of *site* into force; call `make_keys` next. False if the job cannot save them."""
        together = (*self._rules.canonizer.rules(site), *new)
        try:
            if self.job is not None:
                self.job.add_rules(site, together)
        except OSError as error:
            said = "Rules of %s do not come into force, since this job could not go on with them: %s"
            CrawlLogger(__name__, self._crawler).warning(said, site, error)
            return False
        self.learned.setdefault(site, set()).update(new)
        self._rules.add_rules(site, together)
        return True

    def make_keys(self, site: str, also: Told = lambda url: None) -> None:
        """Make new keys for the URLs of *site* that have shown pages. *also* is called with each URL, later ones included."""
        self._also[site] = also

        def make(shown: str) -> None:
            url, _, handled = self._belief_text(shown).partition(" ")
            if url:
                also(url)
                self._enforcing.note_page(url, handled)

        self._shown.make_again(site, make)

    @property
    def is_made(self) -> bool:
        """Whether all new keys are made."""
        return self._shown.is_made

    def _belief_text(self, shown: str) -> str:
        """The entry *shown* of a URL, without the doubt in it. Empty if the doubt has proved right: the callback makes more of others."""
        url, _, rest = shown.partition(" ")
        if not rest.startswith("?"):
            return shown
        number, _, handled = rest[1:].partition(" ")
        doubt = list(self._doubts)[int(number)]
        return "" if self._enforcing.outcomes.callbacks.has_made_more(*doubt) else f"{url} {handled}"

    def _note_taken(self, request: Request, doubt: Doubt | None) -> None:
        """Remember the URL of *request*, whose page the spider has taken, for new keys. *doubt*: the callback, and what it made of
        the page, if it may still turn out to make more of other pages.
        """
        site = self._rules.site_of(request.url)
        if site is None or not self._rules.may_get_rules(site) or not follows_rules(request):
            return
        handled = self._enforcing.naming.handling_name(request)
        if handled is None:
            return
        # No URL has a space.
        number = "" if doubt is None else f"?{self._doubts.setdefault(doubt, len(self._doubts))} "
        self._shown.add(site, f"{request.url} {number}{handled}")
        if site in self._also and doubt is None:
            self._also[site](request.url)
            self._enforcing.note_page(request.url, handled, request)

    def _spider_opened(self) -> None:
        for site in self._rules.before.rules:
            if site not in self._also:
                self.make_keys(site)
        self._going_on = create_looping_call(self._shown.go_on, _SLICE)
        self._going_on.start(_EVERY, now=False)

    def _spider_closed(self) -> None:
        if self._going_on is not None and self._going_on.running:
            self._going_on.stop()
        if self.job is not None and self.learned:
            by_site = self._shown.by_site.items()
            shown = {site: list(filter(None, map(self._belief_text, urls))) for site, urls in by_site}
            self.job.save_shown(shown)
