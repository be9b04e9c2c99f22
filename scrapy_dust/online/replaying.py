"""Replays a log as a crawl that learns while it goes on: unique pages found by number of fetches, for each method.

URLs come in the order of the log. A URL that waits is fetched after all others. A log does not tell which links only
that page has, so these come later in a real crawl, and never earlier.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from scrapy_dust.believe.blame import decisive_rules, rules_at_work
from scrapy_dust.believe.reach import Reach
from scrapy_dust.online.gate import LEAST_AT_A_TIME, PART_AT_A_TIME, Gate, Step
from scrapy_dust.online.learner import OnlineLearner
from scrapy_dust.page.site_log import site_log
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import SiteLog, Visit

Key = Callable[[str], str]
#: Min-hashes of four that two pages may share and be different.
_ALIKE = 2
#: Pages before a method that learns again and again does so for the first time.
_LEAST = 20


@dataclass(frozen=True, slots=True)
class OnlineCrawl:
    """The result of a replayed crawl of one site."""

    urls: int  #: that a crawl without rules fetches
    contents: int  #: in them
    fetched: Sequence[str]  #: in this order
    uniques: Sequence[int]  #: contents seen after each fetch

    @property
    def redundant(self) -> int:
        """The number of URLs that repeat a content."""
        return self.urls - self.contents

    @property
    def avoided(self) -> int:
        """The number of URLs that were not fetched."""
        return self.urls - len(self.fetched)

    @property
    def lost(self) -> int:
        """The number of contents that were not found."""
        return self.contents - (self.uniques[-1] if self.uniques else 0)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The URLs of one site in the order in which they come to a crawl, with the content that each shows."""

    site: str
    urls: Sequence[str]
    visits: Mapping[str, Sequence[Visit]]  #: by URL
    truth: Mapping[str, Hashable]

    def crawl(self, fetched: Sequence[str]) -> OnlineCrawl:
        """The result of a crawl that fetches the URLs *fetched*."""
        uniques, seen = [], set[Hashable]()
        for url in fetched:
            seen.add(self.truth[url])
            uniques.append(len(seen))
        return OnlineCrawl(len(self.urls), len({self.truth[url] for url in self.urls}), fetched, uniques)


def arrivals_of(visits: Mapping[str, Sequence[Visit]], truth: Mapping[str, Hashable]) -> Iterator[Arrivals]:
    """The arrivals of each site of a log."""
    for site, of_site in visits.items():
        by_url: dict[str, list[Visit]] = {}
        for visit in of_site:
            by_url.setdefault(visit.url, []).append(visit)
        urls = [url for url in by_url if url in truth]
        if urls:
            yield Arrivals(site, urls, by_url, truth)


def with_keys(arrivals: Arrivals, key: Key) -> OnlineCrawl:
    """A crawl by keys that are known from the start."""
    return _with_names(arrivals, key)


def with_knowledge(arrivals: Arrivals) -> OnlineCrawl:
    """A crawl that knows what each URL shows: no method can fetch less without losing a page."""
    return _with_names(arrivals, arrivals.truth.__getitem__)


def _with_names(arrivals: Arrivals, name: Callable[[str], Hashable]) -> OnlineCrawl:
    """A crawl that fetches the first URL of each *name*."""
    first: dict[Hashable, str] = {}
    for url in arrivals.urls:
        first.setdefault(name(url), url)
    return arrivals.crawl(list(first.values()))


def with_relearning(arrivals: Arrivals, learn: Callable[[SiteLog], Key], growth: float = 0.2) -> OnlineCrawl:
    """A crawl that learns from the pages fetched so far, and learns again whenever they have grown by the share *growth*."""
    fetched: list[str] = []
    key: Key = str
    keys: set[str] = set()
    next_look = _LEAST
    for url in arrivals.urls:
        if (form := key(url)) in keys:
            continue
        fetched.append(url)
        keys.add(form)
        if len(fetched) >= next_look:
            key = learn(site_log(visit for one in fetched for visit in arrivals.visits[one]))
            keys = {key(one) for one in fetched}
            next_look = max(len(fetched) + _LEAST, round(len(fetched) * (1 + growth)))
    return arrivals.crawl(fetched)


def online(arrivals: Arrivals, settings: DustSettings, pool: Pool = NOTHING_POOLED) -> OnlineCrawl:
    """A crawl with ``DUST_LEARN = "online"``."""
    return arrivals.crawl(_Online(arrivals, OnlineLearner(settings, pool), settings).fetch_all())


