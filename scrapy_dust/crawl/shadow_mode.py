"""Shadow mode: measures what enforcing the rules would have saved, and what it would have lost.

Every page is fetched, and each page that rules would suppress is compared with its keeper's page, both as they came.
Where the two differ, one may have changed in between: the first few such pages of each rule are fetched again, as
canaries are, until the result is plain, and later a share of ``DUST_CANARY_RATE``. All that takes at most a fiftieth
of the crawl's requests. Pages that are not fetched again count as open: at worst, all of them would have been lost.
"""

from __future__ import annotations

from collections import Counter

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response

from scrapy_dust.believe.blame import rules_at_work
from scrapy_dust.crawl.canaries import AT_MOST, Budget, Canaries, Canary
from scrapy_dust.crawl.canary_draw import Draw
from scrapy_dust.crawl.class_names import Naming
from scrapy_dust.crawl.components import listen
from scrapy_dust.crawl.life import SETTLED, Class
from scrapy_dust.crawl.requests import SHADOW, canary_of, follows_rules, redirect_chain
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.rules.rule import Rule
from scrapy_dust.stats import Stat
from scrapy_dust.visits.outcomes import Outcome

#: How many URLs that a rule would have filtered are fetched again; and how many suffice if all show the same.
_LOOKED_AT, _UNANIMOUS = 10, 3

_STATS = {Outcome.SAME: Stat.SHADOW_SAME, Outcome.DIFFERENT: Stat.SHADOW_DIFFERENT}

#: A rule of a site: what one site shows of it says nothing of another.
_OfSite = tuple[str, Rule]


class Shadow:
    """The measurement of shadow mode in one crawl."""

    def __init__(self, crawler: Crawler, rules: CrawlRules, naming: Naming, draw: Draw) -> None:
        self._crawler, self._rules, self._naming = crawler, rules, naming
        #: By key that would have been seen, the class with the place of the URL that was fetched.
        self._seen: dict[bytes, Class] = {}
        self._looked_at: Counter[_OfSite] = Counter()
        self._said: dict[_OfSite, Counter[Outcome]] = {}  # by those that were looked at
        self._inquired: dict[Canary, tuple[_OfSite, ...]] = {}
        self._budget = Budget(crawler)
        # Not loaded before: it brings all that compares pages.
        from scrapy_dust.crawl.pages_kept import PagesKept  # noqa: PLC0415

        kept = PagesKept(rules.settings)
        self._canaries = Canaries(crawler, rules, self._count_outcome, draw, self._looks_again, kept, SHADOW)
        listen(crawler, self._response_received)

    def watch(self, request: Request) -> None:
        """Compare the page of *request*, if rules cover it, with its keeper's when it comes."""
        if not follows_rules(request) or not self._rules.canonizer.covers(request.url):
            return
        key = self._naming.unenforced_key(request)
        if key not in self._seen:
            self._seen[key] = SETTLED._replace(keeper=self._naming.note_fetched(key, request.url))
        elif key not in map(self._naming.unenforced_key, redirect_chain(request)):
            known = self._seen[key]
            keeper = self._naming.keeper(key, known)
            self._naming.count(request, lambda: keeper, self._naming.merging_rules(request.url, known))
            self._canaries.send(request, key, keeper)

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        if canary_of(request, SHADOW) is not None:
            self._crawler.stats.inc_value(Stat.SHADOW_BYTES.value, len(response.body))

    def _looks_again(self, canary: Canary) -> bool:
        """Whether the page of *canary*, which differs from its keeper's, is fetched again."""
        site = self._rules.site_of(canary.url) or ""
        working = rules_at_work(self._rules.canonizer, canary.url, canary.keeper)
        rules = tuple((site, rule) for rule in working)
        is_wanted = not all(map(self._is_decided, rules)) or self._canaries.are_chosen(canary.url)
        if not is_wanted or self._budget.left <= AT_MOST * self._canaries.open:
            self._crawler.stats.inc_value(Stat.SHADOW_OPEN.value)
            return False
        self._looked_at.update(rules)
        self._inquired[canary] = rules
        return True

    def _is_decided(self, rule: _OfSite) -> bool:
        """Whether the pages of *rule* that differ have been fetched again often enough to know what they show."""
        said = self._said.get(rule, Counter())
        agree = len(said) == 1 and said.total() >= _UNANIMOUS
        return agree or self._looked_at[rule] >= _LOOKED_AT

    def _count_outcome(self, canary: Canary, outcome: Outcome) -> None:
        """Count *outcome* in the stats and for the rules that merge *canary* with its keeper."""
        for rule in self._inquired.pop(canary, ()):
            self._said.setdefault(rule, Counter())[outcome] += 1
        self._crawler.stats.inc_value(_STATS.get(outcome, Stat.SHADOW_UNKNOWN).value)
