"""The settings and the rules in force of one crawl.

The first of our components that is built reads them, once per crawler, so that fingerprinter, dupefilter and
extension never disagree, whichever of them a project has configured. A wrong setting, rule book or JOBDIR is reported
here, before anything is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler
from scrapy.utils.job import job_dir
from scrapy.utils.misc import load_object

from scrapy_dust.believe.states import is_decided_by_crawls
from scrapy_dust.crawl.job_rules import (
    LearnedBefore,
    RulesInForce,
    is_begun,
    learned_before,
    rules_of_job,
    set_aside_by,
)
from scrapy_dust.crawl_log.log_names import is_own_name, log_name
from scrapy_dust.crawl_log.log_places import log_dir, spider_log_dir
from scrapy_dust.errors import in_one_sentence
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Status, rule_id
from scrapy_dust.rule_book.safe_files import in_project
from scrapy_dust.rules.canonizer import Canonizer, Step
from scrapy_dust.rules.rule import Rule
from scrapy_dust.settings import DustSettings, setting_name
from scrapy_dust.sites import site_of


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """The rules of one crawl. They hold no reference to the crawler."""

    settings: DustSettings
    canonizer: Canonizer
    #: The canonizer's, which remembers the last URLs: several of us ask for each.
    canonize: Callable[[str], str]
    #: The key, the rules that change a URL, and its site; the last ones are remembered too.
    traced: Callable[[str], tuple[str, tuple[Rule, ...], str | None]]
    site_of: Callable[[str], str | None]  #: None also for what rules leave alone
    sites: frozenset[str]  #: that have rules
    count: int
    version: str  #: of all that determines keys
    stale: frozenset[str] = frozenset()  #: ids of rules that nothing has tested for too long
    changed: list[Callable[[], None]] = field(default_factory=list)  #: what to tell when keys change
    learned: set[str] = field(default_factory=set)  #: sites that got rules while the crawl went on
    may_learn: bool = False  #: rules may come into force while the crawl goes on
    set_aside: frozenset[str] = frozenset()  #: sites of which a rule was taken back since the job began
    left_alone: tuple[str, ...] = ()  #: domains of which all were taken back since the job began
    goes_on: bool = False  #: an earlier crawl has begun the job
    #: The rules that the job had learned before it was paused.
    before: LearnedBefore = field(default_factory=LearnedBefore)
    answering: frozenset[tuple[str, Rule]] = frozenset()  #: rules whose target has been seen to answer
    #: By site, how far rules reach that do not hold for any value (`believe/reach.py`).
    shown: Mapping[str, Mapping[Rule, Mapping[str, int]]] = field(default_factory=dict)
    #: Rules on probation, by site. They suppress nothing.
    on_probation: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)

    @property
    def enforced(self) -> bool:
        """Whether rules are in force: requests get the keys of their canonical forms."""
        has_some = bool(self.sites) or self.may_learn or bool(self.on_probation)
        return has_some and self.settings.mode == "enforce"

    @property
    def shadowed(self) -> bool:
        """Whether the crawl only counts what the rules would have suppressed."""
        return bool(self.sites) and self.settings.mode == "shadow"

    def may_get_rules(self, site: str) -> bool:
        """Whether rules of *site* may come into force while the crawl goes on."""
        return self.may_learn or site in self.on_probation or site in self.before.rules

    def rules_for(self, url: str) -> tuple[Rule, ...]:
        """The rules that change *url*."""
        return self.traced(url)[1]

    def may_cover(self, url: str) -> bool:
        """Whether rules apply to the site of *url*, or may do so before the crawl ends."""
        return self.canonizer.covers(url) or self.may_get_rules(self.site_of(url) or "")

    def are_set_aside(self, url: str) -> bool:
        """Whether the rules of *url*'s site are set aside: only repetitions of the very same request are filtered there."""
        if not self.left_alone and not self.set_aside:
            return False
        if self.left_alone and _site_of_except(self.left_alone)(url) is None:
            return True
        return bool(self.set_aside) and self.site_of(url) in self.set_aside

    def explain(self, url: str) -> tuple[tuple[str, Step], ...]:
        """The rules that change *url*, each with its id."""
        site = site_of(url) or ""
        return tuple((rule_id(site, step.rule), step) for step in self.canonizer.explain(url))

    def add_rules(self, site: str, rules: Sequence[Rule]) -> None:
        """Add *rules* of *site*: URLs that they change have other keys from now on."""
        self.canonizer.put(site, rules)
        self.learned.add(site)
        self._tell_changed()

    def suspend(self, site: str, rule: Rule) -> None:
        """Go on without *rule*: URLs that it changed have other keys from now on."""
        self.canonizer.drop(site, rule)
        self._tell_changed()

    def _tell_changed(self) -> None:
        """Call all functions that must know that the rules have changed."""
        for forget in self.changed:
            forget()