class _Online:
    """Learns while it replays the arrivals of one site, as a crawl with ``DUST_LEARN = "online"`` does."""

    def __init__(self, arrivals: Arrivals, learner: OnlineLearner, settings: DustSettings) -> None:
        self._arrivals, self._learner, self._passes = arrivals, learner, settings.passes
        in_units = (
            visit for of_url in arrivals.visits.values() for visit in of_url if visit.units is not None
        )
        self._comparing = site_log(in_units).comparing
        self._gate = Gate(arrivals.site, site_of, settings.passes)
        self._reach = Reach(settings.max_risk)
        self._canonizer = Canonizer({}, site_of)
        self._queue = deque(arrivals.urls)
        self._waiting: list[str] = []
        self._fetched: list[str] = []
        self._keepers: dict[str, str] = {}  #: by key
        self._suppressed: dict[str, tuple[Rule, ...]] = {}  #: URLs, by what

    def fetch_all(self) -> list[str]:
        """The URLs that the crawl fetches, in order."""
        while self._queue or self._waiting:
            while self._queue:
                self._take(self._queue.popleft())
                self._look(list(self._learner.due()))
            some = max(LEAST_AT_A_TIME, round(PART_AT_A_TIME * len(self._fetched)))
            undecided, self._waiting = self._waiting[:some], self._waiting[some:]
            for url in undecided:
                # What was decided meanwhile by those before it is not fetched.
                self._take(url, waited=True)
            self._look([*self._learner.due(), self._arrivals.site] if undecided else [])
        return self._fetched

    def _take(self, url: str, *, waited: bool = False) -> None:
        """Fetch *url*, suppress it, or let it wait. *waited*: it must not wait again."""
        step = self._gate.step(url)
        if step is Step.WAIT and not waited:
            self._waiting.append(url)
        elif step is Step.SUPPRESS:
            self._suppress(url)
        else:
            self._fetch(url)

    def _suppress(self, url: str) -> None:
        """Suppress *url*; or fetch it as a test, where it has values that are new to the rule."""
        keeper = self._keepers[self._gate.key(url)]
        rules = rules_at_work(self._canonizer, url, keeper)
        if not self._reach.is_beyond(rules, url, keeper):
            self._suppressed[url] = rules
            return
        self._fetch(url)
        if self._differ(url, keeper):
            self._refute(decisive_rules(self._canonizer, self._arrivals.site, url, keeper))
        else:
            self._reach.confirm(rules, url, keeper, hash(keeper))

    def _differ(self, url: str, keeper: str) -> bool:
        """Whether the two URLs show different pages. False if a page of either may only have changed."""
        if self._comparing is not None:
            return self._comparing.compare(url, keeper)[0] is Outcome.DIFFERENT
        one, other = (self._arrivals.visits[which][0] for which in (url, keeper))
        if one.text_digest == other.text_digest or None in (one.text_digest, other.text_digest):
            return False
        alike = zip(one.sketch or (), other.sketch or (), strict=False)
        return sum(a == b for a, b in alike) <= _ALIKE

    def _refute(self, rules: Sequence[Rule]) -> None:
        """Refute *rules* at once; a real crawl fetches some more canaries first."""
        for rule in rules:
            self._learner.refute(self._arrivals.site, rule)
        self._give_back(rules)
        self._go_by([rule for rule in self._gate.rules if rule not in rules], self._gate.likely)

    def _give_back(self, rules: Collection[Rule]) -> None:
        """Queue all URLs that *rules* have suppressed, before all others."""
        back = [url for url, by in self._suppressed.items() if not set(rules).isdisjoint(by)]
        for url in back:
            del self._suppressed[url]
        self._queue.extendleft(reversed(back))

    def _fetch(self, url: str) -> None:
        self._fetched.append(url)
        self._gate.let_through(url)
        self._keepers.setdefault(self._gate.key(url), url)
        for visit in self._arrivals.visits[url]:
            self._learner.see(visit)

    def _look(self, sites: Sequence[str]) -> None:
        """Look at *sites*, and go by the new rules; then all URLs that wait are judged again."""
        found = [self._learner.look(site) for site in dict.fromkeys(sites)]
        if any(found):
            for finding in found:
                if finding is not None:
                    self._reach.limit(finding.rules, finding.held)
                    false = [
                        rule for rule in self._gate.rules if rule_id(finding.site, rule) in finding.refuted
                    ]
                    self._give_back(false)
                    stay = [rule for rule in self._gate.rules if rule not in false]
                    self._go_by(list(dict.fromkeys((*stay, *finding.rules))), finding.likely)
            # Each of them may be decided now, or be what decides another rule.
            self._queue.extendleft(reversed(self._waiting))
            self._waiting = []

    def _go_by(self, rules: Sequence[Rule], likely: Sequence[Rule]) -> None:
        """Go by *rules* and *likely* rules from now on."""
        self._canonizer = Canonizer({self._arrivals.site: rules}, site_of, self._passes)
        self._gate.change(rules, likely, self._fetched)
        self._keepers = {}
        for url in self._fetched:
            self._keepers.setdefault(self._gate.key(url), url)
