"""Tells whether two pages are likely to be similar: by sketches, by ranges of sizes, or without an opinion.

Paper §4, the similarity likeliness heuristic: two URLs are *unlikely* to be similar when their sketches differ, or
when the ranges of the sizes seen for them do not overlap. A page without a sketch (or a size) is not unlikely to be
similar to any.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

import numpy as np
import numpy.typing as npt

from scrapy_dust.visits.pages import Page

Indices = npt.NDArray[np.int64]
#: Numbers of pages.
Numbers = npt.NDArray[np.int64] | npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class Similar(StrEnum):
    """The ways in which LikelySimilar compares pages."""

    AUTO = "auto"  #: sketches where the log has them, else sizes
    SKETCH = "sketch"
    SIZE = "size"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Likeness:
    """LikelySimilar for the pages of a site, many pairs at a time."""

    similar: Similar  #: auto: by what is here of a page; pages of several sites, each with one of the two
    matches: int  #: how many hashes of two sketches must agree: k of 4
    sketches: Indices  #: pages × hashes, values interned; -1 where a sketch is shorter
    sketch_lengths: Indices  #: 0: no sketch
    sizes: Indices  #: pages × 2; the whole number line where no size is known

    def likely(self, a: Numbers, b: Numbers) -> Bools:
        """For each pair of page numbers, False where the two are unlikely to be similar."""
        if self.similar is Similar.SKETCH:
            return self._sketches_match(a, b)
        if self.similar is Similar.SIZE:
            return self._sizes_overlap(a, b)
        if self.similar is Similar.AUTO:
            return self._sketches_match(a, b) & self._sizes_overlap(a, b)
        return np.ones(len(a), dtype=np.bool_)

    def _sizes_overlap(self, a: Numbers, b: Numbers) -> Bools:
        """Whether the ranges of sizes of the two pages overlap."""
        overlap: Bools = (self.sizes[a, 0] <= self.sizes[b, 1]) & (self.sizes[b, 0] <= self.sizes[a, 1])
        return overlap

    def _sketches_match(self, a: Numbers, b: Numbers) -> Bools:
        """Whether enough hashes of the two sketches agree; also True where a page has no sketch."""
        agreeing = np.zeros(len(a), dtype=np.int64)
        for column in range(self.sketches.shape[1]):
            of_a = self.sketches[a, column]
            agreeing += (of_a == self.sketches[b, column]) & (of_a >= 0)
        lengths_a, lengths_b = self.sketch_lengths[a], self.sketch_lengths[b]
        needed = np.minimum(self.matches, np.maximum(lengths_a, lengths_b))
        likely: Bools = (agreeing >= needed) | (lengths_a == 0) | (lengths_b == 0)
        return likely

    def reordered(self, order: Indices) -> Likeness:
        """The same test for the pages in another *order*."""
        return replace(
            self,
            sketches=self.sketches[order],
            sketch_lengths=self.sketch_lengths[order],
            sizes=self.sizes[order],
        )


def joined_likeness(sites: Sequence[Likeness]) -> Likeness:
    """One such test for the pages of several *sites*, site after site. Both pages of a pair must be of one site."""
    if len(sites) == 1:
        return sites[0]
    kinds = {one.similar for one in sites}
    width = max(one.sketches.shape[1] for one in sites)
    sketches, lengths, sizes = [], [], []
    for one in sites:
        by_sketch, count = one.similar is Similar.SKETCH, len(one.sizes)
        wide = np.full((count, width), -1, dtype=np.int64)
        if by_sketch:
            wide[:, : one.sketches.shape[1]] = one.sketches
        sketches.append(wide)
        lengths.append(one.sketch_lengths if by_sketch else np.zeros(count, dtype=np.int64))
        sizes.append(_unknown_sizes(count) if by_sketch else one.sizes)
    similar = kinds.pop() if len(kinds) == 1 else Similar.AUTO
    return Likeness(
        similar, sites[0].matches, np.concatenate(sketches), np.concatenate(lengths), np.concatenate(sizes)
    )


def _unknown_sizes(count: int) -> Indices:
    """Ranges of sizes for *count* pages without a known size, which overlap with every other range."""
    sizes = np.empty((count, 2), dtype=np.int64)
    sizes[:, 0], sizes[:, 1] = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    return sizes


def _as_small_numbers(values: Sequence[int]) -> Indices:
    """Numbers that are equal where *values* are, none of them negative, for hashes of any width."""
    with suppress(OverflowError):
        found = np.array(values, dtype=np.int64)
        if not len(found) or found.min() >= 0:
            return found
    interned: dict[int, int] = {}
    return np.array([interned.setdefault(value, len(interned)) for value in values], dtype=np.int64)


def likeness_of(pages: Sequence[Page], similar: Similar, matches: int = 4) -> Likeness:
    """A test that says which two of *pages* are likely to be similar, by sketches or sizes. *matches*: hashes of two
    sketches that must be equal.
    """
    if similar is Similar.AUTO:
        similar = Similar.SKETCH if any(page.sketch for page in pages) else Similar.SIZE
    lengths = np.array([len(page.sketch or ()) for page in pages], dtype=np.int64)
    sketches = np.full((len(pages), int(lengths.max(initial=0))), -1, dtype=np.int64)
    values = chain.from_iterable([page.sketch or () for page in pages])
    sketches[np.arange(sketches.shape[1]) < lengths[:, np.newaxis]] = _as_small_numbers(list(values))
    sizes = _unknown_sizes(len(pages))
    known = [(number, *page.size) for number, page in enumerate(pages) if page.size is not None]
    if known:
        of_known = np.array(known, dtype=np.int64)
        sizes[of_known[:, 0]] = of_known[:, 1:]
    return Likeness(similar, matches, sketches, lengths, sizes)
