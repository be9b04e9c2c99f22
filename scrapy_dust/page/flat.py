"""The units of many pages in one array, so that a site is processed in one pass.

Pages of one path template stand together. 100,000 pages of 150 units take 180 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.units import count_in, mixed, repeated, unpacked
from scrapy_dust.page.unitsets import UnitSet, is_in
from scrapy_dust.visits.pages import PackedUnits

Index = npt.NDArray[np.int64]


#: Pages that are looked at together.
BLOCK = 4000
#: Pages that are unpacked together: what is computed of them fits a processor's cache.
_READ = 200


@dataclass(frozen=True, slots=True)
class Flat:
    """Units of many pages: those of page *i* are ``units[offsets[i]:offsets[i + 1]]``, in any order."""

    units: UnitSet  #: of each page distinct; not ascending
    offsets: Index

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def pages(self) -> Index:
        """The page of each unit."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    def part(self, begin: int, end: int) -> Flat:
        """The pages from *begin* to before *end*; fewer if the site has fewer."""
        offsets = self.offsets[begin : end + 1]
        return Flat(self.units[offsets[0] : offsets[-1]], offsets - offsets[0])

    def blocks(self) -> Iterator[Flat]:
        """All pages, `BLOCK` at a time, so that computing with their units takes little memory."""
        for begin in range(0, len(self), BLOCK):
            yield self.part(begin, begin + BLOCK)

    def where(self, test: Callable[[UnitSet], npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
        """A mask over all units: the result of *test* for each, computed block by block."""
        return np.concatenate([np.zeros(0, np.bool_), *(test(block.units) for block in self.blocks())])

    def only(self, mask: npt.NDArray[np.bool_]) -> Flat:
        """The same pages with the units in *mask* alone."""
        return self if mask.all() else Flat(self.units[mask], _added_up(self.counts(mask)))

    def counts(self, mask: npt.NDArray[np.bool_]) -> Index:
        """How many units in *mask* each page has."""
        counts = np.zeros(len(self), np.int64)
        for begin in range(0, len(self), BLOCK):
            offsets = self.offsets[begin : begin + BLOCK + 1]
            before = _added_up(mask[offsets[0] : offsets[-1]])
            counts[begin : begin + BLOCK] = np.diff(before[offsets - offsets[0]])
        return counts

    def sums(self, numbers: UnitSet) -> UnitSet:
        """For each page the sum of its *numbers*, of which there is one for each unit, modulo 2**64."""
        total = np.zeros(len(numbers) + 1, np.uint64)
        np.cumsum(numbers, out=total[1:])
        sums: UnitSet = total[self.offsets[1:]] - total[self.offsets[:-1]]
        return sums


def flat_of(pages: Sequence[PackedUnits]) -> Flat:
    """The units of *pages*, which `pack` must have written."""
    units = np.empty(sum(map(count_in, pages)), np.uint64)
    offsets = np.zeros(len(pages) + 1, np.int64)
    for begin in range(0, len(pages), _READ):
        places, values, counts = unpacked([page.content for page in pages[begin : begin + _READ]])
        at = offsets[begin]
        units[at : at + len(places)] = places.astype(np.uint64) << np.uint64(32) | values
        offsets[begin : begin + len(counts)] = at + counts
    return Flat(units, offsets)


def joined(parts: Sequence[Flat]) -> Flat:
    """The pages of all *parts*, one after the other."""
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    return Flat(np.concatenate([part.units for part in parts]), _added_up(sizes))


def each_once(part: Flat) -> Flat:
    """*part* with each unit of a page once."""
    by_page = mixed(part.units + mixed(part.pages().astype(np.uint64)))
    # Few units repeat, and only these are looked at one by one.
    several = np.flatnonzero(is_in(by_page, repeated(by_page)))
    _, firsts = np.unique(by_page[several], return_index=True)
    mask = np.ones(len(part.units), np.bool_)
    mask[np.delete(several, firsts)] = False
    return part.only(mask)


def _added_up(numbers: npt.NDArray[np.bool_] | Index) -> Index:
    """The running sums of *numbers*, from 0 to the sum of all."""
    sums = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(numbers, out=sums[1:])
    return sums
