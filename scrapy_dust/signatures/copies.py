"""Whether a page that was just fetched is a copy of one that was fetched under another URL.

Pages with equal bytes are copies, and so are pages with equal units; pages that differ in a counter, a date or an
advertisement are copies if the project asks for that. These pages are never copies, since a spider may have to act on
them:

- a page that says next to nothing: the shell that a script fills, a listing without entries;
- a page not known to belong to both of its URLs: it may be a wall in the place of two pages;
- a page whose URL had a content of its own when it was last seen: it has been replaced, perhaps for a moment;
- a page that reads like an error, a login or a block, whatever its status.

Texts that many pages of a site have count for none of them. Henzinger (SIGIR 2006) found that such boilerplate is why
near-duplicate detection fails within a site.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from scrapy_dust.visits.pages import LEAST_OWN

Shingles = npt.NDArray[np.uint64]


class Sameness(StrEnum):
    """In which way a page equals another."""

    BODY = "body"  #: equal bytes
    UNITS = "units"  #: nothing on either that the other does not show
    NEAR = "near"  #: nearly equal texts, boilerplate set aside


class Kind(StrEnum):
    """The kind of a page's content, which decides whether other pages may be copies of the page."""

    CONTENT = "content"
    LITTLE = "little"  #: says next to nothing
    ERROR = "error"  #: reads like an error
    CHANGED = "changed"  #: its URL had a content of its own
    WALL = "wall"  #: nothing shows that it belongs to both URLs


#: Different texts of a site to have seen before any of it is called boilerplate, and how many must have it.
_TEXTS, _LEAST = 8, 3
#: The share of a site's texts that must have a part for a page to say nothing by that part. To be alike, pages must share more than what any
#: three texts have: a section may be a small part of a site, and its frame most of each of its pages.
_SHARE = 0.2
#: Fewer words than these are too little for an HTML page; fewer shingles beside the boilerplate to be nearly another one.
LITTLE, LITTLE_TO_COMPARE = 10, 20
#: Files without text that have fewer bytes are a dot or an empty answer.
LITTLE_BYTES = 64
#: Errors are short: one that has more units of its own, or more words, is a page about errors.
_LONGEST_ERROR, _SHORT = 20, 60

_ROWS = 2
_HEADINGS = 0x5851F42D4C957F2D


class Boilerplate:
    """Counts how many different contents of a site have each unit, or each shingle, for all sites in 4 bytes a cell.

    A count-min sketch: counts may be too high, never too low, and so a page may seem to say less than it does, which
    lets it through. With as many cells as there are units, one of 400 is thought to be in three texts.
    """

    def __init__(self, bits: int = 22) -> None:
        self._bits = np.uint64(bits)
        self._counts = np.zeros((_ROWS, 1 << bits), np.uint16)
        self._texts: Counter[int] = Counter()

    def learn(self, site: int, shingles: Shingles) -> None:
        """Count one more text. The same text must not be given twice."""
        self._texts[site] += 1
        self._count(site, shingles)

    def learn_heading(self, site: int, heading: int) -> None:
        """Count the *heading* of a page that is no copy."""
        self._count(site ^ _HEADINGS, np.array([heading], np.uint64))

    def is_general(self, site: int, heading: int) -> bool:
        """Whether different pages of *site* have this heading, so that the heading does not say what a page is."""
        return int(self._counts_of(site ^ _HEADINGS, np.array([heading], np.uint64))[0]) >= 2

    def _count(self, site: int, shingles: Shingles) -> None:
        """Count one more text with *shingles*."""
        for row, cells in enumerate(self._cells(site, shingles)):
            counts = self._counts[row]
            counts[cells] += counts[cells] < np.iinfo(np.uint16).max

    def without_boilerplate(self, site: int, shingles: Shingles, *, strict: bool = False) -> Shingles:
        """*shingles* without those that many texts of *site* have; with *strict*, without those that a few have."""
        texts = self._texts[site]
        if texts < _TEXTS:
            return shingles
        least = _LEAST if strict else max(_LEAST, _SHARE * texts)
        own: Shingles = shingles[self._counts_of(site, shingles) < min(least, np.iinfo(np.uint16).max)]
        return own

    def knows_enough(self, site: int) -> bool:
        """Whether enough texts of *site* were counted to tell its boilerplate."""
        return self._texts[site] >= _TEXTS

    def _counts_of(self, site: int, shingles: Shingles) -> npt.NDArray[np.uint16]:
        """How many texts of *site* have each of *shingles*, or more than that."""
        first, second = (self._counts[row][cells] for row, cells in enumerate(self._cells(site, shingles)))
        least: npt.NDArray[np.uint16] = np.minimum(first, second)
        return least

    def _cells(self, site: int, shingles: Shingles) -> tuple[Shingles, Shingles]:
        """The cells, in both rows, that count *shingles*."""
        mixed = (shingles ^ np.uint64(site)) * np.uint64(0x9E3779B97F4A7C15)
        below = (np.uint64(1) << self._bits) - np.uint64(1)
        return mixed >> (np.uint64(64) - self._bits), (mixed >> np.uint64(8)) & below


