"""The names of requests and of their classes, and the rules that put a URL into its class.

A request's own name is its fingerprint by the project's fingerprinter. The name of a class is made of the key that
rules make of the request, how the spider handles the request, and the version of the site's rules: after the rules
change, no earlier class is mistaken for a class of now. Links from other sites make classes of their own, since a
stranger must not choose which URL of a site is fetched.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.request import RequestFingerprinterProtocol
from xxhash import xxh3_64_digest

from scrapy_dust.crawl.components import CrawlLogger, counting
from scrapy_dust.crawl.fingerprinter import DustRequestFingerprinter, class_key
from scrapy_dust.crawl.keepers import Keepers
from scrapy_dust.crawl.life import Class
from scrapy_dust.crawl.request_digests import RequestDigests
from scrapy_dust.crawl.request_handling import Handling
from scrapy_dust.crawl.requests import LINKED_BY
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.rule import Rule
from scrapy_dust.stats import RULES_COUNTED, Stat

#: The number of meanings that are remembered: a spider may ask for each page in a way of its own.
MEANINGS_REMEMBERED = 100_000

#: Bytes at the end of a class's name that say what its `Meaning` is.
_SUFFIX = 8
#: The features that requests of a class share beside their key: their site, how they are handled, and the other site that
#: links to them.
Meaning = tuple[str, str, str | None]


@dataclass(frozen=True, slots=True, eq=False)
class MergingRules:
    """The rules that put a URL and its keeper into one class: one object for the same rules, with its own number."""

    rules: tuple[Rule, ...]
    ids: tuple[str, ...]
    number: int


class Naming:
    """Names the requests and the classes of one crawl."""

    def __init__(self, crawler: Crawler, rules: CrawlRules) -> None:
        self._crawler, self._rules, self._traced = crawler, rules, rules.traced
        #: Gives a name for how the spider handles a request; None: like no other request.
        self.handling_name = Handling(rules.settings.class_by, lambda: crawler.spider).name
        #: To be told of each request before it is named for the first time.
        self.asking = RequestDigests(rules.settings.class_by, crawler.settings)
        self._suffixes: dict[Meaning, bytes] = {}
        self._meanings: dict[bytes, Meaning] = {}
        #: By the site and the ids of rules, which these keep alive. One rule of two sites is one object.
        self._behind: dict[tuple[object, ...], MergingRules] = {}
        #: By the rules of a URL and of its keeper.
        self._of_both: dict[tuple[MergingRules, MergingRules], MergingRules] = {}
        self._stat = (Stat.FILTERED if rules.enforced else Stat.SHADOW_FILTERED).value
        self._counted: dict[str, str] = {}  #: ids of rules, and the stat of each
        self._keepers = Keepers()
        self._numbered: list[MergingRules] = []  #: the rules that change keepers, by their numbers
        self._stats: dict[MergingRules, tuple[str, ...]] = {}  #: that count what these rules suppress
        self._add_one, self._log = counting(crawler.stats), CrawlLogger(__name__, crawler)
        tables: tuple[dict[Any, Any], ...] = (self._suffixes, self._behind, self._of_both, self._stats)
        rules.changed.extend(table.clear for table in tables)

    @cached_property
    def fingerprinter(self) -> RequestFingerprinterProtocol:
        """The fingerprinter of the crawl."""
        return self._crawler.request_fingerprinter

    @cached_property
    def own(self) -> Callable[[Request], bytes]:
        """A function that gives the name of a request itself, without rules."""
        if isinstance(self.fingerprinter, DustRequestFingerprinter):
            return self.fingerprinter.own
        return self.fingerprinter.fingerprint

    @cached_property
    def key(self) -> Callable[[Request], bytes]:
        """A function that gives the key of a request: equal for all requests that rules take for one page."""
        return self.fingerprinter.fingerprint

    def unenforced_key(self, request: Request) -> bytes:
        """The key that *request* would have if the rules were enforced."""
        return class_key(request, self._rules.canonize, self.key, self._crawler.stats) or self.key(request)

    def class_of(self, request: Request, site: str, linked_by: str | None = None) -> bytes | None:
        """The class of *request*; None if *request* is handled like no other. *linked_by*: another site that links it."""
        handled = self.handling_name(request)
        if handled is None:
            return None
        return self.class_with_meaning(request, (site, handled, linked_by))

    def class_with_meaning(self, request: Request, meaning: Meaning) -> bytes:
        """The class of a request with the URL of *request* that is handled and linked as *meaning* says."""
        suffix = self._suffixes.get(meaning)
        if suffix is None:
            if len(self._suffixes) >= MEANINGS_REMEMBERED:
                self._suffixes.clear()
                self._meanings.clear()
            suffix = self._suffixes[meaning] = self._name_suffix(*meaning)
            self._meanings[suffix] = meaning
        return self.key(request) + suffix

    def _name_suffix(self, site: str, handled: str, linked_by: str | None) -> bytes:
        """The part of a class's name beside the key: rules, how requests are handled, which site links them."""
        rules = " ".join(rule_id(site, rule) for rule in self._rules.canonizer.rules(site))
        said = f"{rules}\n{self._rules.settings.passes}\n{handled}\n{linked_by or ''}"
        return xxh3_64_digest(said.encode("utf-8", "surrogatepass"))

    def meaning(self, class_key: bytes) -> Meaning | None:
        """How requests of the class *class_key* are handled and linked; None if this crawl has not met the class."""
        return self._meanings.get(class_key[-_SUFFIX:])

    def rule_ids(self, url: str) -> tuple[str, ...]:
        """The ids of the rules that change *url*."""
        site = self._rules.site_of(url) or ""
        return tuple(rule_id(site, rule) for rule in self._rules.rules_for(url))

    def linking_site(self, request: Request, site: str) -> str | None:
        """The site whose page or redirect leads to *request*, if that is not its own *site* or the project; else None."""
        chain = request.meta.get("redirect_urls")
        if chain:
            first = self._rules.site_of(chain[0])
            if first != site:
                return first or ""
        stranger = request.meta.get(LINKED_BY)
        return None if stranger is None or stranger == site else str(stranger)

    def note_fetched(self, class_key: bytes, url: str) -> int:
        """Write down *url*, which is let through, as the keeper of the class *class_key*. Returns where it is written."""
        return self._keepers.add(class_key, url, self._rules_on(url).number)

    def keeper(self, class_key: bytes, known: Class) -> str | None:
        """The URL that was fetched for the class *class_key*, which is *known*; None if nobody remembers."""
        return self._keepers.keeper_url(class_key, known.keeper) if known.keeper else None

    def keepers_on(self, site: str) -> Iterator[tuple[bytes, str, int, Meaning]]:
        """Each class of *site* that had a keeper, the keeper, where it is written, and the class's `Meaning`."""
        for of, url, written in self._keepers:
            meaning = self.meaning(of)
            if meaning is not None and meaning[0] == site:
                yield of, url, written, meaning

    def merging_rules(self, url: str, known: Class) -> MergingRules:
        """The rules that merge *url* with the keeper of its class, *known*: the URL that was fetched for the class."""
        behind = self._rules_on(url)
        # The keeper's too: a URL that is its own canonical form was filtered by the rules that changed the other.
        number = self._keepers.rules_number(known.keeper) if known.keeper else behind.number
        if number == behind.number or not self._numbered[number].rules:
            return behind
        both = behind, self._numbered[number]
        found = self._of_both.get(both)
        if found is None:
            rules = tuple(dict.fromkeys((*behind.rules, *both[1].rules)))
            found = self._of_both[both] = self._shared_rules(self._rules.site_of(url), rules)
        return found

    def _rules_on(self, url: str) -> MergingRules:
        """The rules that change *url*: the same object for the same rules."""
        _, rules, site = self._traced(url)
        known = self._behind.get((site, id(rules[0]))) if len(rules) == 1 else None
        return known or self._shared_rules(site, rules)

    def _shared_rules(self, site: str | None, rules: tuple[Rule, ...]) -> MergingRules:
        """The only `MergingRules` object for *rules*, made when it is first needed."""
        # Rules are hashed slowly, and each is one object as long as rules do not change.
        name = (site, *map(id, rules))
        known = self._behind.get(name)
        if known is None:
            ids = tuple(rule_id(site or "", rule) for rule in rules)
            known = self._behind[name] = MergingRules(rules, ids, len(self._numbered))
            self._numbered.append(known)
        return known

    def _stats_of(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        """The names of the stats that count what the rules *ids* suppress, one for each rule."""
        return tuple(self._stat_of(identity) for identity in ids or ("others",))

    def _stat_of(self, identity: str) -> str:
        """The stat that counts for the rule *identity*: one for each of the first rules, and one for all others."""
        if identity not in self._counted:
            is_known = len(self._counted) < RULES_COUNTED and identity != "others"
            self._counted[identity] = f"{self._stat}/{identity if is_known else 'others'}"
        return self._counted[identity]

    def count(self, request: Request, keeper: Callable[[], str | None], behind: MergingRules) -> None:
        """Count that the rules *behind* suppressed *request* for *keeper*, or would have suppressed it in shadow mode."""
        self._add_one(self._stat)
        stats = self._stats.get(behind)
        if stats is None:
            stats = self._stats[behind] = self._stats_of(behind.ids)
        for stat in stats:
            self._add_one(stat)
        if self._log.logger.isEnabledFor(logging.DEBUG):
            self._log_suppressed(request, keeper(), behind)

    def uncount(self, ids: tuple[str, ...]) -> None:
        """Take back one count of each of the rules *ids*: a request that they suppressed is fetched after all."""
        stats = self._crawler.stats
        for stat in (self._stat, *self._stats_of(ids)):
            # What an earlier run of the job counted is no part of the numbers of this one.
            if stats.get_value(stat, 0) > 0:
                stats.inc_value(stat, -1)

    def _log_suppressed(self, request: Request, keeper: str | None, behind: MergingRules) -> None:
        by = ", ".join(f"{rule} [{one}]" for one, rule in zip(behind.ids, behind.rules, strict=True))
        verb = "Filtered" if self._rules.enforced else "Would filter"
        url = keeper or self._rules.canonize(request.url)
        self._log.debug("%s %s: %s makes it the page of %s.", verb, request, by or "a rule", url)
