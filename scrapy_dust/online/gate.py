"""Decides about each URL while its site is being learned: fetch it, fetch it early, put it off, or do not fetch it.

Rules in force suppress. Likely rules suppress nothing: a URL that would repeat another by a likely rule *waits*,
after all others, until the rule is decided, and is fetched if it never is. A few of the URLs that wait for a likely
rule are fetched early, since each of them is evidence about the rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import StrEnum

from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule

#: URLs that are fetched early for one likely rule, after each look at the site.
EARLY = 3
#: When only URLs that wait are left, so many are fetched between two looks: at least, and as a part of all fetched.
LEAST_AT_A_TIME, PART_AT_A_TIME = 20, 0.05


class Step(StrEnum):
    """The decision about a new URL: fetch it early, as any other, last, or not at all."""

    FETCH = "fetch"
    EARLY = "early"  #: fetch it before others: it decides a rule
    WAIT = "wait"
    SUPPRESS = "suppress"


class Gate:
    """Decides about the URLs of one site. *suppresses*: rules in force count too; in a crawl the dupefilter handles these."""

    def __init__(
        self, site: str, site_of: Callable[[str], str | None], passes: int = 10, *, suppresses: bool = True
    ) -> None:
        self.site, self._site_of, self._passes, self._suppresses = site, site_of, passes, suppresses
        self._bought: Counter[Rule] = Counter()
        self.change((), (), ())

    def change(
        self,
        rules: Sequence[Rule],
        likely: Sequence[Rule],
        let_through: Iterable[str],
        led: Collection[Rule] = (),
    ) -> None:
        """Go by these *rules* from now on. *let_through*: the URLs of the site that were let through; they get new
        keys. *led*: those of the *likely* rules that redirects declare, of which a fetch shows nothing more.
        """
        self._led: Collection[Rule] = frozenset(led)
        self.rules: Sequence[Rule] = tuple(rules)  #: in force
        self.likely: Sequence[Rule] = tuple(one for one in likely if one not in rules)
        #: The key of a URL by the rules in force alone; and the key by these and the likely ones.
        self.key = Canonizer({self.site: self.rules}, self._site_of, self._passes).canonize
        self._make_likely = Canonizer({self.site: (*self.rules, *self.likely)}, self._site_of, self._passes)
        self.likely_key = self._make_likely.canonize
        self._bought.clear()
        self._keys, self._likely_keys = set[int](), set[int]()
        for url in let_through:
            self.let_through(url)

    def is_unchanged_by(self, rules: Sequence[Rule], likely: Sequence[Rule]) -> bool:
        """Whether `change` with these rules would change nothing."""
        return set(rules) == set(self.rules) and {*likely}.difference(rules) == set(self.likely)

    def allow_more_early(self) -> None:
        """Let some more URLs be fetched early: the site was looked at again, and its rules stayed as they were."""
        self._bought.clear()

    def let_through(self, url: str) -> None:
        """Take note that the crawl fetches *url*, or has queued it."""
        if self._suppresses:
            self._keys.add(hash(self.key(url)))
        if self.likely:
            self._likely_keys.add(hash(self.likely_key(url)))

    def step(self, url: str) -> Step:
        """Decide about *url*, a new URL, by the rules in force and the likely ones."""
        if self.rules and hash(self.key(url)) in self._keys:
            return Step.SUPPRESS
        return self.likely_step(url)

    def likely_step(self, url: str) -> Step:
        """Decide about *url*, a new URL that no rule in force suppresses, by the likely rules."""
        if not self.likely or hash(self.likely_key(url)) not in self._likely_keys:
            return Step.FETCH
        return Step.EARLY if self._decides(url) else Step.WAIT

    def _decides(self, url: str) -> bool:
        """Whether *url*, if it were fetched, would be evidence about a likely rule that still lacks evidence."""
        rules = {step.rule for step in self._make_likely.explain(url)}.difference(self.rules)
        if not rules.isdisjoint(self._led) or (rules and all(self._bought[rule] >= EARLY for rule in rules)):
            return False
        self._bought.update(rules)
        return True