class Errors:
    """Words and phrases by which error pages are recognised, in any case."""

    def __init__(self, phrases: Sequence[str]) -> None:
        said = "|".join(
            re.escape(phrase.lower()) for phrase in sorted(phrases, key=len, reverse=True) if phrase
        )
        # In scripts that write no spaces there is no end of a word to wait for.
        self._said = re.compile(rf"(?<![a-z0-9])(?:{said})(?![a-z0-9])") if said else None

    def match(self, heading: str, beginning: str, words: int, own: int) -> bool:
        """Whether a page reads like an error. *own*: how many of its units are not common; *beginning*: its first words."""
        if self._said is None:
            return False
        if own < _LONGEST_ERROR and self._said.search(heading.lower()):
            return True
        return words < _SHORT and self._said.search(beginning.lower()) is not None


def is_little(own: int, words: int, *, is_markup: bool) -> bool:
    """Whether a page says next to nothing. *own*: how many of its units are not common. Markup without words may be an empty shell."""
    return own < LEAST_OWN or (is_markup and words < LITTLE)


@dataclass(frozen=True, slots=True)
class Face:
    """The parts of a page that must be equal in near-duplicates, however alike their texts are."""

    heading: int  #: hash of title and headings; 0: none
    canonical: str | None

    def may_be(self, other: Face) -> bool:
        """Whether pages with these two faces may be near-duplicates."""
        differing = self.canonical and other.canonical and self.canonical != other.canonical
        return self.heading == other.heading and not differing


#: Shingles that only one of two near-duplicates has: of a counter, a date and a line of advertisement, not of an entry
#: more, however long the page is.
MOST_CHANGED = 24


def resemblance(own: Shingles, other: Shingles, most_changed: int | None = None) -> float:
    """The Jaccard resemblance, exactly; 0 if there is too little to compare, or more than *most_changed* differs."""
    less, more = sorted((len(own), len(other)))
    if less < LITTLE_TO_COMPARE:
        return 0.0
    shared = len(np.intersect1d(own, other, assume_unique=True))
    if most_changed is not None and more - shared > most_changed:
        return 0.0
    return shared / (less + more - shared)


#: A pair of resemblance 0.8 shares at least one of these with a probability of 0.9998, one of 0.4 of 0.34.
BANDS, ROWS = 16, 4
_BAND_NUMBERS = np.arange(1, BANDS + 1, dtype=np.uint64)


def bands_of(site: int, minhash: npt.NDArray[np.uint32]) -> list[int]:
    """Keys of 63 bits: near-duplicates of one site have one of these keys in common."""
    rows = minhash.astype(np.uint64).reshape(BANDS, ROWS)
    keys = _BAND_NUMBERS * np.uint64(0xD6E8FEB86659FD93) ^ np.uint64(site)
    for column in range(ROWS):
        keys = (keys ^ rows[:, column]) * np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return [int(key) >> 1 for key in keys]
