"""Tests rules on probation in the crawl: these rules suppress nothing, and the pages that they would suppress are
compared.

Each page that a rule puts into a class is compared with the first page of the class, both as they came. As soon as a
rule is proved (`believe/probation_proof.py`), it is in force in this crawl; a single page that surely differs refutes it.
Requests that decide a rule are fetched a little before requests queued with them. Nothing else is fetched, except
pages that look different: a bounded number of these is fetched again (`page_comparison.py`). The results are kept for the
next crawl.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.asyncio import run_in_thread
from xxhash import xxh3_64_intdigest

from scrapy_dust.believe.probation_proof import KeysOnTrial, Proof, proved_rules
from scrapy_dust.believe.reach import CommonValues, Reaches, aspects_of, change_of, changed_urls
from scrapy_dust.believe.unseen_loss import contents_to_prove, law_share
from scrapy_dust.crawl.class_names import Naming
from scrapy_dust.crawl.components import CrawlLogger, Latest, listen
from scrapy_dust.crawl.page_comparison import Compared, Comparing
from scrapy_dust.crawl.requests import follows_rules, target_url
from scrapy_dust.crawl.rule_book_updates import Found, Updates, decided_entry
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.rules_into_force import IntoForce
from scrapy_dust.crawl.spider_answers import shows_page
from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.errors import RuleBookError
from scrapy_dust.rule_book import probations
from scrapy_dust.rule_book.entries import Status, rule_id
from scrapy_dust.rules.rule import Rule
from scrapy_dust.stats import Stat
from scrapy_dust.visits.outcomes import Outcome

#: The most keys for which the first URL with a page, and the number of queued URLs, are remembered: some 20 MB.
KEYS = 100_000
#: Pairs that are compared of one rule in one crawl: a sample says enough.
COMPARED = 500
#: Seconds between two times that results are saved.
_SAVED_EVERY = 60.0
#: How much the priority of a request that decides a rule is raised above requests queued with it.
EARLY = 1
_OUTCOMES = {Outcome.SAME: Stat.PROBATION_SAME, Outcome.DIFFERENT: Stat.PROBATION_DIFFERENT}


@dataclass(slots=True)
class Open:
    """A rule on probation, which the crawl has not decided."""

    site: str
    rule: Rule
    id: str
    proof: Proof
    before: Counter[str]  #: what was known before this crawl
    early: int  #: so many requests may still be fetched early for it
    left: int = COMPARED  #: so many pairs may still be compared


class Decided(NamedTuple):
    """A rule that the crawl has proved, or refuted."""

    site: str
    rule: Rule
    id: str
    why: str  #: it is refuted; "": it is proved


@dataclass(slots=True)
class _Site:
    """The rules of one site that are on probation."""

    trial: KeysOnTrial
    rules: dict[int, Open]  #: by the ids of the rules, which these keep alive
    pages: int = 0


@dataclass(frozen=True, slots=True)
class _First:
    """The URL of a class that was the first to show a page."""

    url: str
    rules: tuple[Rule, ...]  #: on trial, that make the key of it


class Probation:
    """Tests the rules on probation in one crawl."""

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        naming: Naming,
        into_force: IntoForce | None,
        reach: Reaches,
    ) -> None:
        """*into_force* puts proved rules into force now; None: in the next crawl. *reach*: how far rules in force reach."""
        self._crawler, self._rules, self._naming, self._into_force = crawler, rules, naming, into_force
        self._reach = reach
        self._common = CommonValues()
        self._state = log_dir(rules.settings.dir).parent
        self._firsts: Latest[int, _First] = Latest(KEYS)
        self._queued: Latest[int, int] = Latest(KEYS)
        self._comparing = Comparing(crawler, rules, self._take_outcome, self._take_back_contents)
        self.decided: list[Decided] = []
        self._log = CrawlLogger(__name__, crawler)
        self._updates = Updates(crawler, rules.settings, self._log, "probation in ", "rules on probation")
        self._at_end: list[Found] = []  #: told when this crawl has ended
        self._saved_at = time.monotonic()
        self._sites = self._sites_on_trial()
        rules.changed.append(self._rules_changed)
        listen(crawler, self._response_received, self._spider_opened, self._spider_closed)

    def _sites_on_trial(self) -> dict[str, _Site]:
        """The sites with rules on probation, by name, with the proof that earlier crawls have found."""
        known = probations.known_proofs(self._state)
        found = {}
        for site, rules in self._rules.on_probation.items():
            of_site = known.get(site, {})
            on_trial = {id(rule): self._rule_on_trial(site, rule, of_site) for rule in rules}
            found[site] = _Site(self._trial(site, rules), on_trial)
        return found

    def _rule_on_trial(self, site: str, rule: Rule, known: probations.Proofs) -> Open:
        """The state of *rule* on probation, with the proof that earlier crawls have found."""
        identity = rule_id(site, rule)
        proof = known.get(identity, Proof())
        before = Counter(same=proof.pairs, silent=proof.silent)
        early = 2 * contents_to_prove(self._rules.settings.max_risk, law_share(rule.families))
        return Open(site, rule, identity, proof, before, early)

    def _trial(self, site: str, rules: Sequence[Rule]) -> KeysOnTrial:
        """The keys of *site* by the rules in force and by *rules* on probation."""
        in_force = self._rules.canonizer.rules(site)
        return KeysOnTrial(site, in_force, rules, self._rules.canonizer)

    def _rules_changed(self) -> None:
        for name, site in self._sites.items():
            site.trial = self._trial(name, [one.rule for one in site.rules.values()])

    # -- in which order

    def let_through(self, request: Request) -> None:
        """Queue *request*, which is no duplicate: before others if it decides a rule."""
        if request.meta.get("redirect_urls") or not follows_rules(request):
            return
        name = self._rules.site_of(request.url)
        site = None if name is None else self._sites.get(name)
        if site is None or name is None or not any(one.early > 0 for one in site.rules.values()):
            return
        handled = self._naming.handling_name(request)
        if handled is not None and self._decides(name, site, request.url, handled):
            request.priority += EARLY

    def _decides(self, name: str, site: _Site, url: str, handled: str) -> bool:
        """Whether *url* is the first of its class to be compared, or among the first three of the class in the queue."""
        working: dict[int, None] = {}
        for form, rules in site.trial.forms(url):
            key = _class_hash(name, handled, form)
            first = self._firsts.get(key)
            count = self._queued[key] = self._queued.pop(key, 0) + 1
            also = () if first is None else first.rules
            # A second one for the first, and a third in case that the first one comes late.
            if (first is not None and count <= 2) or (first is None and 1 < count <= 3):
                working.update(dict.fromkeys(map(id, (*rules, *also))))
        early = [site.rules[one] for one in working if one in site.rules and site.rules[one].early > 0]
        for one in early:
            one.early -= 1
        return bool(early)

    # -- what comes

    def _response_received(self, response: Response, request: Request) -> None:
        if not follows_rules(request) or "cached" in response.flags or not shows_page(response):
            return
        if request.method == "HEAD":  # its answer shows nothing
            return
        url = request.meta.get("redirect_urls", [target_url(request)])[0]
        name = self._rules.site_of(url)
        site = None if name is None else self._sites.get(name)
        if site is None or name is None or not site.rules:
            return
        site.pages += 1
        handled = self._naming.handling_name(request)
        if handled is not None:
            self._take_page(name, site, url, handled, response, request)

    def _take_page(
        self, name: str, site: _Site, url: str, handled: str, response: Response, request: Request
    ) -> None:
        """Compare the page of *url* with the first page of each class that rules on probation put it into."""
        forms = site.trial.forms(url)
        known = [(form, rules, self._firsts.get(_class_hash(name, handled, form))) for form, rules in forms]
        met = [
            (form, (*rules, *first.rules), first)
            for form, rules, first in known
            if first is not None and first.url != url and self._comparing.has(first.url)
        ]
        is_first = False
        for form, rules, first in known:
            if first is None or not self._comparing.has(first.url):
                is_first |= bool(rules) or not met
                if rules or not met:
                    self._firsts[_class_hash(name, handled, form)] = _First(url, rules)
        if is_first:
            self._comparing.keep(url, response)
        for form, suspects, first in met[:1]:
            self._compare(name, site, url, first, form, suspects, response, request)

    def _compare(
        self,
        name: str,
        site: _Site,
        url: str,
        first: _First,
        form: str,
        suspects: Sequence[Rule],
        response: Response,
        request: Request,
    ) -> None:
        """Compare *url* with *first*, to which *suspects*, the rules on probation, give the same *form*."""
        content = _class_hash(name, "", form)
        on = [site.rules[id(rule)] for rule in suspects if id(rule) in site.rules]
        on = [one for one in on if one.left > 0 and one.proof.wants(content)]
        if not on:
            return
        ids = tuple(map(id, site.trial.rules_to_blame(url, first.url, suspects)))
        if ids:
            for one in on:
                one.left -= 1
            pair = Compared(name, url, first.url, content, ids)
            self._comparing.compare(pair, response, request, site.trial.key_of(suspects))

    # -- what it says

    def _take_outcome(self, pair: Compared, outcome: Outcome, is_sure: bool, looked_again: bool) -> None:
        """Count *outcome* for each rule of *pair* that is not decided, and decide the rules that it proves or refutes."""
        site = self._sites[pair.site]
        on = [site.rules[one] for one in pair.rules if one in site.rules]
        if not on:
            return  # decided meanwhile
        self._crawler.stats.inc_value(_OUTCOMES.get(outcome, Stat.PROBATION_UNKNOWN).value)
        for one in on:
            self._count_outcome(site, one, pair, outcome, is_sure=is_sure)
            if looked_again and outcome is Outcome.SAME:
                one.proof.unsure = max(0, one.proof.unsure - 1)
        if outcome is not Outcome.DIFFERENT:
            self._put_proved_into_force(pair.site, site, on)
        elif is_sure and len(pair.rules) == 1 and on[0].proof.is_refuted(self._rules.settings.max_loss):
            self._refute(site, on[0], pair)
        if time.monotonic() - self._saved_at > _SAVED_EVERY:
            self._save_results()

    def _count_outcome(
        self, site: _Site, one: Open, pair: Compared, outcome: Outcome, *, is_sure: bool
    ) -> None:
        """Count the *outcome* of *pair* as evidence about the rule *one*."""
        proof = one.proof
        if outcome is Outcome.SAME:
            changed = changed_urls(one.rule, pair.url, pair.first)
            aspects = [aspect for url in changed for aspect in aspects_of(one.rule, url)]
            for url in (pair.url, pair.first):
                aspects += {aspect for aspect, _ in self._common.common_values(one.rule, url, pair.content)}
            proof.count_same(pair.content, aspects, alone=len(pair.rules) == 1)
        elif outcome is not Outcome.DIFFERENT:
            proof.silent += 1
        elif len(pair.rules) > 1:
            others = (other for other in pair.rules if other != id(one.rule))
            proof.shared.update(str(other) for other in others)
        elif is_sure:
            proof.wrong += 1
        else:
            proof.unsure += 1

    def _take_back_contents(self, name: str, contents: Sequence[int]) -> None:
        """Take back what *contents* proved, since several classes show them as one page, such as a login wall."""
        for one in self._sites[name].rules.values():
            one.proof.discard(contents)

    def _put_proved_into_force(self, name: str, site: _Site, on: Sequence[Open]) -> None:
        """Put the rules among *on* into force that are proved now."""
        settings = self._rules.settings
        if all(one.proof.risk_bound(one.rule) > settings.max_risk for one in on):
            return
        proofs = {
            one.rule: one.proof for one in site.rules.values() if not self._comparing.is_open(id(one.rule))
        }
        now = proved_rules(proofs, site.pages, settings.max_risk, settings.max_loss)
        in_force = set(self._rules.canonizer.rules(name))
        new = [site.rules[id(rule)] for rule in now if rule not in in_force and rule.reverse not in in_force]
        force = self._into_force
        if not new or not (force is None or force.put(name, [one.rule for one in new])):
            return
        said = "Proved: %s [%s] of %s held on %d pages, and is in force %s."
        since = "with the next crawl" if force is None else "from now on"
        for one in new:
            self._remove_decided(site, one, Stat.PROVED)
            self.decided.append(Decided(name, one.rule, one.id, ""))
            self._log.info(said, one.rule, one.id, name, len(one.proof.all_contents), since)
            self._reach.limit(name, [one.rule], {change_of(one.rule): one.proof.reach})
        found = [self._book_entry(one, Status.VALID) for one in new]
        if force is None:
            self._at_end += found
        else:
            self._updates.write(found)
            force.make_keys(name)

    def _refute(self, site: _Site, one: Open, pair: Compared) -> None:
        """Take the rule *one* off probation, since the pages of *pair* differ."""
        self._remove_decided(site, one, Stat.REFUTED)
        # What another rule was to blame for, this one did.
        for other in site.rules.values():
            other.proof.shared.pop(str(id(one.rule)), None)
        why = f"{pair.url} and {pair.first} show different pages"
        self.decided.append(Decided(one.site, one.rule, one.id, why))
        said = "Refuted: %s [%s] of %s, which was on probation: %s."
        self._log.info(said, one.rule, one.id, one.site, why)
        self._updates.write([self._book_entry(one, Status.REFUTED, f"refuted by a crawl: {why}")])

    def _remove_decided(self, site: _Site, one: Open, stat: Stat) -> None:
        """Stop testing the rule *one*, which is decided."""
        del site.rules[id(one.rule)]
        self._crawler.stats.inc_value(stat.value)
        self._count_open()
        self._rules_changed()

    # -- what is kept of it

    @property
    def open(self) -> list[Open]:
        """The rules that are not decided, those with most evidence first."""
        found = [one for site in self._sites.values() for one in site.rules.values()]
        return sorted(found, key=lambda one: -len(one.proof.all_contents))

    def _count_open(self) -> None:
        left = sum(len(site.rules) for site in self._sites.values())
        self._crawler.stats.set_value(Stat.ON_PROBATION.value, left)

    def _book_entry(self, one: Open, status: Status, reason: str | None = None) -> Found:
        name = self._updates.crawl_name
        return one.site, decided_entry(one.rule, one.proof, one.before, status, reason, name)

    def _save_results(self) -> None:
        """Save the results of all rules on probation; if that fails, none is saved."""
        self._saved_at = time.monotonic()
        proofs = {
            name: {one.id: one.proof for one in site.rules.values() if one.proof != Proof()}
            for name, site in self._sites.items()
        }
        try:
            probations.save_proofs(self._state, proofs, {(one.site, one.id) for one in self.decided})
        except RuleBookError as error:
            self._log.warning("%s The next crawl tests the rules on probation from the beginning.", error)

    def _spider_opened(self) -> None:
        self._count_open()

    async def _spider_closed(self) -> None:
        await run_in_thread(self._save_results)
        found = [
            self._book_entry(one, Status.PROBATION)
            for one in self.open
            if one.proof.pairs > one.before["same"] or one.proof.silent > one.before["silent"]
        ]
        await self._updates.finish([*self._at_end, *found])


def _class_hash(site: str, handled: str, form: str) -> int:
    return xxh3_64_intdigest(f"{site}\n{handled}\n{form}".encode("utf-8", "surrogatepass"))
