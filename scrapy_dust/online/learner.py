"""Learns the rules of all sites of a crawl while it goes on: takes each page, and says which sites are worth a look.

Pages of a site are only counted until two of them show one content; then the site is looked at (`looking.py`) each time it has grown by a share, so that all looks together cost a few times
the last one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType

from scrapy_dust.online.again import worth_another_fetch
from scrapy_dust.online.looking import look
from scrapy_dust.online.memory import MOST_BYTES, SiteMemory
from scrapy_dust.online.messages import Finding
from scrapy_dust.page.compare import Answer, Same, compare
from scrapy_dust.page.knowledge import NOTHING_KNOWN, Knowledge
from scrapy_dust.page.places import url_value
from scrapy_dust.page.site_log import LogComparison
from scrapy_dust.page.units import unpack
from scrapy_dust.page.volatile import LEAST_URLS, NOTHING_VOLATILE, Volatile
from scrapy_dust.propose.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import SiteLog, Visit, with_redirects

#: A site is looked at when it has so many pages more than at the last look: at least, and as a part of them. With a
#: part of 0.03, a replay of hgweb in sorted order loses 8 pages: each look is one more chance to believe what is false.
_MORE, _PART = 20, 0.2
#: A site with so many texts is worth a look even if no two of them are alike.
_MOST_CONTENTS = 50_000


@dataclass(slots=True)
class _Site:
    """The pages of one site, and the rules that the last look found."""

    memory: SiteMemory = field(default_factory=SiteMemory)
    contents: set[int] = field(default_factory=set)  #: hashes; until two pages seem to show one
    has_copies: bool = False
    looked_at: int = 0  #: pages at the last look
    had_twice: int = 0  #: URLs that had shown two pages at the last look
    rules: Sequence[Rule] = ()
    likely: Sequence[Rule] = ()
    refuted: tuple[Rule, ...] = ()
    known: Knowledge = NOTHING_KNOWN  #: of its pages in units, at the last look


class OnlineLearner:
    """Learns during one crawl."""

    def __init__(
        self,
        settings: DustSettings,
        pool: Pool = NOTHING_POOLED,
        most_bytes: int = MOST_BYTES,
        in_force: Mapping[str, Sequence[Rule]] = MappingProxyType({}),
        volatile: Mapping[str, Volatile] = MappingProxyType({}),
    ) -> None:
        """A learner without pages. By site, *in_force*: rules learned before; *volatile*: places that are known to change."""
        self._settings, self._pool, self._most = settings, pool, most_bytes
        self._volatile = volatile
        #: The one seen longest ago first.
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        for site, rules in in_force.items():
            self._site(site).rules = tuple(rules)
        self._pages = self._size = 0
        self._due: dict[str, None] = {}

    def __len__(self) -> int:
        """The number of pages that are remembered."""
        return self._pages

    def see(self, visit: Visit) -> None:
        """Count one answer of the crawl as evidence about its site."""
        name = site_of(visit.url)
        if name is None:
            return
        site = self._site(name)
        self._sites.move_to_end(name)
        before, size = len(site.memory), site.memory.size
        is_new = site.memory.add(visit)
        self._pages += len(site.memory) - before
        self._size += site.memory.size - size
        if is_new:
            self._note_growth(name, site, visit)
            self._make_room()
        elif _says_more(site.had_twice, len(site.memory.shown_twice)):
            self._due[name] = None  # what was fetched another time has come

    def _site(self, name: str) -> _Site:
        """What is known of the site *name*, which counts as seen last."""
        site = self._sites.get(name)
        if site is None:
            same = self._settings.same
            memory = SiteMemory(volatile=self._volatile.get(name, NOTHING_VOLATILE), same=same)
            # What is taken comes after the page's own record, and where it leads is not known before a look.
            site = self._sites[name] = _Site(memory, has_copies=same == "items")
        return site

    def refute(self, site: str, rule: Rule) -> None:
        """Take note that the crawl has found *rule* to be false."""
        known = self._site(site)
        known.refuted = (*known.refuted, rule)
        self._due[site] = None

    def due(self) -> Iterator[str]:
        """Take out the sites that have grown enough since the last look to be worth another one."""
        while self._due:
            name = next(iter(self._due))
            del self._due[name]
            yield name

    def undecided(self) -> list[str]:
        """The sites with likely rules that have grown since the last look; the one seen last comes first."""
        return [
            name
            for name, site in reversed(self._sites.items())
            if site.likely and site.memory.seen > site.looked_at
        ]

    def look(self, name: str) -> Finding | None:
        """Look at the site *name*. Returns the new rules; None if nothing has changed."""
        site = self._sites.get(name)
        if site is None:
            return None
        site.looked_at, site.had_twice = site.memory.seen, len(site.memory.shown_twice)
        log = site.memory.log()
        if isinstance(log.comparing, LogComparison):
            site.known = log.comparing.knowledge
        looked = look(name, log, self._settings, pool=self._pool, refuted=site.refuted)
        rules = tuple(rule for rule in looked.rules if rule not in site.refuted)
        gone = self._contradicted(name, site, rules, log)
        known = {*rules, *site.refuted}
        likely = tuple(dict.fromkeys(one for one in looked.likely if one not in known))
        is_new = set(rules) != set(site.rules) or set(likely) != set(site.likely)
        site.rules, site.likely = tuple(dict.fromkeys((*rules, *site.rules))), likely
        again = worth_another_fetch(log, site.memory.shown_twice, site.memory.urls)
        if not (is_new or rules or likely or gone or again.urls):
            return None
        return Finding(name, rules, likely, looked.held, gone, again, looked.led)

    def showed_the_same(self, url: str, other: str) -> bool | None:
        """Whether the two URLs, one class by the rules, showed one text that no other class showed; None if not known.

        A text that other classes show too may be a wall.
        """
        site = self._sites.get(site_of(url) or "")
        if site is None:
            return None
        here, there = site.memory.page(url), site.memory.page(other)
        canonize = Canonizer({site_of(url) or "": site.rules}, site_of, self._settings.passes).canonize
        if here is None or there is None:
            return None
        if here.units is not None and there.units is not None:
            # Links with one key count as one link.
            urls = {url_value(url): url for url in site.memory.urls}
            a, b = (
                Answer(one.url, unpack(one.units), canonical=one.canonical)
                for one in (here, there)
                if one.units
            )
            same = compare(a, b, replace(site.known, key=canonize, urls=urls)).same
            return {Same.SAME: True, Same.DIFFERENT: False, Same.UNKNOWN: None}[same]
        shown, form = here.text_digest, canonize(url)
        if shown is None or there.text_digest is None:
            return None
        return shown == there.text_digest and all(
            canonize(one) == form for one in site.memory.urls if site.memory.text(one) == shown
        )

    def _contradicted(self, name: str, site: _Site, rules: Sequence[Rule], log: SiteLog) -> list[str]:
        """The ids of rules in force that a look has not found again, and that pages contradict."""
        gone = []
        for rule in site.rules:
            if rule not in rules and _merges_different_pages(rule, log):
                site.refuted = (*site.refuted, rule)
                gone.append(rule_id(name, rule))
        site.rules = tuple(rule for rule in site.rules if rule not in site.refuted)
        return gone

    def _note_growth(self, name: str, site: _Site, visit: Visit) -> None:
        """Note *visit*, and whether its *site* has copies and has grown enough for a look."""
        if not site.has_copies:
            said = visit.text_digest or visit.digest or visit.redirect_to or visit.url
            # Where pages change at each fetch, no two have one text.
            shown = {hash(said), *map(hash, pairwise(visit.sketch or ()))}
            enough = len(site.contents) > _MOST_CONTENTS
            site.has_copies = enough or bool(visit.redirect_to) or not shown.isdisjoint(site.contents)
            site.contents |= shown
            if site.has_copies:
                site.contents = set()
        grown = site.memory.seen - site.looked_at
        if site.has_copies and grown >= max(_MORE, _PART * site.looked_at):
            self._due[name] = None

    def _make_room(self) -> None:
        """Forget the sites seen longest ago while all take too much memory."""
        while self._size > self._most and len(self._sites) > 1:
            name, oldest = self._sites.popitem(last=False)
            self._due.pop(name, None)
            self._pages -= len(oldest.memory)
            self._size -= oldest.memory.size


def _says_more(before: int, now: int) -> bool:
    """Whether *now* URLs that have shown two pages are enough more than *before* for another look."""
    return now >= before + LEAST_URLS or before < LEAST_URLS <= now


def _merges_different_pages(rule: Rule, log: SiteLog) -> bool:
    """Whether *rule* merges pages that are known to be different."""
    shown: dict[str, str] = {}
    for page in with_redirects(log):
        if page.text_digest and not page.volatile:
            form = rule.apply(page.url)
            if shown.setdefault(form, page.text_digest) != page.text_digest:
                return True
    return False
