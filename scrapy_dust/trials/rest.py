"""Skips sites at rest: sites where all is decided, and where neither the log nor anything else has changed since.

A run fetches nothing from such a site and decides nothing. Beside the verdicts, a digest is kept of all that the
decisions depend on: the log, the rules in force or on probation, the refuted ones, the parameters and the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.input_digests import READ_BY_MINING, digest_of, made_by
from scrapy_dust.engines.local import trial_params
from scrapy_dust.page.site_log import comparison_of
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import SiteLog


@dataclass(frozen=True, slots=True)
class Rest:
    """When a site is at rest: called with a rule book and verdicts, it gives a digest of all that decides what the trials of the
    site would do. Equal digests mean that nothing is new.
    """

    site: str
    said: str  #: a digest of the log (`said_by`)
    settings: DustSettings

    def __call__(self, book: RuleBook, verdicts: Verdicts) -> str:
        """The digest of all that decides what the trials would do, by *book* and *verdicts*."""
        return digest_of(self._circumstances(book, verdicts))

    def _circumstances(self, book: RuleBook, verdicts: Verdicts) -> Iterator[object]:
        """All that decides what the trials of the site would do, one thing after the other."""
        yield made_by()
        yield [getattr(self.settings, name) for name in READ_BY_MINING]
        yield settings_of_trials(self.settings)
        yield self.said
        yield sorted((rule_id(self.site, one.rule), str(one.status)) for one in book.entries(self.site))
        past = verdicts.of_site(self.site).items()
        yield sorted(rule_id(self.site, rule) for rule, one in past if one.verdict is Verdict.REFUTED)


def settings_of_trials(settings: DustSettings) -> tuple[object, ...]:
    """The *settings* that trials read, beside those that mining reads."""
    return (
        trial_params(settings),
        *(settings.max_risk, settings.passes, settings.never_probe, settings.ignore),
        settings.validation_test,
    )


def said_by(log: SiteLog) -> str:
    """A digest of the pages, redirects and declarations in *log*, as mining reads them."""
    return digest_of([*_page_rows(log), sorted(log.redirects.items()), sorted(log.declared)])


def _page_rows(log: SiteLog) -> Iterator[object]:
    """A row for each page of *log*: its URL, and its content as mining reads it."""
    comparison = comparison_of(log)
    for page in log.pages:
        units = None if comparison is None else comparison.totals(page.url)
        words = (page.text_digest, page.volatile) if comparison is None else (None, False)
        yield page.url, units, *words, page.sketch, page.title, page.canonical, page.size
