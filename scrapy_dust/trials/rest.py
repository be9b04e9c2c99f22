"""A site at rest: all that its log suggests is settled, and neither the log nor what is known has changed since.

Then a run asks for nothing and decides nothing. What was true when a run ended is kept beside the verdicts, as a
digest: of the log's pages, what was mined of them, what is in force, what was refuted, and by which parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from scrapy_dust.dust.pages import Page
from scrapy_dust.dust.validation import Verdict
from scrapy_dust.engines.local import Mined, trial_params
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.rule_book.verdicts import Verdicts
from scrapy_dust.settings import DustSettings


def rest_of(mined: Mined, book: RuleBook, verdicts: Verdicts, settings: DustSettings) -> str:
    """A digest of all that the trials of the site depend on."""
    digest = blake2b(digest_size=16)
    for said in _said(mined, book, verdicts, settings):
        digest.update(repr(said).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def _said(mined: Mined, book: RuleBook, verdicts: Verdicts, settings: DustSettings) -> Iterator[object]:
    yield trial_params(settings), settings.passes, settings.sketch_matches, settings.never_probe
    yield from map(_shown, mined.log.pages)
    yield sorted(mined.log.redirects.items())
    if mined.log.declared:
        yield sorted(mined.log.declared)
    for candidate in mined.candidates():
        yield [rule_id(mined.site, rule) for rule in candidate.rules], candidate.support
    yield sorted((rule_id(mined.site, one.rule), str(one.status)) for one in book.entries(mined.site))
    refuted = (rule for rule, one in verdicts.of(mined.site).items() if one.verdict is Verdict.REFUTED)
    yield sorted(rule_id(mined.site, rule) for rule in refuted)


def _shown(page: Page) -> tuple[object, ...]:
    return page.url, page.text_digest, page.sketch, page.title, page.canonical, page.size, page.volatile
