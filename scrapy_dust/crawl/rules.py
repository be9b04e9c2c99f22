"""What one crawl goes by: its settings, and the rules in force.

Read once per crawler, by whichever of our components is built first, so that fingerprinter, dupefilter and
extension can never disagree, however few of them a project has configured. All that can be wrong (a setting,
a rule book, a JOBDIR begun with other rules) is said here, before anything is fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.utils.job import job_dir
from scrapy.utils.misc import load_object

from scrapy_dust.dust.canonization import Canonizer, Step
from scrapy_dust.dust.rules import Rule
from scrapy_dust.errors import DustError
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Status, rule_id
from scrapy_dust.rule_book.files import in_project
from scrapy_dust.settings import DustSettings, setting_name
from scrapy_dust.sites import site_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

#: In a JOBDIR: the version of the rules that its fingerprints were made with.
VERSION_FILE = "dust-rules.version"

#: The version where no rule is in force: the keys are those of the fingerprinter underneath.
NO_RULES = "none"


@dataclass(frozen=True, slots=True)
class CrawlRules:
    """The rules of one crawl. Nothing in it refers to the crawler."""

    settings: DustSettings
    canonizer: Canonizer
    canonize: Callable[
        [str], str
    ]  #: the canonizer's, which remembers the last URLs: several of us ask for each
    site_of: Callable[[str], str | None]  #: None also for what rules leave alone
    sites: frozenset[str]  #: that have rules
    count: int
    version: str  #: of all that determines keys
    stale: frozenset[str] = frozenset()  #: ids of rules that nothing has tested for too long
    changed: list[Callable[[], None]] = field(default_factory=list)  #: what to tell when keys change

    @property
    def enforced(self) -> bool:
        """Whether requests are keyed by canonical form."""
        return bool(self.sites) and self.settings.mode == "enforce"

    def cover(self, url: str) -> bool:
        """Whether any rule speaks of *url*'s site."""
        return bool(self.sites) and self.site_of(url) in self.sites

    def explain(self, url: str) -> tuple[tuple[str, Step], ...]:
        """The rules that change *url*, each with its id."""
        site = site_of(url) or ""
        return tuple((rule_id(site, step.rule), step) for step in self.canonizer.explain(url))

    def suspend(self, site: str, rule: Rule) -> None:
        """Go on without *rule*: URLs that it changed have other keys from now on."""
        self.canonizer.drop(site, rule)
        for forget in self.changed:
            forget()


# Not an attribute of the crawler, which is not ours, and not a property of one component, since any may be missing.
_rules: WeakKeyDictionary[Crawler, CrawlRules] = WeakKeyDictionary()


def rules_of(crawler: Crawler) -> CrawlRules:
    """Raises `ValueError` or `DustError`, in one sentence, if the crawl must not start."""
    if crawler not in _rules:
        settings = DustSettings.from_settings(crawler.settings)
        for name in ("fallback_request_fingerprinter_class", "fallback_dupefilter_class"):
            _refuse_ours(name, getattr(settings, name))
        rules = _load(settings)
        if settings.enabled:
            _hold_to(rules, job_dir(crawler.settings))
        _rules[crawler] = rules
    return _rules[crawler]


def _refuse_ours(name: str, underneath: object) -> None:
    """A class of ours under itself would ask itself for ever."""
    found = load_object(underneath)  # type: ignore[arg-type]
    if any(base.__module__.startswith("scrapy_dust.") for base in getattr(found, "__mro__", ())):
        raise ValueError(f"{setting_name(name)} must be the class to put underneath, got scrapy-dust's own.")


def _load(settings: DustSettings) -> CrawlRules:
    book = RuleBook()
    if settings.enabled and settings.mode != "off":
        book = RuleBook.load([in_project(path) for path in settings.rules])
    by_site = book.rules_by_site()
    # Passes are part of the version: with fewer of them a URL may keep the form it came with.
    keyed = bool(by_site) and settings.mode == "enforce"
    of = _but(settings.skip_domains)
    canonizer = Canonizer(by_site, of, settings.passes)
    canonize = lru_cache(maxsize=1000)(canonizer.canonize)
    skipped = "".join(f"/-{domain}" for domain in settings.skip_domains)
    return CrawlRules(
        settings=settings,
        canonizer=canonizer,
        canonize=canonize,
        site_of=of,
        sites=frozenset(by_site),
        count=sum(map(len, by_site.values())),
        version=f"{book.version}/{settings.passes}{skipped}" if keyed else NO_RULES,
        stale=_stale(book, settings.max_age),
        changed=[canonize.cache_clear],
    )


def _but(domains: Sequence[str]) -> Callable[[str], str | None]:
    """`site_of`, but None for the hosts of *domains* and those below them."""
    if not domains:
        return site_of
    ends = tuple("." + domain.strip(".").lower() for domain in domains)

    def site_of_others(url: str) -> str | None:
        netloc = url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2].lower()
        names = "." + netloc, "." + netloc.rpartition(":")[0]
        return None if any(name.endswith(ends) for name in names) else site_of(url)

    return site_of_others


def _stale(book: RuleBook, max_age: int) -> frozenset[str]:
    if not max_age:
        return frozenset()
    oldest = (datetime.now(UTC).date() - timedelta(days=max_age)).isoformat()
    return frozenset(
        rule_id(site, entry.rule)
        for site in book.sites
        for entry in book.entries(site)
        if entry.status is Status.VALID and (entry.evidence.last_validated or oldest) < oldest
    )


def _hold_to(rules: CrawlRules, jobdir: str | None) -> None:
    """Refuse to go on with a job whose fingerprints were made by other rules; begin a new one with these."""
    if jobdir is None:
        return
    record = Path(jobdir, VERSION_FILE)
    try:
        begun_with = record.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        record.write_text(f"{rules.version}\n", encoding="ascii")
        return
    if begun_with != rules.version:
        raise DustError(
            f"{jobdir} was begun with {_said(begun_with)} and the crawl would go on with {_said(rules.version)}: "
            "put the rule book and DUST_MODE back as they were, or begin anew with another JOBDIR."
        )


def _said(version: str) -> str:
    return "no rules" if version == NO_RULES else f"version {version} of the rules"


def names(explained: Sequence[tuple[str, Step]]) -> str:
    """Rules as a log line names them."""
    return ", ".join(f"{step.rule} [{identity}]" for identity, step in explained)
