"""Doubts and suspends rules that prove false while they are in force, and gives back what these rules suppressed.

One canary that shows another page puts the rules in doubt that merged it with its keeper. A rule in doubt suppresses
nothing, and the URLs that it suppressed last are fetched as canaries too, until the doubt is settled. A suspended
rule is out of force at once, all requests that it suppressed are given back to the crawl, and the rule book is told.
A rule that nothing has tested for long begins in doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.job import job_dir

from scrapy_dust.believe.blame import decisive_rules, rules_at_work
from scrapy_dust.believe.watch import Standing, Watch
from scrapy_dust.crawl.canaries import Canary
from scrapy_dust.crawl.class_store import Suppressed
from scrapy_dust.crawl.components import CrawlLogger, listen
from scrapy_dust.crawl.returned_requests import Returning
from scrapy_dust.crawl.rule_book_updates import RENEWED, Updates, watched_entry
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.suppressions import Suppressions, any_rule_of
from scrapy_dust.journal.events import Event, What, now
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.rule import Rule
from scrapy_dust.stats import Stat
from scrapy_dust.visits.outcomes import Outcome

#: The number of suppressed URLs that are fetched at a time to test a rule in doubt.
PROBES = 10

#: A rule is in doubt if this many more canaries could not be judged than could; with twice as many it is suspended.
UNJUDGED = 10

Known = tuple[str, "Rule"]  # a rule with its site

#: The reason against a rule that was suspended before, or elsewhere.
_BEFORE = "it was suspended before this job was paused, or by another worker"


class Suspension:
    """Doubts and suspends the rules of one crawl. *out_of_force* is called with each rule to take out of force."""

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        suppressions: Suppressions,
        returning: Returning,
        out_of_force: Callable[[str, Rule, Sequence[Canary]], None],
        is_judging: Callable[[], bool],
        shown: Callable[[str, Rule], Mapping[str, int]],
    ) -> None:
        """*is_judging* says whether canaries are being compared just now; *shown*, how far a rule reaches by now."""
        self._crawler, self._rules, self._log = crawler, rules, CrawlLogger(__name__, crawler)
        self._suppressions, self._returning, self._out_of_force = suppressions, returning, out_of_force
        self._is_judging, self._shown = is_judging, shown
        self._watches: dict[str, tuple[Known, Watch]] = {}
        self.unproved = set(rules.stale)  #: ids of rules that suppress nothing for now
        self.suspended: dict[str, str] = {}  #: ids of rules that were, and their sites
        #: Ids of rules in doubt or suspended → the rule, and why.
        self.against: dict[str, tuple[Known, str]] = {}
        self._probes: dict[str, Iterator[Suppressed]] = {}  #: of rules in doubt, what may be fetched
        self._out: dict[str, int] = {}  #: of these, what was sent and has not been judged
        self._tested: dict[str, list[Canary]] = {}  #: canaries, which are no keepers, by rule
        #: By rule, canaries that could not be judged, less those that could.
        self._unjudged: dict[str, int] = {}
        self._updates = Updates(crawler, rules.settings, self._log, "canaries of ", "its rules")
        #: Of many workers: told the site and id of each rule that is suspended here.
        self.announced: list[Callable[[str, str], None]] = []
        listen(crawler, self._spider_idle, self._spider_closed)

    def are_unproved(self, url: str, keeper: str) -> bool:
        """Whether a rule that merges *url* and *keeper* is in doubt or untested, and must not suppress anything now."""
        if not self.unproved:
            return False
        site = self._rules.site_of(url) or ""
        working = rules_at_work(self._rules.canonizer, url, keeper)
        return not self.unproved.isdisjoint(rule_id(site, rule) for rule in working)

    def take_outcome(self, canary: Canary, outcome: Outcome) -> Sequence[Rule]:
        """Take the *outcome* of *canary*. Returns the rules for which it was evidence."""
        site = self._rules.site_of(canary.url) or ""
        blamed = decisive_rules(self._rules.canonizer, site, canary.url, canary.keeper)
        ids = tuple(rule_id(site, rule) for rule in blamed)
        self._crawler.stats.inc_value(f"{Stat.CANARIES}/{outcome}")
        tested = Event(What.TESTED, now(), canary.url, ids, keeper=canary.keeper, note=str(outcome))
        self._suppressions.journal.write_event(tested)
        for identity, rule in zip(ids, blamed, strict=True):
            new = (site, rule), Watch(self._rules.settings.max_loss)
            _, watch = self._watches.setdefault(identity, new)
            self._out[identity] = max(0, self._out.get(identity, 0) - 1)
            self._tested.setdefault(identity, []).append(canary)
            unclear = outcome not in (Outcome.SAME, Outcome.DIFFERENT)
            self._unjudged[identity] = max(0, self._unjudged.get(identity, 0) + (1 if unclear else -1))
            before = watch.standing
            self._act_on_standing(identity, watch, before, watch.record(outcome), canary)
        return blamed

    def _act_on_standing(
        self, identity: str, watch: Watch, before: Standing, standing: Standing, canary: Canary
    ) -> None:
        """Suspend the rule, put it in doubt or clear it, as *standing* says, which was *before* until now."""
        is_unclear = self._unjudged[identity] >= UNJUDGED
        is_refuted = standing is Standing.REFUTED or self._unjudged[identity] >= 2 * UNJUDGED
        if is_refuted and identity not in self.suspended:
            self._suspend(identity, canary)
        elif standing is Standing.DOUBTED or (standing is Standing.TRUSTED and is_unclear):
            is_new = (
                before is Standing.TRUSTED if standing is Standing.DOUBTED else identity not in self._probes
            )
            if is_new:
                self._put_in_doubt(identity, canary)
            if not self._out[identity]:
                self._fetch_some(identity)
        elif standing is Standing.TRUSTED and (before is Standing.DOUBTED or watch.same >= RENEWED):
            self.unproved.discard(identity)
            self.against.pop(identity, None)
            self._probes.pop(identity, None)

    def _put_in_doubt(self, identity: str, canary: Canary) -> None:
        """Let the rule *identity* suppress nothing for now, since *canary* showed another page."""
        self._crawler.stats.inc_value(Stat.DOUBTED.value)
        self.unproved.add(identity)
        (site, rule), watch = self._watches[identity]
        self._probes[identity] = self._suppressions.take_suppressed_by(identity)
        why = self._why(watch, canary)
        self.against[identity] = (site, rule), why
        said = "In doubt: %s [%s] of %s suppresses nothing for now, since %s."
        self._log.info(said, rule, identity, site, why)

    def _why(self, watch: Watch, canary: Canary) -> str:
        """A sentence that says what *canary* showed against the rule of *watch*."""
        if not watch.different:
            return f"{watch.unknown} URLs that were fetched to test it could not be compared"
        return f"{canary.url} and {canary.keeper} show different pages"

    def _fetch_some(self, identity: str) -> bool:
        """Fetch some more of the requests that the rule *identity* suppressed. False if there are no more."""
        sent = 0
        for ids, request in self._probes.get(identity, ()):
            self._suppressions.note_given_back(request, ids, f"to test {identity}")
            self._returning.queue_now(request)
            sent += 1
            if sent >= PROBES:
                break
        self._out[identity] = self._out.get(identity, 0) + sent
        return sent > 0

    def _suspend(self, identity: str, canary: Canary) -> None:
        """Take the rule *identity* out of force, and give back all that it suppressed. *canary*: the last evidence."""
        (site, rule), watch = self._watches[identity]
        why = self._why(watch, canary)
        self.suspended[identity] = site
        self.against[identity] = (site, rule), why
        self.unproved.discard(identity)
        probes = self._probes.pop(identity, iter(()))
        self._out_of_force(site, rule, self._tested.pop(identity, []))
        for told in self.announced:
            told(site, identity)
        self._crawler.stats.inc_value(Stat.SUSPENDED.value)
        event = Event(What.SUSPENDED, now(), canary.url, (identity,), keeper=canary.keeper, note=str(rule))
        self._suppressions.journal.write_event(event)
        self._give_back(identity, probes)
        self._log.warning(
            "Suspended: %s [%s] of %s is not applied any more, since %s. All that it suppressed in this crawl is offered "
            "to the spider again.",
            *(rule, identity, site, why),
        )
        verb = "refuted" if watch.different else "suspended"
        reason = f"{verb} by a crawl on {now()[:10]}: {why}"
        self._updates.write([watched_entry(site, rule, watch, self._updates.crawl_name, reason)])

    def go_on_without(self, site: str, identity: str) -> None:
        """Take a rule out of force that was suspended before this job was paused, or by another worker."""
        self.suspended[identity] = site
        self.unproved.discard(identity)
        self._probes.pop(identity, None)
        said = "Suspended before, or by another worker: %s of %s. What it suppressed is offered again."
        self._log.info(said, identity, site)
        for rule in self._rules.canonizer.rules(site):
            if rule_id(site, rule) == identity:
                self.against[identity] = (site, rule), _BEFORE
                self._out_of_force(site, rule, [])
        self._give_back(identity, iter(()))

    def _give_back(self, identity: str, first: Iterator[Suppressed]) -> None:
        """Offer to the crawl all requests that the rule *identity* has suppressed, those in *first* before the others."""

        def requests() -> Iterator[Request]:
            by = self._suppressions.take_suppressed_by
            for ids, request in chain(first, by(identity), by(any_rule_of(self.suspended[identity]))):
                self._suppressions.note_given_back(request, ids, f"{identity} is suspended")
                yield request

        self._returning.queue_later(requests())

    def _spider_idle(self) -> None:
        if self._is_judging():
            return
        # What was sent and not judged by now failed, or showed nothing to be judged.
        self._out.clear()
        if any(self._fetch_some(identity) for identity in list(self._probes)):
            raise DontCloseSpider

    async def _spider_closed(self, reason: str) -> None:
        # A job that goes on later remembers its doubts itself.
        is_over = reason == "finished" or not job_dir(self._crawler.settings)
        seen = [
            watched_entry(site, rule, watch, self._updates.crawl_name, doubt, self._shown(site, rule))
            for identity, ((site, rule), watch) in self._watches.items()
            if identity not in self.suspended and (watch.same or watch.different)
            for doubt in (self._why_doubted(watch) if is_over else None,)
        ]
        await self._updates.finish(seen)

    @staticmethod
    def _why_doubted(watch: Watch) -> str | None:
        """A sentence that says why the next crawl should not apply the rule of *watch*; None if there is no reason."""
        if watch.standing is not Standing.DOUBTED:
            return None
        return (
            f"in doubt at the end of a crawl on {now()[:10]}: {watch.different} of "
            f"{watch.same + watch.different} URLs fetched to test it showed another page"
        )