# Not an attribute of the crawler, which is not ours, and not a property of one component, since any may be missing.
_rules: WeakKeyDictionary[Crawler, CrawlRules] = WeakKeyDictionary()


@in_one_sentence()
def rules_of(crawler: Crawler) -> CrawlRules:
    """The rules of *crawler*'s crawl. Raises `ValueError` or `DustError`, in one sentence, if the crawl must not start."""
    if crawler not in _rules:
        settings = DustSettings.from_settings(crawler.settings)
        for name in (one.name for one in fields(settings) if one.name.startswith("fallback_")):
            _refuse_ours(name, getattr(settings, name))
        name = getattr(crawler.spider or crawler.spidercls, "name", None) or ""
        in_force = RulesInForce(_load_book(settings, name), settings)
        shown = _reach_by_rule(in_force.book)
        on_probation = _on_probation(in_force.book) if settings.mode == "enforce" else {}
        jobdir, before = job_dir(crawler.settings), LearnedBefore()
        goes_on = jobdir is not None and is_begun(jobdir)
        if settings.enabled and jobdir is not None:
            in_force, before = rules_of_job(jobdir, in_force), learned_before(jobdir)
        may_learn = settings.enabled and settings.learn == "online" and settings.log_enabled
        compiled = _crawl_rules(_for_paused_job(in_force, before), before)
        _rules[crawler] = replace(
            compiled, may_learn=may_learn, goes_on=goes_on, on_probation=on_probation, shown=shown
        )
    return _rules[crawler]


def _refuse_ours(name: str, underneath: object) -> None:
    """Raise `ValueError` if the setting *name* wraps a class of scrapy-dust in itself, which would call itself for ever."""
    found = load_object(underneath)  # type: ignore[arg-type]
    if any(base.__module__.startswith("scrapy_dust.") for base in getattr(found, "__mro__", ())):
        raise ValueError(f"{setting_name(name)} must be the class to put underneath, got scrapy-dust's own.")


def _load_book(settings: DustSettings, spider: str) -> RuleBook:
    """The rule book that *settings* name; an empty one if rules are off."""
    if not settings.enabled or settings.mode == "off":
        return RuleBook()
    book = RuleBook.load([in_project(path) for path in settings.rules])
    return _book_of_spider(book, settings, spider) if settings.same == "items" else book


def _on_probation(book: RuleBook) -> dict[str, tuple[Rule, ...]]:
    """By site, the rules that the crawl tests: rules on probation and suspended ones."""
    decided = (
        (site, tuple(one.rule for one in book.entries(site) if is_decided_by_crawls(one.status)))
        for site in book.sites
    )
    return {site: rules for site, rules in decided if rules}


def _reach_by_rule(book: RuleBook) -> dict[str, dict[Rule, Mapping[str, int]]]:
    """By site and rule, the values for which earlier crawls have confirmed the rule."""
    found: dict[str, dict[Rule, Mapping[str, int]]] = {}
    for site in book.sites:
        for entry in book.entries(site):
            if entry.evidence.shown:
                found.setdefault(site, {})[entry.rule] = dict(entry.evidence.shown)
    return found


