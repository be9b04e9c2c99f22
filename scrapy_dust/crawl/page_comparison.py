"""Compares pairs of pages that a crawl has fetched anyway, as evidence about rules on probation.

If the pages are the same, nothing more is fetched. If they differ, a part of them may change at each fetch: both
pages are fetched again, and a difference counts only if it is still there. At most a fiftieth of the crawl's requests
goes into these second fetches, and none where ``DUST_CANARY_RATE`` is 0.

A page that several classes show belongs to none of them: it is a login wall, or what the site says when it has
nothing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response

from scrapy_dust.crawl.canaries import AT_MOST, Budget, Canary
from scrapy_dust.crawl.components import Latest
from scrapy_dust.crawl.inquiries import Inquiries
from scrapy_dust.crawl.pages_kept import PagesKept, body_hash
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.takings import Takings
from scrapy_dust.judge.answers import Fetched
from scrapy_dust.page.compare import Same
from scrapy_dust.visits.outcomes import Outcome

#: The most pairs of a rule that are fetched again: if only that rule may be to blame, and if several may be.
_LOOKED_AT, _LOOKED_AT_TOGETHER = 20, 3
#: The most pairs that are fetched again at a time.
_AT_A_TIME = 3
#: Classes that may show one page; and pages of other classes with which a new one is compared.
_CLASSES, _OTHERS = 2, 4
#: The most contents for which is remembered whether they prove anything.
_KNOWN = 20_000


@dataclass(frozen=True, slots=True)
class Compared:
    """Two URLs that rules on probation make one class."""

    site: str
    url: str
    first: str  #: the URL that has shown the page of the class first
    content: int  #: a name of the class
    rules: tuple[int, ...]  #: that are to blame, by the ids of their objects


class Comparing:
    """Compares the pairs of pages of one crawl.

    *concluded* is told the outcome of each pair, whether it is sure, and whether pages were fetched again for it.
    *voided* is told which contents of a site turned out to be one page.
    """

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        concluded: Callable[[Compared, Outcome, bool, bool], None],
        voided: Callable[[str, list[int]], None],
    ) -> None:
        self._rules = rules
        self._concluded, self._voided = concluded, voided
        self._kept = PagesKept(rules.settings)
        #: Whether the page of a URL is kept here; keeps a page for later comparisons.
        self.has, self.keep = self._kept.has, self._kept.keep
        self._judges = self._kept.judges
        self._inquiries = Inquiries(crawler, rules, self._take_outcome, self._judges, both_linked=True)
        of_items = rules.settings.same == "items"
        self._takings = Takings(crawler, rules, self._take_outcome, "") if of_items else None
        self._asked: dict[Canary, Compared] = {}  #: of which more is to come
        self._open = Counter[int]()  #: rules, with pairs that are being looked at again
        self._looked_at = Counter[int]()
        self._says: Latest[tuple[str, int], bool] = Latest(_KNOWN)  #: contents, and whether they say anything
        self._showing: Latest[tuple[str, int], list[int]] = Latest(_KNOWN)  #: what pages show → contents
        self._others: dict[str, deque[tuple[int, Fetched]]] = {}  #: by site, pages of the last contents
        self._budget = Budget(crawler)

    def is_open(self, rule: int) -> bool:
        """Whether pages that *rule* merges looked different and are being fetched again."""
        return self._open[rule] > 0

    def compare(
        self, pair: Compared, response: Response, request: Request, key: Callable[[str], str]
    ) -> None:
        """Compare *response*, which came for *pair*'s URL, with the first page of the pair.

        *key* gives the key of a URL by the rules in force and the rules under test.
        """
        if self._kept.has_bytes(pair.first, body_hash(response)):
            self._conclude(pair, Outcome.SAME)
        elif self._takings is not None:
            self._asked[_canary_for(pair)] = pair
            self._takings.judge(_canary_for(pair))
        else:
            self._compare_pages(pair, response, request, key)

    def _compare_pages(
        self, pair: Compared, response: Response, request: Request, key: Callable[[str], str]
    ) -> None:
        """Compare the two pages of *pair*, as they came; begin a second fetch if they differ."""
        page, there = self._kept.read(response, pair.url), self._kept.page(pair.first)
        if page is None or there is None or not (self._is_page(page) and self._is_page(there)):
            self._conclude(pair, Outcome.UNKNOWN)
            return
        judge = self._judges.judge_for(page.final_url)
        judge.learn(there)
        verdict = judge.compare(page, there, key=key)
        if verdict.same is Same.SAME:
            self._conclude(pair, Outcome.SAME)
        elif any(self._open[rule] >= _AT_A_TIME for rule in pair.rules):
            pass  # those that are being looked at say how this one is to be read
        elif self._may_look_again(pair):
            self._asked[_canary_for(pair)] = pair
            self._open.update(pair.rules)
            self._looked_at.update(pair.rules)
            self._inquiries.begin(_canary_for(pair), page, request, key, there)
        elif verdict.same is Same.DIFFERENT or not (verdict.only_a or verdict.only_b):
            # Where the two differ at places that change on other pages, only a further look would tell.
            unsure = verdict.same is Same.DIFFERENT
            self._conclude(pair, Outcome.DIFFERENT if unsure else Outcome.UNKNOWN, is_sure=not unsure)

    def _is_page(self, page: Fetched) -> bool:
        """Whether *page* is a page of its own: no wall, and no answer for missing pages."""
        judge = self._judges.judge_for(page.final_url)
        return page.shown is not None and not judge.is_nothing(page) and not judge.is_marked(page)

    def _may_look_again(self, pair: Compared) -> bool:
        """Whether the pages of *pair* may be fetched again, by the limits for each rule and for the crawl."""
        if self._rules.settings.canary_rate == 0 or self._budget.left <= AT_MOST * len(self._asked):
            return False
        most = _LOOKED_AT if len(pair.rules) == 1 else _LOOKED_AT_TOGETHER
        return all(self._looked_at[rule] < most for rule in pair.rules)

    def _take_outcome(self, canary: Canary, outcome: Outcome) -> None:
        """Take the *outcome* for *canary*, of a second fetch or of a comparison of the spider's items."""
        pair = self._asked.pop(canary, None)
        if pair is None:
            return
        self._open.subtract(rule for rule in pair.rules if self._open[rule])
        self._conclude(pair, outcome, looked_again=self._takings is None)

    def _conclude(
        self, pair: Compared, outcome: Outcome, *, is_sure: bool = True, looked_again: bool = False
    ) -> None:
        """Report the *outcome* of *pair*. Equal pages count only if no other class shows the same page."""
        if outcome is Outcome.SAME and not self._proves_something(pair):
            outcome = Outcome.UNKNOWN
        self._concluded(pair, outcome, is_sure, looked_again)

    # -- pages that say nothing

    def _proves_something(self, pair: Compared) -> bool:
        """Whether no other class shows the page that both URLs of *pair* show, so that equality proves something."""
        name = (pair.site, pair.content)
        if name not in self._says:
            self._says[name] = self._is_of_own_class(pair)
        return self._says[name]

    def _is_of_own_class(self, pair: Compared) -> bool:
        """Whether few enough classes show the page of *pair*; if not, all that it has proved is taken back."""
        page = self._kept.page(pair.first)
        if page is None or not self._is_page(page):
            return False
        assert page.shown is not None
        self._judges.judge_for(page.final_url).learn(page)
        showing = self._showing.setdefault((pair.site, self._content_name(pair.site, page)), [])
        showing.append(pair.content)
        self._others.setdefault(pair.site, deque(maxlen=_OTHERS)).append((page.shown.units.total, page))
        if len(showing) <= _CLASSES:
            return True
        for content in showing:
            self._says[pair.site, content] = False
        self._voided(pair.site, showing)
        return False

    def _content_name(self, site: str, page: Fetched) -> int:
        """A name for the content of *page*; pages of *site* with the same content get the same name."""
        judge = self._judges.judge_for(page.final_url)
        for name, other in self._others.get(site, ()):
            if judge.is_like(page, other):
                return name
        assert page.shown is not None
        return page.shown.units.total


def _canary_for(pair: Compared) -> Canary:
    """The second URL of *pair* as a canary whose keeper is the first."""
    return Canary(pair.url, pair.first, f"{pair.content:016x}")
