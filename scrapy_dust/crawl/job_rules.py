"""Keeps a paused job on the rules that it began with.

Other rules would make other classes, and pages would be fetched twice. So the JOBDIR has a copy of the rule book, and
rules that `dustmine` has learned since then apply from the next job on.

If a rule of the copy was withdrawn since, because it proved wrong or somebody disabled it, its whole site is *set
aside*: only repetitions of the very same request are filtered there.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from scrapy_dust.errors import DustError
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Status
from scrapy_dust.settings import DustSettings

logger = logging.getLogger(__name__)

#: In a JOBDIR: the version of the rules that its fingerprints were made with, and these rules.
VERSION_FILE = "dust-rules.version"
RULES_FILE = "dust-rules.json"

#: The version where no rule is in force: the keys are those of the fingerprinter underneath.
NO_RULES = "none"


@dataclass(frozen=True, slots=True)
class RulesInForce:
    """The rules and settings that a crawl applies, which may be those that its job began with."""

    book: RuleBook
    settings: DustSettings
    set_aside: frozenset[str] = frozenset()  #: sites of which a rule was taken back since the job began
    left_alone: tuple[str, ...] = ()  #: domains that rules are to leave alone since then

    @property
    def version(self) -> str:
        """A text that is different whenever these rules would make different keys."""
        if self.settings.mode != "enforce" or not self.book.rules_by_site():
            return NO_RULES
        # Passes are part of it: with fewer of them a URL may keep the form it came with.
        skipped = (f"-{name}" for name in self.settings.skip_domains)
        return "/".join([self.book.version, str(self.settings.passes), *skipped])


def is_begun(jobdir: str) -> bool:
    """Whether an earlier crawl has begun the job in *jobdir*."""
    return Path(jobdir, VERSION_FILE).exists()


def rules_of_job(jobdir: str, now: RulesInForce) -> RulesInForce:
    """The rules that the job in *jobdir* began with; *now* if the job begins with this crawl.

    If the job's rules cannot be read, or this version would apply them in another way, the job goes on with *now*.
    Classes are named by their rules, so no class of before is mistaken for one of now; at worst, a page is fetched
    again.
    """
    try:
        begun_with = Path(jobdir, VERSION_FILE).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        _begin(jobdir, now)
        return now
    except (OSError, ValueError) as error:
        return _begin_anew(jobdir, now, error)
    if begun_with == now.version:
        return now
    if begun_with == NO_RULES:
        logger.info(
            "%s was begun without rules and goes on without: they apply from the next job on.", jobdir
        )
        return replace(now, book=RuleBook())
    try:
        return _continue_with(jobdir, begun_with, now)
    except (DustError, OSError, ValueError) as error:
        return _begin_anew(jobdir, now, error)


def _begin_anew(jobdir: str, now: RulesInForce, error: Exception) -> RulesInForce:
    logger.warning(
        "%s: it cannot be told with which rules the job began (%s). It goes on with those of now, and may fetch again what "
        "other URLs have shown.",
        *(jobdir, error),
    )
    with suppress(OSError, DustError):
        _begin(jobdir, now)
    return now


def _begin(jobdir: str, now: RulesInForce) -> None:
    if now.version != NO_RULES:
        in_force = RuleBook()
        for site in now.book.rules_by_site():
            valid = [entry for entry in now.book.entries(site) if entry.status is Status.VALID]
            in_force = in_force.with_site(site, valid)
        in_force.save(Path(jobdir, RULES_FILE))
    unfinished = Path(jobdir, f"{VERSION_FILE}.new")
    unfinished.write_text(f"{now.version}\n", encoding="ascii")
    unfinished.replace(Path(jobdir, VERSION_FILE))


def _continue_with(jobdir: str, begun_with: str, now: RulesInForce) -> RulesInForce:
    book = RuleBook.load([str(Path(jobdir, RULES_FILE))])
    _, passes, *skipped = begun_with.split("/")
    domains = tuple(name.removeprefix("-") for name in skipped)
    settings = replace(now.settings, mode="enforce", passes=int(passes), skip_domains=domains)
    left_alone = tuple(name for name in now.settings.skip_domains if name not in domains)
    begun = RulesInForce(book, settings, _sites_taken_back(book, now), left_alone)
    if begun.version != begun_with:
        raise DustError("this version applies them in another way")
    none = f", but on {_list_sites(begun.set_aside)}, where rules were taken back, none is applied"
    logger.info(
        "%s goes on with the rules it was begun with, so that keys are not mixed; what changed since applies from "
        "the next job on%s.",
        *(jobdir, none if begun.set_aside else ""),
    )
    return begun


def _sites_taken_back(book: RuleBook, now: RulesInForce) -> frozenset[str]:
    if now.settings.mode != "enforce":
        return frozenset(book.sites)
    valid = {site: set(rules) for site, rules in now.book.rules_by_site().items()}
    return frozenset(
        site
        for site in book.sites
        if any(entry.rule not in valid.get(site, ()) for entry in book.entries(site))
    )


def _list_sites(sites: frozenset[str]) -> str:
    first = sorted(sites)[:3]
    return ", ".join(first) + (f" and {len(sites) - len(first)} more" if len(sites) > len(first) else "")
