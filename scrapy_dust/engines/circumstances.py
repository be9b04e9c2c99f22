"""Digests of all that the mining of a site depends on: with equal digests, mining would find the same again.

A digest covers the site's log, record by record as merged; the settings that mining uses; the evidence of other sites
about edits; and the code, with the versions of the libraries that it uses. It covers too much rather than too little:
who changes a setting back and forth mines twice, and nobody gets the result of another log.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path

import numpy as np

from scrapy_dust import __version__
from scrapy_dust.propose.edits.pooling import Pool, Tallies, Tally
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import Page, SiteLog

#: The settings that `local.mine_log` reads; a test sees to it that these are all.
READ_BY_MINING = (
    *("learner", "max_substring", "bucket_low", "bucket_high", "min_support", "similar", "sketch_matches"),
    *("max_relative_deficiency", "max_absolute_deficiency", "max_window", "max_loss", "same"),
)

#: Packages whose code decides what is found, and how it is written down.
_ROOMS = ("believe", "propose", "visits", "page", "engines", "rule_book", "rules", "url")

_of_page = [(field.name, attrgetter(field.name)) for field in fields(Page)]
#: So many pages are digested at a time.
_PAGES = 10_000
_tally = attrgetter(*(field.name for field in fields(Tally)))


@dataclass(frozen=True, slots=True)
class Keys:
    """The digests for one site: for its rules and for its edits."""

    rules: str
    edits: str


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The part of the digests that is the same for all sites of a run."""

    common: str  #: the code, the settings, and whether redirects count
    sites: Mapping[str, str]  #: what each site has shown of edits
    pooled: str  #: what all of them have
    with_edits: bool = True  #: they are learned

    def keys(self, site: str, log: SiteLog) -> Keys:
        """The digests for *site* with this *log*."""
        rules = _digest([self.common, site, *_said(log)])
        # Without contents nothing is learned, whatever others have shown.
        learns = self.with_edits and any(page.text_digest for page in log.pages)
        return Keys(rules, _digest([rules, self._pool_without(site)]) if learns else rules)

    def _pool_without(self, site: str) -> str:
        if site not in self.sites:
            return self.pooled
        return _digest(self.sites[other] for other in self.sites if other != site)


def circumstances_of(settings: DustSettings, pool: Pool, *, redirects_count: bool) -> Circumstances:
    """The circumstances of a run with these *settings*."""
    read = [(name, getattr(settings, name)) for name in READ_BY_MINING]
    sites = {site: _digest([site, *_shown(tallies)]) for site, tallies in pool.sites.items()}
    common, with_edits = _digest([made_by(), read, redirects_count]), settings.learner != "dustbuster"
    return Circumstances(common, sites, _digest(sites.values()), with_edits)


@cache
def made_by() -> str:
    """A digest of the code that mines. It covers the code's text, since the version number stays between releases."""
    package = Path(__file__).parents[1]
    files = sorted(file for room in _ROOMS for file in (package / room).rglob("*.py"))
    texts = (file.read_bytes() for file in files)
    return _digest([__version__, sys.version, unicodedata.unidata_version, np.__version__, *texts])


def _said(log: SiteLog) -> Iterable[object]:
    # Column by column, and of a column that says one thing only that: a record has seventeen, and most are alike.
    for begin in range(0, len(log.pages), _PAGES):
        pages = log.pages[begin : begin + _PAGES]
        for name, value_of in _of_page:
            column = [value_of(page) for page in pages]
            same = column.count(column[0]) == len(column)
            yield name, len(column), column[:1] if same else column
    yield list(log.redirects.items())
    yield sorted(log.failures)


def _shown(tallies: Tallies) -> Iterable[object]:
    return ((kind, _tally(tally)) for kind, tally in tallies.items())


def _digest(said: Iterable[object]) -> str:
    digest = blake2b(digest_size=16)
    for one in said:
        # Of texts, numbers and None, the literal is unambiguous, and holds no line break.
        digest.update(repr(one).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
