"""Digests of all that the mining of a site depends on: with equal digests, mining would find the same again.

A digest covers the site's log, record by record as merged; the settings that mining uses; and the code, with the
versions of the libraries that it uses. It covers too much rather than too little: who changes a setting back and forth
mines twice, and nobody gets the result of another log. (Edits depend on other sites, too. The questions that other
sites answered are kept with the edits.)

Another digest covers the records of a site as they came, so that their contents need not be read for it.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from scrapy_dust import __version__
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import PackedUnits, Page, SiteLog, Visit

#: The settings that `local.mine_log` reads; a test sees to it that these are all.
READ_BY_MINING = (
    *("learner", "max_substring", "bucket_low", "bucket_high", "min_support", "similar", "sketch_matches"),
    *("max_relative_deficiency", "max_absolute_deficiency", "max_window", "max_loss", "same"),
)

#: Packages whose code decides what is found and what becomes of it, and how it is written down.
_ROOMS = ("believe", "propose", "visits", "page", "judge", "engines", "rule_book", "rules", "trials", "url")

_Columns = Sequence[tuple[str, Callable[[Any], object]]]
_of_page: _Columns = [(field.name, attrgetter(field.name)) for field in fields(Page)]
_of_visit: _Columns = [(field.name, attrgetter(field.name)) for field in fields(Visit)]
#: So many pages are digested at a time.
_PAGES = 10_000


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The part of the digests that is the same for all sites of a run."""

    common: str  #: the code, the settings, and whether redirects count

    def key(self, site: str, log: SiteLog) -> str:
        """The digest of all that mining *site* with this *log* depends on."""
        redirects, failures = list(log.redirects.items()), sorted(log.failures)
        return digest_of([self.common, site, *_by_columns(log.pages, _of_page), redirects, failures])

    def key_of_visits(self, site: str, visits: Sequence[Visit], share: float) -> str:
        """The digest of all that mining *site* with these records depends on. Their order counts only for records of
        one URL.
        """
        in_order = sorted(visits, key=attrgetter("url"))
        return digest_of([self.common, site, share, *_by_columns(in_order, _of_visit)])


def circumstances_of(settings: DustSettings, *, redirects_count: bool) -> Circumstances:
    """The circumstances of a run with these *settings*: all that mining depends on beside the log."""
    read = [(name, getattr(settings, name)) for name in READ_BY_MINING]
    return Circumstances(digest_of([made_by(), read, redirects_count]))


@cache
def made_by() -> str:
    """A digest of the code that mines. It covers the code's text, since the version number stays between releases."""
    package = Path(__file__).parents[1]
    files = sorted(file for room in _ROOMS for file in (package / room).rglob("*.py"))
    texts = (file.read_bytes() for file in files)
    return digest_of([__version__, sys.version, unicodedata.unidata_version, np.__version__, *texts])


def _by_columns(rows: Sequence[object], columns: _Columns) -> Iterable[object]:
    """The values of *rows*, column by column; a column that has one value throughout gives this value once."""
    # Column by column, and of a column that says one thing only that: a record has seventeen, and most are alike.
    for begin in range(0, len(rows), _PAGES):
        some = rows[begin : begin + _PAGES]
        for name, value_of in columns:
            column = [_plain(value_of(one)) for one in some]
            same = column.count(column[0]) == len(column)
            yield name, len(column), column[:1] if same else column


def _plain(value: object) -> object:
    """*value*; packed units as a tuple, which `repr` writes in full."""
    return (value.content, value.total, value.whole) if isinstance(value, PackedUnits) else value


def digest_of(said: Iterable[object]) -> str:
    """A digest of all values *said*, in their order: of texts, numbers, None, and sequences of these."""
    digest = blake2b(digest_size=16)
    for one in said:
        # Of texts, numbers and None, the literal is unambiguous, and holds no line break.
        digest.update(repr(one).encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
