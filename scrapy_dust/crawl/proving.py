"""Keeps rules under test while they are in force: sends canaries, suspends false rules, gives back what they
suppressed.

`DustDupeFilter` asks and informs this module about each URL that rules suppress.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider

from scrapy_dust.believe.reach import Reaches, change_of
from scrapy_dust.crawl.canaries import AT_MOST, Budget, Canaries, Canary
from scrapy_dust.crawl.canary_draw import Draw
from scrapy_dust.crawl.class_names import Meaning, MergingRules, Naming
from scrapy_dust.crawl.class_store import LocalStore
from scrapy_dust.crawl.components import listen
from scrapy_dust.crawl.life import Class, State
from scrapy_dust.crawl.requests import BEYOND, canary_of
from scrapy_dust.crawl.returned_requests import Returning
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.suppressions import Suppressions
from scrapy_dust.crawl.suspension import Suspension
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.rule import Rule
from scrapy_dust.stats import Stat
from scrapy_dust.visits.outcomes import Outcome

#: One of the first eight URLs that a rule suppresses is fetched: a site may have changed since the rule was proved, and
#: be too small for the share that is drawn of all URLs to find that out. Where the rule has suppressed as many since it was tested, the
#: last one is fetched when the spider is idle: the rule may be false of URLs that come late.
_FIRST = 8
#: After these, one URL is fetched until the rule has suppressed so many times as many: of 32, of 128, and so on.
_TIMES = 4


@dataclass(slots=True)
class _Turn:
    """The turn of a rule to be tested: one URL that the rule would suppress is fetched all the same."""

    at: int  #: the number of the URL
    end: int = _FIRST  #: once the rule has suppressed so many, the rule has another turn
    suppressed: int = 0  #: the number of URLs that the rule has suppressed
    tested: int = 0  #: that number when a URL was last fetched to test the rule
    is_over: bool = False  #: the rule had its turn

    @property
    def is_now(self) -> bool:
        return not self.is_over and self.suppressed >= self.at


#: In the store of a job: the rules that were suspended since it was begun, by id, with their sites; and those in doubt.
_FACT = "proving"


class Proving:
    """Keeps the rules of one crawl under test. *register* gives URLs their keys by the rules of now."""

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        naming: Naming,
        suppressions: Suppressions,
        returning: Returning,
        store: LocalStore,
        register: Callable[[Iterable[tuple[str, Meaning]]], None],
        draw: Draw,
    ) -> None:
        self._crawler, self._rules, self._naming = crawler, rules, naming
        self._store, self._register = store, register
        self._draw = draw
        self._suppressions, self._returning = suppressions, returning
        self._turns: dict[str, _Turn] = {}  #: by rule
        self._of_turns: set[str] = set()  #: the URLs of these canaries
        self._save: Callable[[str, str], None] = lambda name, value: None  #: where there is a job
        kept = None
        if rules.shown or rules.on_probation:  # many canaries
            # Not loaded before: it brings all that compares pages.
            from scrapy_dust.crawl.pages_kept import PagesKept  # noqa: PLC0415

            kept = PagesKept(rules.settings)
        self.canaries = Canaries(crawler, rules, self._concluded, draw, self._may_inquire, kept)
        #: How far rules reach that were seen to hold somewhere.
        self.reach = Reaches(rules.settings.max_risk, rules.site_of, rules.canonizer.explain)
        for site, of_site in rules.shown.items():
            for rule, shown in of_site.items():
                self.reach.limit(site, [rule], {change_of(rule): shown})
        self._budget = Budget(crawler)
        self._beyond: set[str] = set()  #: URLs that were fetched at once since rules are untested there
        judging, confirmed = self.canaries.are_being_judged, self.reach.confirmed
        self.suspension = Suspension(
            crawler, rules, suppressions, returning, self._out_of_force, judging, confirmed
        )
        listen(crawler, self._spider_idle)

    def _concluded(self, canary: Canary, outcome: Outcome) -> None:
        """Count the *outcome* of *canary* for the rules that it tests."""
        blamed = self.suspension.take_outcome(canary, outcome)
        if outcome is Outcome.SAME and self.reach:
            self.reach.confirm(blamed, canary.url, canary.keeper, int(canary.key[:16], 16))

    def _may_inquire(self, canary: Canary) -> bool:
        """Whether pages may be fetched again to judge *canary*."""
        is_tested = self.suspension.are_unproved(canary.url, canary.keeper)
        if is_tested or canary.url in self._of_turns or self.canaries.are_chosen(canary.url):
            return True
        return self._rules.settings.canary_rate > 0 and self._budget.left > AT_MOST * self.canaries.open

    def go_on(self, fact: str | None, save: Callable[[str, str], None], *, has_lost: bool) -> None:
        """Go on with a paused job: suspended rules stay so. *has_lost*: all rules are in doubt, as the job's file is lost."""
        self._save = save
        if has_lost:
            sites = self._rules.sites
            self.suspension.unproved |= {
                rule_id(site, rule) for site in sites for rule in self._rules.canonizer.rules(site)
            }
        with suppress(ValueError, KeyError, TypeError, AttributeError):
            known = json.loads(fact or "{}")
            self.suspension.unproved.update(known.get("unproved", ()))
            for identity, site in known.get("suspended", {}).items():
                self.suspension.go_on_without(site, identity)

    def save(self) -> None:
        """Save what the job needs after a pause."""
        said = {"suspended": self.suspension.suspended, "unproved": sorted(self.suspension.unproved)}
        self._save(_FACT, json.dumps(said))

    def suspended_elsewhere(self, suspended: Mapping[str, str]) -> bool:
        """Go on without the rules that another worker found to be false: ids with sites. Returns whether any is new."""
        known = self.suspension.suspended
        new = {identity: site for identity, site in suspended.items() if identity not in known}
        for identity, site in new.items():
            self.suspension.go_on_without(site, identity)
        return bool(new)

    def may_be_canary(self, url: str) -> bool:
        """Whether *url* would be chosen as a canary if a rule suppressed it."""
        key = self._rules.canonize(url)
        if self.canaries.are_chosen(url) or self.suspension.are_unproved(url, key):
            return True
        if self._rules.settings.canary_rate and any(
            self._turn(identity).is_now for identity in self._naming.rule_ids(url)
        ):
            return True
        return bool(self.reach) and self.reach.is_beyond(self._rules.rules_for(url), url, key)

    def becomes_canary(
        self,
        request: Request,
        of: bytes,
        known: Class,
        behind: MergingRules,
        *,
        early: bool,
        as_written: bool,
    ) -> bool:
        """Whether *request* of the class *of* is fetched to test the rules *behind*, which would suppress it.

        *early*: the keeper's page has not come yet. *as_written*: no canonical URL has replaced that of *request*.
        """
        comes_last = False
        is_turn = self._is_turn(request, behind, as_written=as_written)
        if is_turn or self.canaries.are_chosen(request.url):
            self._note_tested(behind)
        else:
            unproved = self.suspension.unproved
            if not unproved and not self.reach:
                return False
            if unproved.isdisjoint(behind.ids):
                url = self._naming.keeper(of, known) or request.url
                if not self.reach.is_beyond(behind.rules, request.url, url):
                    return False
                request.meta[BEYOND] = request.url
                comes_last = self._comes_last(request.url)
        keeper = self._naming.keeper(of, known)
        self.canaries.send(request, of, keeper, early=early, comes_last=comes_last)
        if keeper is None:
            # Another worker's, or one of before a pause: the next canary is compared with this one.
            written = self._naming.note_fetched(of, request.url)
            self._store.change(of, lambda known: (known._replace(keeper=written), None))
        self._crawler.stats.inc_value(Stat.CANARIES.value)
        return True

    def _comes_last(self, url: str) -> bool:
        """Whether *url*, with values on which a rule is untested, comes last: too many such canaries were sent before it."""
        if url not in self._beyond and len(self._beyond) >= self._budget.most_beyond:
            return True
        self._beyond.add(url)
        return False

    def _is_turn(self, request: Request, behind: MergingRules, *, as_written: bool) -> bool:
        """Whether it is the turn of *request* to test one of the rules that would suppress it."""
        if not self._rules.settings.canary_rate:
            return False
        turns = [self._turn(identity) for identity in behind.ids]
        is_turn = as_written and any(turn.is_now for turn in turns)
        for turn in turns:
            turn.suppressed += 1
        if is_turn:
            self._of_turns.add(request.url)
        return is_turn

    def _turn(self, identity: str) -> _Turn:
        """The next turn of the rule *identity* to be tested."""
        turn = self._turns.get(identity)
        if turn is None:
            turn = self._turns[identity] = _Turn(self._draw.number(identity, _FIRST))
        elif turn.is_over and turn.suppressed >= turn.end:
            turn.at = turn.end + self._draw.number(f"{identity} {turn.end}", (_TIMES - 1) * turn.end)
            turn.end, turn.is_over = _TIMES * turn.end, False
        return turn

    def _note_tested(self, behind: MergingRules) -> None:
        """Note that one URL tests all rules *behind*: each of them has had its turn."""
        for identity in behind.ids if self._rules.settings.canary_rate else ():
            turn = self._turn(identity)
            turn.is_over, turn.tested = True, turn.suppressed

    def _spider_idle(self) -> None:
        """Fetch one of the last URLs that each rule has suppressed, where the rule has suppressed several since it was tested."""
        in_doubt, is_sent = self.suspension.unproved | self.suspension.suspended.keys(), False
        due = {
            identity: turn
            for identity, turn in self._turns.items()
            if turn.suppressed - turn.tested >= _FIRST and identity not in in_doubt
        }
        for turn in due.values():
            turn.at, turn.is_over = 0, False
        for identity, turn in due.items():
            # The first URL that can be fetched as it is written takes the turn, and those of other rules behind it. A URL
            # that cannot is suppressed again.
            left = islice(self._suppressions.take_suppressed_by(identity), _FIRST)
            while not turn.is_over and (suppressed := next(left, None)) is not None:
                ids, request = suppressed
                self._suppressions.note_given_back(request, ids, f"to test {identity}")
                self._returning.queue_now(request)
                is_sent = True
            turn.is_over, turn.tested = True, turn.suppressed
        if is_sent:
            raise DontCloseSpider

    def was_beyond(self, request: Request) -> bool:
        """Whether *request* was queued as a canary only because rules were untested there, and they are tested by now."""
        mark = canary_of(request)
        if mark is None or request.meta.get(BEYOND) != request.url or mark["keeper"] is None:
            return False
        rules = self._naming.merging_rules(request.url, self._store.get(bytes.fromhex(mark["key"]))).rules
        return not self.reach.is_beyond(rules, request.url, mark["keeper"])

    def _out_of_force(self, site: str, rule: Rule, tested: Sequence[Canary]) -> None:
        """Take *rule* out of force. URLs that have brought pages, *tested* ones too, stand for their new classes."""
        pages = [
            (url, meaning)
            for of, url, written, meaning in self._naming.keepers_on(site)
            if (known := self._store.get(of)).state is State.SETTLED and known.keeper == written
        ]
        for canary in tested:
            meaning = self._naming.meaning(bytes.fromhex(canary.key))
            pages += [] if meaning is None else [(canary.url, meaning)]
        self._rules.suspend(site, rule)
        # What was fetched and is linked again is no new page.
        self._register(pages)
        self.save()
