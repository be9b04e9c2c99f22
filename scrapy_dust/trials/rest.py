"""Skips sites at rest: sites where all is decided, and where neither the log nor anything else has changed since.

A run fetches nothing from such a site and decides nothing. Beside the verdicts, a digest is kept of all that the
decisions depend on: the log, the rules in force or on probation, the refuted ones, the parameters and the code.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from scrapy_dust.believe.validation import Verdict
from scrapy_dust.engines.circumstances import READ_BY_MINING, made_by
from scrapy_dust.engines.local import Mined, trial_params
from scrapy_dust.page.site_log import comparison_of
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import SiteLog


def rest_of(mined: Mined, book: RuleBook, verdicts: Verdicts, settings: DustSettings) -> str:
    """A digest of all that decides what the trials of a site would do; equal digests mean that nothing is new."""
    digest = blake2b(digest_size=16)
    for said in _said(mined, book, verdicts, settings):
        digest.update(repr(said).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _said(mined: Mined, book: RuleBook, verdicts: Verdicts, settings: DustSettings) -> Iterator[object]:
    yield made_by()
    yield [getattr(settings, name) for name in READ_BY_MINING]
    yield (trial_params(settings), settings.max_risk, settings.passes, settings.never_probe, settings.ignore)
    yield from _shown(mined.log)
    yield sorted(mined.log.redirects.items())
    if mined.log.declared:
        yield sorted(mined.log.declared)
    yield sorted((rule_id(mined.site, one.rule), str(one.status)) for one in book.entries(mined.site))
    refuted = (rule for rule, one in verdicts.of_site(mined.site).items() if one.verdict is Verdict.REFUTED)
    yield sorted(rule_id(mined.site, rule) for rule in refuted)


def _shown(log: SiteLog) -> Iterator[object]:
    """A digest of what the pages of *log* showed; other knowledge may make mining read the same pages in another way."""
    comparison = comparison_of(log)
    for page in log.pages:
        units = None if comparison is None else comparison.totals(page.url)
        words = (page.text_digest, page.volatile) if comparison is None else (None, False)
        yield page.url, units, *words, page.sketch, page.title, page.canonical, page.size
