"""What is learned of all sites of a crawl while it goes on: told of each page, it says which sites are worth a look.

A site costs its pages until two of them show one content; then its suspicions are kept (`suspicions.py`), and it is
looked at (`looking.py`) each time it has grown by a part, so that all looks together cost a few times the last one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.edits.pooling import NOTHING_POOLED, Pool
from scrapy_dust.dust.pages import SiteLog, Visit, page_behind, with_redirects
from scrapy_dust.dust.rules import Rule
from scrapy_dust.online.looking import look
from scrapy_dust.online.memory import MOST_PAGES, SiteMemory
from scrapy_dust.online.messages import Finding
from scrapy_dust.online.suspicions import Suspicions
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of

#: A site is looked at when it has so many pages more than at the last look: at least, and as a part of them. With a
#: part of 0.03, a replay of hgweb in sorted order loses 8 pages: each look is one more chance to believe what is false.
_MORE, _PART = 20, 0.2


@dataclass(slots=True)
class _Site:
    memory: SiteMemory = field(default_factory=SiteMemory)
    contents: set[int] = field(default_factory=set)  #: hashes; until two pages show one
    has_copies: bool = False
    looked_at: int = 0  #: pages at the last look
    rules: Sequence[Rule] = ()
    likely: Sequence[Rule] = ()
    refuted: tuple[Rule, ...] = ()


class OnlineLearner:
    """Of one crawl."""

    def __init__(
        self,
        settings: DustSettings,
        pool: Pool = NOTHING_POOLED,
        most_pages: int = MOST_PAGES,
        in_force: Mapping[str, Sequence[Rule]] = MappingProxyType({}),
    ) -> None:
        """*in_force*: rules that were learned before, by site."""
        self._settings, self._pool, self._most = settings, pool, most_pages
        self._sites: OrderedDict[str, _Site] = OrderedDict(
            (site, _Site(rules=tuple(rules))) for site, rules in in_force.items()
        )  #: the one seen longest ago first
        self._pages = 0
        self._due: dict[str, None] = {}

    def __len__(self) -> int:
        """Pages that are remembered."""
        return self._pages

    def see(self, visit: Visit) -> None:
        name = site_of(visit.url)
        if name is None:
            return
        site = self._sites.setdefault(name, _Site())
        self._sites.move_to_end(name)
        before = len(site.memory)
        is_new = site.memory.add(visit)
        self._pages += len(site.memory) - before
        if is_new:
            self._note(name, site, visit)
            self._make_room()

    def refute(self, site: str, rule: Rule) -> None:
        """The crawl has found *rule* to be false."""
        known = self._sites.setdefault(site, _Site())
        known.refuted = (*known.refuted, rule)
        self._due[site] = None

    def due(self) -> Iterator[str]:
        """The sites that are worth a look, taken off one by one."""
        while self._due:
            name = next(iter(self._due))
            del self._due[name]
            yield name

    def undecided(self) -> list[str]:
        """The sites with likely rules of which more was seen since the last look, that seen last first."""
        return [
            name
            for name, site in reversed(self._sites.items())
            if site.likely and site.memory.seen > site.looked_at
        ]

    def look(self, name: str) -> Finding | None:
        """None: nothing is different from what it was."""
        site = self._sites.get(name)
        if site is None:
            return None
        site.looked_at = site.memory.seen
        log = site.memory.log()
        looked = look(name, log, self._settings, pool=self._pool, refuted=site.refuted)
        suspicions = Suspicions(Canonizer({name: looked.rules}, site_of, self._settings.passes).canonize)
        pages = {page.url: page for page in log.pages}
        for url in site.memory.urls:
            page = page_behind(url, pages, log.redirects)
            if page is not None and page.text_digest and not page.volatile:
                suspicions.see(url, page.text_digest)
        rules = tuple(rule for rule in looked.rules if rule not in site.refuted)
        gone = self._false(name, site, rules, log)
        known = {*rules, *site.refuted}
        likely = tuple(
            dict.fromkeys(one for one in (*looked.likely, *suspicions.grave()) if one not in known)
        )
        is_new = set(rules) != set(site.rules) or set(likely) != set(site.likely)
        site.rules, site.likely = tuple(dict.fromkeys((*rules, *site.rules))), likely
        return Finding(name, rules, likely, looked.held, gone) if is_new or rules or likely or gone else None

    def showed_the_same(self, url: str, other: str) -> bool | None:
        """Whether the two, one class by the rules, showed one text, and no other class did; None: not known, or not yet.

        What other classes show too may be a wall.
        """
        site = self._sites.get(site_of(url) or "")
        if site is None:
            return None
        shown, by_other = site.memory.text(url), site.memory.text(other)
        if shown is None or by_other is None:
            return None
        canonize = Canonizer({site_of(url) or "": site.rules}, site_of, self._settings.passes).canonize
        form = canonize(url)
        return shown == by_other and all(
            canonize(one) == form for one in site.memory.urls if site.memory.text(one) == shown
        )

    def _false(self, name: str, site: _Site, rules: Sequence[Rule], log: SiteLog) -> list[str]:
        """The rules in force that no longer hold: a look that does not find one again has seen pages against it."""
        gone = []
        for rule in site.rules:
            if rule not in rules and _fails(rule, log):
                site.refuted = (*site.refuted, rule)
                gone.append(rule_id(name, rule))
        site.rules = tuple(rule for rule in site.rules if rule not in site.refuted)
        return gone

    def _note(self, name: str, site: _Site, visit: Visit) -> None:
        if not site.has_copies:
            shown = hash(visit.text_digest or visit.digest or visit.redirect_to or visit.url)
            site.has_copies = shown in site.contents or bool(visit.redirect_to)
            site.contents.add(shown)
            if site.has_copies:
                site.contents = set()
        grown = site.memory.seen - site.looked_at
        if site.has_copies and grown >= max(_MORE, _PART * site.looked_at):
            self._due[name] = None

    def _make_room(self) -> None:
        while self._pages > self._most and len(self._sites) > 1:
            name, oldest = self._sites.popitem(last=False)
            self._due.pop(name, None)
            self._pages -= len(oldest.memory)


def _fails(rule: Rule, log: SiteLog) -> bool:
    """Whether *rule* gives pages one form that are known to be different."""
    shown: dict[str, str] = {}
    for page in with_redirects(log):
        if page.text_digest and not page.volatile:
            form = rule.apply(page.url)
            if shown.setdefault(form, page.text_digest) != page.text_digest:
                return True
    return False
