"""Remembers the units of elements that come again, such as the frame that the pages of a site have in common.

An element is told by its path, its start tag and the markup in it, character by character. Where all three are as they
were, the units in it are as they were, and nothing in it is read again. The memory saves time and changes no result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.addresses import OfSite
from scrapy_dust.page.emissions import Emission, Field, Link, Opened
from scrapy_dust.page.groups import Part
from scrapy_dust.page.paths import Path
from scrapy_dust.page.settling import Settling
from scrapy_dust.page.units import distinct

#: Characters in an element that is remembered.
_LEAST, _MOST = 500, 16_000
#: Characters by which an element is looked up.
_BEGINNING = 48
#: Elements of one start tag that are remembered for nothing until no more are, and what each that comes again earns.
_CREDIT, _EARNED, _MOST_CREDIT = 8, 4, 64
#: Elements of one start tag that are remembered at once.
_MOST_ALIKE = 200
#: For each character of a document so many are remembered, of elements inside each other.
_SHARE = 4


class Subtree(NamedTuple):
    """The units of one element, without those of its start tag."""

    inside: str  #: the markup in it
    part: Part | None  #: what it is in the element around it; None: nothing is in it
    units: npt.NDArray[np.uint64]
    fields: list[Field]
    links: list[Link]
    actions: list[Emission]
    filled: list[Path]
    beside: list[tuple[int, int]]
    of_site: OfSite  #: of the site on which its pictures are these


#: How many units, blocks, fields, links, actions, filled elements and groups beside others there are.
_Counts = tuple[int, int, int, int, int, int, int]


class _Begun(NamedTuple):
    """An element that is open, and how many of everything there were when it began."""

    depth: int
    opened: Opened
    at: int  #: where its inside begins
    counts: _Counts
    unfit: int


class Subtrees:
    """The elements of one document that are remembered, or are to be."""

    def __init__(
        self, markup: str, settling: Settling, filled: list[Path], beside: list[tuple[int, int]]
    ) -> None:
        self._markup, self._settling = markup, settling
        self._filled, self._beside = filled, beside
        self._budget = _SHARE * len(markup)
        self._begun: list[_Begun] = []
        self.depth = -1  #: of the innermost element that is to be remembered; -1: none
        self.unfit = 0  #: so many things were met that no element can be remembered with
        self.size = 0  #: of what was remembered, about

    def find(self, opened: Opened, at: int, depth: int) -> Subtree | None:
        """The element that begins with the start tag *opened*, which ends at *at*; its units are added to the document's.

        None: such an element is not known. If it looks worth it, it will be, when `end` is called at this *depth*.
        """
        known = opened.known
        if known is None:  # it comes for the second time
            opened.known, opened.credit = {}, _CREDIT
        else:
            found = known.get(self._markup[at : at + _BEGINNING])
            if (
                found is not None
                and self._markup.startswith(found.inside, at)
                and self._markup.startswith("</", at + len(found.inside))
                and found.of_site is self._settling.of_site
            ):
                opened.credit = min(opened.credit + _EARNED, _MOST_CREDIT)
                self._add(found)
                return found
        if opened.credit:
            self._begun.append(_Begun(depth, opened, at, self._counts(), self.unfit))
            self.depth = depth
        return None

    def end(self, at: int, part: Part | None) -> None:
        """Remember the innermost element that was begun, which ends at *at*."""
        _, opened, begin, counts, unfit = self._begun.pop()
        self.depth = self._begun[-1].depth if self._begun else -1
        length = at - begin
        if unfit != self.unfit or not _LEAST <= length <= min(_MOST, self._budget) or opened.known is None:
            return
        self._budget -= length
        opened.credit -= 1
        if len(opened.known) >= _MOST_ALIKE:
            opened.known.clear()
        inside = self._markup[begin:at]
        made = opened.known[inside[:_BEGINNING]] = self._since(counts, inside, part)
        self.size += 1 + (length + 8 * len(made.units) + 64 * (len(made.links) + len(made.filled)) >> 9)

    def _counts(self) -> _Counts:
        found = self._settling
        return (
            len(found.units),
            len(found.blocks),
            len(found.fields),
            len(found.links),
            len(found.actions),
            len(self._filled),
            len(self._beside),
        )

    def _since(self, counts: _Counts, inside: str, part: Part | None) -> Subtree:
        """The units and the rest that were found since the *counts* were taken."""
        found = self._settling
        units, blocks, fields, links, actions, filled, beside = counts
        alone = found.units[units:]
        return Subtree(
            inside,
            part,
            distinct(np.concatenate([np.fromiter(alone, np.uint64, len(alone)), *found.blocks[blocks:]])),
            found.fields[fields:],
            found.links[links:],
            found.actions[actions:],
            self._filled[filled:],
            self._beside[beside:],
            found.of_site,
        )

    def _add(self, known: Subtree) -> None:
        found = self._settling
        found.blocks.append(known.units)
        found.fields += known.fields
        found.links += known.links
        found.actions += known.actions
        self._filled += known.filled
        self._beside += known.beside