def _book_of_spider(book: RuleBook, settings: DustSettings, spider: str) -> RuleBook:
    """*book* without rules shown only by other spiders' logs: these spiders take other things from the same pages."""
    folder = spider_log_dir(log_dir(settings.dir), spider)
    own = {log_name(file.name) for file in folder.glob("*")}
    for site in book.sites:
        entries = book.entries(site)
        kept = [
            one
            for one in entries
            if not own.isdisjoint(one.evidence.logs) or not any(map(is_own_name, one.evidence.logs))
        ]
        if len(kept) < len(entries):
            book = book.with_site(site, kept)
    return book


def _for_paused_job(in_force: RulesInForce, before: LearnedBefore) -> RulesInForce:
    """*in_force* for a paused job that had learned rules: the settings by which its keys were made stay."""
    if not before.rules:
        return in_force
    skipped = in_force.settings.skip_domains
    return replace(
        in_force,
        settings=replace(in_force.settings, mode="enforce"),
        set_aside=in_force.set_aside | set_aside_by(before, in_force.settings),
        left_alone=(*in_force.left_alone, *(name for name in skipped if name not in before.skipped)),
    )


def _crawl_rules(in_force: RulesInForce, before: LearnedBefore) -> CrawlRules:
    """The rules of a crawl that applies *in_force* and the rules that its job learned *before*."""
    book, settings = in_force.book, in_force.settings
    by_site = {**book.rules_by_site(), **before.rules}
    of = _site_of_except(settings.skip_domains)
    canonizer = Canonizer(by_site, of, settings.passes)

    traced = lru_cache(maxsize=200)(canonizer.key_and_rules)
    return CrawlRules(
        settings=settings,
        canonizer=canonizer,
        canonize=lambda url: traced(url)[0],
        traced=traced,
        site_of=of,
        sites=frozenset(by_site),
        count=sum(map(len, by_site.values())),
        version=in_force.version,
        stale=_stale_ids(book, settings.max_age),
        changed=[traced.cache_clear],
        set_aside=in_force.set_aside,
        left_alone=in_force.left_alone,
        answering=frozenset(_answering_rules(book, canonizer)) if settings.rewrite else frozenset(),
        learned=set(before.rules),
        before=before,
    )


@lru_cache(maxsize=8)
def _site_of_except(domains: tuple[str, ...]) -> Callable[[str], str | None]:
    """A function like `site_of` that returns None for the hosts of *domains* and the hosts below them."""
    if not domains:
        return site_of
    ends = tuple("." + domain.strip(".").lower() for domain in domains)

    def site_of_others(url: str) -> str | None:
        netloc = url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2].lower()
        names = "." + netloc, "." + netloc.rpartition(":")[0]
        return None if any(name.endswith(ends) for name in names) else site_of(url)

    return site_of_others


def _stale_ids(book: RuleBook, max_age: int) -> frozenset[str]:
    """The ids of valid rules whose last validation is more than *max_age* days ago."""
    if not max_age:
        return frozenset()
    oldest = (datetime.now(UTC).date() - timedelta(days=max_age)).isoformat()
    return frozenset(
        rule_id(site, entry.rule)
        for site in book.sites
        for entry in book.entries(site)
        if entry.status is Status.VALID and (entry.evidence.last_validated or oldest) < oldest
    )


def _answering_rules(book: RuleBook, canonizer: Canonizer) -> Iterator[tuple[str, Rule]]:
    """The rules that lead to a URL which a log or a validation saw answer with the right page.

    Rules for which a validation saw such a URL fail are left out. The second URL of an example answered, but mostly
    it is some other URL of the class, and not the one that the rule leads to.
    """
    for site, rules in book.rules_by_site().items():
        led_to = {
            entry.rule: [] if entry.evidence.unanswered else [b for _, b in entry.evidence.examples]
            for entry in book.entries(site)
        }
        for rule in rules:
            if any(canonizer.canonize(url) == url for url in led_to[rule]):
                yield site, rule
